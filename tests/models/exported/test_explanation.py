"""Why a document has its score: its words as they stand in it, and what each adds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.exported.explanation import Explanation
from models.exported.model import ExportedModel, LoadedModel
from schemas.errors import DataError
from schemas.word_rules import WordRules
from tests.models.small_lexicon import export_with_words
from tests.models.small_model import export_small_model

pytestmark = pytest.mark.stages

LIMIT = 6
PIECES = [
    "Chat",
    "chat",
    "blanc",
    "CHIEN",
    "un",
    "lune",
    "Ararat",
    "noir",
    "zzz",
    "½",
    "ทำ",
    "ภาษาไทย",
    "タワー",
    "北京",
    "e\u0301",
    "!",
    "«",
    "\n",
]
DOCUMENTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=10).map(" ".join)
QUERIES = st.lists(st.sampled_from(["white", "Cat", "dog", "moon", "ararat", "zzz", "?"]), max_size=5).map(" ".join)


@pytest.fixture(scope="module", params=["lexicon", "bm25", "tfidf", None])
def model(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("explanation") / "model"
    if request.param is None:
        export_small_model(path, stem_embeddings=True, initial_scale=1.0)
    else:
        export_with_words(path, request.param, rules=WordRules(max_tokens=LIMIT))
    return LoadedModel(str(path))


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory):
    return LoadedModel(
        export_with_words(tmp_path_factory.mktemp("explanation") / "model", rules=WordRules(max_tokens=LIMIT))
    )


@settings(max_examples=15)
@given(query=QUERIES, document=DOCUMENTS)
def test_the_words_shares_add_up_to_the_channels_parts_and_these_to_the_score(model, query, document):
    found = model.explain(query, document)
    (score,) = model.score(query, [document])["scores"]
    assert sum(part.part for part in found.parts) == pytest.approx(score, abs=1e-5)
    assert sum(word.dense for word in found.words) == pytest.approx(found.parts[0].part, abs=1e-5)
    if len(found.parts) == 1:
        assert {word.lexicon for word in found.words} <= {None}
        assert found.lexicon == ()
    else:
        assert sum(word.lexicon for word in found.words) == pytest.approx(found.parts[1].part, abs=1e-5)
        assert sum(entry.part for entry in found.lexicon) == pytest.approx(found.parts[1].part, abs=1e-5)
    assert Explanation.from_json(found.to_json()) == found


@settings(max_examples=15)
@given(query=QUERIES, document=DOCUMENTS)
def test_words_are_reported_as_they_stand_in_the_document(model, query, document):
    end = 0
    for word in model.explain(query, document).words:
        assert end <= word.start < word.end
        assert word.text == document[word.start : word.end]
        end = word.end


def test_an_entry_names_the_words_that_have_its_terms(lexicon):
    found = lexicon.explain("Ararat: a white CAT", "«Chat», chat Árarat")
    entries = {(entry.query_words, entry.document_words): entry.part for entry in found.lexicon}
    assert entries.keys() == {(("Ararat",), ("Árarat",)), (("CAT",), ("Chat", "chat"))}
    assert [entry.part for entry in found.lexicon] == sorted(entries.values(), reverse=True)
    assert [(word.text, word.start, word.end) for word in found.words] == [
        *(("Chat", 1, 5), ("chat", 8, 12), ("Árarat", 13, 19))
    ]
    of_chat = entries[("CAT",), ("Chat", "chat")]
    assert [word.lexicon for word in found.words] == pytest.approx(
        [of_chat / 2, of_chat / 2, entries[("Ararat",), ("Árarat",)]]
    )


def test_pairs_of_characters_are_named_whole_and_stand_where_their_first_ones_do(lexicon):
    found = lexicon.explain("ไทย", "ภาษาไทย")
    assert [word.text for word in found.words] == ["ภ", "า", "ษ", "า", "ไ", "ทย"]
    assert {(entry.query_words, entry.document_words) for entry in found.lexicon} == {
        (("ไท",), ("ไท",)),
        (("ทย",), ("ทย",)),
    }


def test_a_word_without_a_place_is_counted_with_the_one_before_it(lexicon):
    found = lexicon.explain("2", "½ chat")
    assert [word.text for word in found.words] == ["½", "chat"]
    assert found.words[0].lexicon == pytest.approx(found.parts[1].part) != 0
    assert [entry.document_words for entry in found.lexicon] == [("½",)]


def test_words_beyond_the_limit_are_reported_and_add_nothing(lexicon):
    found = lexicon.explain("white cat", "un chien zzz zzz noir chat zzz chat blanc")
    assert [word.is_scored for word in found.words] == [True] * LIMIT + [False] * 3
    assert {(word.dense, word.lexicon) for word in found.words[LIMIT:]} == {(0, 0)}
    assert found.words[5].lexicon > 0
    assert found.notes[1] == "limit: the last words, 3 of them, lie beyond the limit on a text and are not scored."


def test_a_note_says_what_the_shares_of_vectors_do_not_tell(lexicon):
    (note,) = lexicon.explain("white cat", "chat").notes
    assert note == (
        "smooth_cosine: the shares of words add up to its part; without a word, those of the others would change, too."
    )


def test_an_encoder_that_is_no_sum_over_words_says_so(tmp_path):
    export_small_model(tmp_path / "model", encoder="cnn")
    found = LoadedModel(str(tmp_path / "model")).explain("white cat", "un chat")
    assert [(word.text, word.dense, word.lexicon) for word in found.words] == [("un", None, None), ("chat", None, None)]
    assert found.notes == (
        "smooth_cosine: the shares of words are not available, because the vectors are not sums over words.",
    )


def test_texts_without_words_have_none(lexicon):
    found = lexicon.explain("?", "!")
    assert (found.words, found.lexicon) == ((), ())
    assert [part.part for part in found.parts] == [0, 0]


class OverTheWire(ExportedModel):
    """A model whose answers are as a TF Serving's: arrays alone, and over REST no other numbers than float32."""

    def __init__(self, model):
        self._model, self.signatures, self.version = model, model.signatures, model.version

    def _call(self, signature, inputs):
        found = {name: np.asarray(one) for name, one in self._model.call(signature, inputs).items()}
        return {
            name: one.astype(object) if one.dtype.kind in "OS" else one.astype(np.float32)
            for name, one in found.items()
        }


def test_a_model_that_is_served_elsewhere_explains_alike(model):
    texts = ("White cats of Ararat", "Un Chat 1½ blanc, Ararat zzz zzz zzz chat")
    assert OverTheWire(model).explain(*texts) == model.explain(*texts)


def test_a_model_without_shares_is_refused(lexicon):
    lacking = OverTheWire(lexicon)
    lacking.signatures -= {"explain_words"}
    with pytest.raises(DataError, match="must have the signature explain_words to show the shares of words; a"):
        lacking.explain("white cat", "chat")
