"""Why a document has its score: its words as they stand in it, and what each adds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.exported.explanation import Explanation
from models.exported.model import ExportedModel, LoadedModel
from schemas.errors import DataError
from schemas.word_rules import WordRules
from tests.models.loaded_once import model_of_vectors, model_with_words
from tests.models.small_lexicon import export_with_words

pytestmark = pytest.mark.stages

LIMIT = 6
PIECES = "Chat chat blanc CHIEN un lune Ararat noir zzz ½ ทำ ภาษาไทย タワー 北京 e\u0301 ! «".split() + ["\n"]
DOCUMENTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=10).map(" ".join)
QUERIES = st.lists(st.sampled_from(["white", "Cat", "dog", "moon", "ararat", "zzz", "?"]), max_size=5).map(" ".join)


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory):
    """With a limit on the words of a text."""
    path = tmp_path_factory.mktemp("explanation") / "1"
    return LoadedModel(export_with_words(path, rules=WordRules(max_tokens=LIMIT)))


@pytest.fixture(scope="module", params=["lexicon", "bm25", "vectors"])
def model(request):
    if request.param == "lexicon":
        return request.getfixturevalue("lexicon")
    return model_with_words("bm25") if request.param == "bm25" else model_of_vectors(stem_embeddings=True)


@settings(max_examples=15)
@given(query=QUERIES, document=DOCUMENTS)
def test_the_words_shares_add_up_to_the_channels_parts_and_these_to_the_score(model, query, document):
    explained = model.explain(query, document)
    (score,) = model.score(query, [document])["scores"]
    assert sum(part.part for part in explained.parts) == pytest.approx(score, abs=1e-5)
    assert sum(word.dense for word in explained.words) == pytest.approx(explained.parts[0].part, abs=1e-5)
    if len(explained.parts) == 1:
        assert {word.lexicon for word in explained.words} <= {None}
        assert explained.lexicon == ()
    else:
        assert sum(word.lexicon for word in explained.words) == pytest.approx(explained.parts[1].part, abs=1e-5)
        assert sum(entry.part for entry in explained.lexicon) == pytest.approx(explained.parts[1].part, abs=1e-5)
    assert Explanation.from_json(explained.to_json()) == explained
    end = 0
    for word in explained.words:  # as they stand in the document
        assert end <= word.start < word.end
        assert word.text == document[word.start : word.end]
        end = word.end


def test_an_entry_names_the_words_that_have_its_terms(lexicon):
    explained = lexicon.explain("Ararat: a white CAT", "«Chat», chat Árarat")
    entries = {(entry.query_words, entry.document_words): entry.part for entry in explained.lexicon}
    assert entries.keys() == {(("Ararat",), ("Árarat",)), (("CAT",), ("Chat", "chat"))}
    assert [entry.part for entry in explained.lexicon] == sorted(entries.values(), reverse=True)
    words = [(word.text, word.start, word.end) for word in explained.words]
    assert words == [("Chat", 1, 5), ("chat", 8, 12), ("Árarat", 13, 19)]
    chat, ararat = entries[("CAT",), ("Chat", "chat")], entries[("Ararat",), ("Árarat",)]
    assert [word.lexicon for word in explained.words] == pytest.approx([chat / 2, chat / 2, ararat])


def test_pairs_of_characters_are_named_whole_and_a_word_without_a_place_counts_with_the_one_before_it(lexicon):
    explained = lexicon.explain("ไทย", "ภาษาไทย")
    assert [word.text for word in explained.words] == ["ภ", "า", "ษ", "า", "ไ", "ทย"]
    entries = {(entry.query_words, entry.document_words) for entry in explained.lexicon}
    assert entries == {(("ไท",), ("ไท",)), (("ทย",), ("ทย",))}
    explained = lexicon.explain("2", "½ chat")
    assert [word.text for word in explained.words] == ["½", "chat"]
    assert explained.words[0].lexicon == pytest.approx(explained.parts[1].part) != 0
    assert [entry.document_words for entry in explained.lexicon] == [("½",)]


def test_words_beyond_the_limit_are_reported_and_add_nothing(lexicon):
    explained = lexicon.explain("white cat", "un chien zzz zzz noir chat zzz chat blanc")
    assert [word.is_scored for word in explained.words] == [True] * LIMIT + [False] * 3
    assert {(word.dense, word.lexicon) for word in explained.words[LIMIT:]} == {(0, 0)}
    assert explained.words[LIMIT - 1].lexicon > 0
    vectors, limit = explained.notes
    assert vectors.startswith("smooth_cosine: ")
    assert limit.startswith("limit: ") and " 3 " in limit
    nothing = lexicon.explain("?", "!")
    assert (nothing.words, nothing.lexicon, [part.part for part in nothing.parts]) == ((), (), [0, 0])


class OverTheWire(ExportedModel):
    """A model whose answers are as a TF Serving's: arrays alone, and over REST no other numbers than float32."""

    def __init__(self, model):
        self._model, self.signatures, self.version = model, model.signatures, model.version

    def _call(self, signature, inputs):
        outputs = {name: np.asarray(output) for name, output in self._model.call(signature, inputs).items()}
        return {
            name: output.astype(object) if output.dtype.kind in "OS" else output.astype(np.float32)
            for name, output in outputs.items()
        }


def test_a_model_that_is_served_elsewhere_explains_alike_unless_it_lacks_the_signature(model):
    texts = ("White cats of Ararat", "Un Chat 1½ blanc, Ararat zzz zzz zzz chat")
    served = OverTheWire(model)
    assert served.explain(*texts) == model.explain(*texts)
    served.signatures -= {"explain_words"}
    with pytest.raises(DataError, match="explain_words"):
        served.explain(*texts)
