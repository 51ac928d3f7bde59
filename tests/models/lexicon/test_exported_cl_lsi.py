"""The channel in a SavedModel, beside towers and a lexicon: scores, vectors and explanations."""

import numpy as np
import pytest
import tensorflow as tf

from models.exported.export import export_ranker
from models.exported.model import LoadedModel
from models.lexicon.cl_lsi import ClLsi, FoldedTexts
from models.lexicon.learn_lexicon import learn_lexicon
from models.rankers.ranker import Ranker
from schemas.word_rules import WordRules
from tests.models.lexicon.small_lexicon import features, make_channel
from tests.models.small_model import features_of, small_text_features, small_towers

pytestmark = pytest.mark.stages

QUERIES = ["white cat", "dog Paris", "!"]
DOCUMENTS = [["Chat blanc", "un chien", ""], ["un chien à Paris", "", "mot inconnu"], ["chat", "Paris", "un"]]
RULES = WordRules(max_tokens=8)
IS_DOCUMENT = np.array(DOCUMENTS) != ""
WEIGHTS = {"smooth_cosine": 1.0, "lexicon": 0.5, "lsi": 0.25}
LONG = "un chat et un chien, puis UN chien blanc de Paris"


@pytest.fixture(
    scope="module", params=["mean", *(pytest.param(name, marks=pytest.mark.long) for name in ("cnn", "lstm"))]
)
def exported(request, tmp_path_factory):
    """(encoder, ranker, its exported model, features of its texts)."""
    folder = tmp_path_factory.mktemp("export")
    random = np.random.default_rng(1)
    sides = (
        FoldedTexts(terms, random.normal(size=(len(terms), 4)), language, RULES)
        for terms, language in (([b"white", b"cat", b"dog"], "en"), ([b"chat", b"blanc", b"chien", b"paris"], "fr"))
    )
    lexicon = make_channel(
        learn_lexicon("lexicon", ("en", "fr"), RULES, [("cat", "chat"), ("dog", "chien")], ["un chat"])
    )
    towers = small_towers(encoder=request.param, initial_scale=1.0)
    ranker = Ranker({"smooth_cosine": towers, "lexicon": lexicon, "lsi": ClLsi(*sides, name="lsi")}, WEIGHTS)
    text_features = small_text_features(folder, rules=RULES)
    batch = features_of(text_features, QUERIES, DOCUMENTS)
    towers(batch)
    export_ranker(ranker, text_features, str(folder / "model"))
    texts = features(QUERIES, [text for texts in DOCUMENTS for text in texts], batch["document_index"])
    return request.param, ranker, LoadedModel(str(folder / "model")), {**batch, **texts}


def test_its_scores_are_those_before_the_export_and_a_part_of_the_sum(exported):
    _, ranker, model, batch = exported
    found = [model.score(query, texts) for query, texts in zip(QUERIES, DOCUMENTS, strict=True)]
    for name, expected in ranker.score_texts(batch).items():
        scores = np.array([one[name] for one in found])
        np.testing.assert_allclose(scores[IS_DOCUMENT], expected.numpy()[IS_DOCUMENT], atol=1e-6)
    total = sum(weight * np.array([one[name] for one in found]) for name, weight in WEIGHTS.items())
    np.testing.assert_allclose(np.array([one["scores"] for one in found])[IS_DOCUMENT], total[IS_DOCUMENT], atol=1e-6)
    assert np.ptp([one["lsi"] for one in found[:2]]) > 0.1
    assert model.score("!", ["chat"])["lsi"] == model.score("cat", ["mot"])["lsi"] == [0]


def test_the_exported_vectors_and_terms_give_the_score(exported):
    _, _, model, _ = exported
    for query in QUERIES:
        asked = model.encode_query(query)
        texts = [LONG, *DOCUMENTS[0][:2]]
        held = model.tensors("encode_document", document=tf.constant(texts))
        words = [
            sum(
                weight * other
                for term, weight in zip(asked.terms, asked.weights, strict=True)
                for stem, other in zip(stems, weights, strict=True)
                if term == stem
            )
            for stems, weights in zip(held["stems"].numpy(), held["weights"].numpy(), strict=True)
        ]
        total = held["vector"].numpy() @ asked.vector + np.array(words)
        np.testing.assert_allclose(total, model.score(query, texts)["scores"], atol=1e-5)


def test_the_shares_of_words_sum_to_the_parts_of_channels_whose_vectors_are_sums_over_words(exported):
    encoder, _, model, _ = exported
    explanation = model.explain("white cat", LONG)
    parts = {part.name: part.part for part in explanation.parts}
    assert sum(parts.values()) == pytest.approx(model.score("white cat", [LONG])["scores"][0], abs=1e-5)
    shares = [word.dense for word in explanation.words]
    with_shares = {"smooth_cosine", "lsi"} if encoder == "mean" else {"lsi"}
    assert sum(shares) == pytest.approx(sum(parts[name] for name in with_shares), abs=1e-5)
    assert shares[8:] == [0] * (len(shares) - 8)
    # The reader of the page learns which channel is missing from them.
    named = [note.partition(":")[0] for note in explanation.notes if "not available" in note]
    assert named == ([] if encoder == "mean" else ["smooth_cosine"])
