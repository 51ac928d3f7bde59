"""models/lexicon/cl_lsi.py: the space of pairs, and the cosines in it, against dense matrices and loops."""

from math import sqrt

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from models.choices import CHANNELS, own_settings
from models.evaluation.metrics import mean_metrics
from models.lexicon import cl_lsi as subject
from models.lexicon.cl_lsi import ClLsi, FoldedTexts, learn_cl_lsi
from models.rankers.fixed_scores import with_fixed_scores
from models.rankers.scorer import ScorerInputs, Words
from models.retrieval.ranking import ranked_grades
from models.settings import ModelSettings
from models.texts.tokens import ALL_WORDS
from schemas.errors import DataError
from schemas.word_rules import WordRules
from tests.models.lexicon.reference import cl_lsi
from tests.models.lexicon.small_lexicon import LANGUAGES, features, join, scores
from tests.models.synthetic import text_lists

pytestmark = [pytest.mark.tensors, pytest.mark.usefixtures("without_graphs")]

PAIRS = [(["a"], ["x"]), (["a", "b"], ["x", "y", "y"]), (["b", "c"], ["y", "z"]), (["c", "d"], ["z", "w"])]
OTHERS = [["v", "x"], ["v"]]
"""NR documents of the first query."""
TEXTS = st.lists(st.lists(st.sampled_from("abcdxyzwe"), max_size=6), min_size=1, max_size=4)


def lists_of(pairs, others=()):
    """Train lists of these pairs; the first has NR documents, too."""
    return text_lists(
        (
            f"q{row}",
            " ".join(query),
            {f"d{row}": (" ".join(document), 2)}
            | ({f"n{place}": (" ".join(one), 0) for place, one in enumerate(others)} if row == 0 else {}),
        )
        for row, (query, document) in enumerate(pairs)
    )


def inputs_of(train, evaluated=None, max_tokens=200):
    words = Words(1)
    return ScorerInputs(
        name="lsi",
        query_words=words,
        document_words=words,
        model=ModelSettings(),
        seed=1,
        train_texts=lambda: train,
        lexicon=None,
        eval_texts=lambda: evaluated,
        languages=LANGUAGES,
        rules=WordRules(max_tokens=max_tokens),
        top_grade=2,
    )


def learn(dim=2, pairs=PAIRS, others=OTHERS, **given) -> ClLsi:
    return ClLsi.make(inputs_of(lists_of(pairs, others), **given), dim=dim)


def rows(seed, shape):
    """Random sparse rows of length 1."""
    found = sparse.random(*shape, density=0.3, random_state=seed, format="csr") + sparse.csr_matrix(
        (np.ones(shape[0]), (np.arange(shape[0]), np.arange(shape[0]) % shape[1])), shape=shape
    )
    return sparse.csr_matrix(found / sparse.linalg.norm(found, axis=1)[:, None])


# The space


@pytest.mark.parametrize(("pairs", "terms"), [(9, (20, 11)), (40, (12, 9))])
@pytest.mark.parametrize("dim", [1, 5, 8])
def test_the_space_is_that_of_the_dense_decomposition_up_to_signs(pairs, terms, dim):
    queries, documents = rows(1, (pairs, terms[0])), rows(2, (pairs, terms[1]))
    found = np.concatenate(learn_cl_lsi(3 * queries, documents, dim))
    joined = np.hstack([3 * queries.toarray(), documents.toarray()])
    expected = np.linalg.svd(joined / np.linalg.norm(joined, axis=1, keepdims=True))[2][:dim].T
    signs = np.sign((found * expected).sum(axis=0))
    np.testing.assert_allclose(found, expected * signs, atol=1e-8)
    assert (found[np.abs(found).argmax(axis=0), range(dim)] > 0).all()


def test_it_has_the_same_bytes_each_time():
    queries, documents = rows(1, (30, 20)), rows(2, (30, 25))
    first, second = ([one.tobytes() for one in learn_cl_lsi(queries, documents, 7)] for _ in range(2))
    assert first == second


def test_a_shorter_space_is_the_first_part_of_a_longer_one():
    queries, documents = rows(1, (30, 20)), rows(2, (30, 25))
    for shorter, longer in zip(learn_cl_lsi(queries, documents, 3), learn_cl_lsi(queries, documents, 9), strict=True):
        np.testing.assert_allclose(shorter, longer[:, :3], atol=1e-8)


@pytest.mark.parametrize(
    ("pairs", "repeated", "largest"),
    [(6, 1, 6), (6, 3, 6), (5, 5, 5)],
    ids=["as many as pairs", "as many as different pairs", "the same"],
)
@pytest.mark.parametrize("asked", [5, 7, 9, 15, 4096])
def test_a_space_has_no_more_dimensions_than_the_pairs(pairs, repeated, largest, asked):
    queries, documents = (sparse.vstack([rows(seed, (pairs, 30))] * repeated, format="csr") for seed in (1, 2))
    assert learn_cl_lsi(queries, documents, asked)[0].shape == (30, min(asked, largest))


@pytest.mark.parametrize("asked", [5, 4096])
def test_more_dimensions_than_the_pairs_have_are_refused_with_the_largest_number(asked):
    with pytest.raises(DataError, match=rf"must have a dim of at most 4, the dimensions of .*; got {asked}\."):
        learn(asked)
    assert learn(4)


# The channel


def test_score_by_hand():
    # Each pair is a direction of its own, and its two terms lie on it; all terms are equally rare.
    channel = learn(2, [(["a"], ["x"])] * 2 + [(["b"], ["y"])], others=())
    found = scores(channel, ["a", "b", "a b b"], ["x", "y"])
    np.testing.assert_allclose(found, [[1, 0], [0, 1], [1 / sqrt(5), 2 / sqrt(5)]], atol=1e-6)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_scores_are_those_of_the_loops(dim):
    channel = learn(dim)
    queries, documents = [["a"], ["a", "a", "d"], ["b", "e"], ["c"]], [["x"], ["z", "w", "w"], ["v", "y"], ["w"]]
    texts = ([query for query, _ in PAIRS], [document for _, document in PAIRS] + OTHERS)
    expected = [[cl_lsi(PAIRS, texts, dim, query, document) for document in documents] for query in queries]
    np.testing.assert_allclose(scores(channel, join(queries), join(documents)), expected, atol=1e-5)


@pytest.mark.stages
@settings(max_examples=10)
@given(TEXTS, TEXTS)
def test_scores_lie_in_their_range_and_do_not_depend_on_unknown_terms_or_on_order(queries, documents):
    channel = learn()
    found = scores(channel, join(queries), join(documents))
    low, high = channel.score_range
    assert (found >= low - 1e-6).all() and (found <= high + 1e-6).all()
    others = [[text[::-1] + ["e", "unknown"] for text in texts] for texts in (queries, documents)]
    np.testing.assert_allclose(scores(channel, *map(join, others)), found, atol=1e-5)


def test_a_text_without_known_terms_scores_0():
    found = scores(learn(), ["", "!", "unknown", "x"], ["x", "", "unknown v a"])  # v is in no pair
    assert (found == 0).all()
    assert scores(learn(), ["a"], ["", "?", "v"]).tolist() == [[0, 0, 0]]
    assert scores(learn(), [], []).shape == (0, 0)


def test_terms_are_stems_of_each_language_alone():
    channel = learn(1, [(["connection"], ["gouvernement"]), (["house"], ["maison"])], others=())
    assert scores(channel, ["Connected"], ["gouverner"]) == pytest.approx(1, abs=1e-6)
    assert scores(channel, ["gouvernement"], ["connection"]) == 0


def test_its_vectors_have_length_1_and_give_the_score():
    channel = learn()
    batch = features(["a b", "c", ""], ["x y", "", "w"], [[0, 1, 2]] * 3)
    asked, held = channel.query_vector(batch).numpy(), channel.document_vector(batch).numpy()
    np.testing.assert_allclose(np.linalg.norm(asked, axis=1), [1, 1, 0], atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(held, axis=1), [1, 0, 1], atol=1e-6)
    np.testing.assert_allclose(asked @ held.T, channel.score_texts(batch).numpy(), atol=1e-6)


@pytest.mark.parametrize("document", ["x y y unknown w", "unknown", "", "w z z y x v"])
def test_the_parts_of_words_sum_to_the_document_s_vector_and_end_at_the_limit(document):
    channel = learn(max_tokens=4)
    words = document.split()
    parts = channel.word_vectors({"doc_text": tf.constant(words, tf.string)}).numpy()
    (whole,) = channel.document_vector({"doc_text": tf.constant([document])}).numpy()
    np.testing.assert_allclose(parts.sum(axis=0), whole, atol=1e-6)
    assert (parts[4:] == 0).all()


def test_words_beyond_the_limit_do_not_count():
    channel = learn(max_tokens=2)
    assert scores(channel, ["a b"], ["x y w w"]) == pytest.approx(scores(channel, ["a b c d"], ["x y"]), abs=1e-6)


def test_lists_that_have_the_column_are_scored_by_it():
    lists, channel = lists_of(PAIRS, OTHERS), learn()
    batch, _ = with_fixed_scores(lists, lists, [channel]).batch([0, 3])
    np.testing.assert_allclose(channel(batch)[0], scores(channel, ["a"], ["x", "v x", "v"])[0], atol=1e-6)


def test_nothing_of_it_is_trained():
    channel = learn()
    assert channel.trainable_weights == [] and len(channel.weights) == 6  # terms, fingerprints and vectors, twice
    assert channel.fitted == {}


def test_a_folded_text_is_the_sum_of_its_terms_vectors():
    folded = FoldedTexts([b"a", b"b"], np.array([[1.0, 2.0], [10.0, 20.0]]), "en", ALL_WORDS)
    assert folded.sums(tf.constant(["a b a", "c", ""])).numpy().tolist() == [[12, 24], [0, 0], [0, 0]]


@pytest.mark.parametrize("pairs", [[], PAIRS[:1], [(["a"], ["x"])] * 5, [([], [])] * 3])
def test_too_few_pairs_are_refused(pairs):
    with pytest.raises(DataError, match=rf"the channel lsi must have at least 2 train pairs .* got {len(pairs)} pairs"):
        learn(1, pairs, others=())


# The length that is fitted


@pytest.fixture
def evaluated():
    """Eval lists."""
    documents = {f"e{place}": (" ".join(document), 0) for place, (_, document) in enumerate(PAIRS)}
    return text_lists(
        (f"q{row}", " ".join(query), documents | {f"e{row}": (" ".join(document), 2)})
        for row, (query, document) in enumerate(PAIRS)
    )


@pytest.mark.stages
def test_the_fitted_length_is_the_best_of_those_that_the_pairs_have(evaluated, monkeypatch):
    monkeypatch.setattr(subject, "DIMS", (1, 2, 3, 9))
    train = lists_of(PAIRS, OTHERS)
    channel = ClLsi.make(inputs_of(train, evaluated), dim="fitted")
    found = channel.fitted["dim"]
    assert [one.value for one in found.curve] == [1, 2, 3]  # four pairs have three dimensions
    for one in found.curve:
        alone = with_fixed_scores(evaluated, evaluated, [learn(int(one.value))]).list_columns["fixed_score_lsi"]
        ranked = ranked_grades(
            evaluated.query_ids, evaluated.doc_ids, evaluated.split(alone.flat_values.numpy()), evaluated.grades
        )
        metrics = mean_metrics(ranked, 2)
        assert (one.ndcg_5, one.p_mr_1) == pytest.approx((metrics["ndcg_5"], metrics["p_mr_1"]))
    values = [one.ndcg_5 + 0.1 * one.p_mr_1 for one in found.curve]
    assert found.value == found.curve[values.index(max(values))].value
    again = learn(int(found.value))
    texts = ["a", "b c", "d"], ["x", "y w", "z"]
    np.testing.assert_allclose(scores(channel, *texts), scores(again, *texts), atol=1e-5)


def test_fewer_dimensions_than_any_that_is_tried_are_taken_as_they_are(evaluated):
    channel = ClLsi.make(inputs_of(lists_of(PAIRS, OTHERS), evaluated), dim="fitted")
    assert [one.value for one in channel.fitted["dim"].curve] == [4]


# Its settings


def test_its_length_is_100_unless_it_is_given():
    assert own_settings(CHANNELS, "cl_lsi", {}) == {"dim": 100}
    assert own_settings(CHANNELS, "cl_lsi", {"dim": "fitted"}) == {"dim": "fitted"}


@pytest.mark.parametrize("dim", [0, 4097, 1.5, "most", None])
def test_another_length_is_refused_in_a_sentence(dim):
    with pytest.raises(ValueError, match="dim must be a whole number from 1 to 4096, or fitted; got"):
        own_settings(CHANNELS, "cl_lsi", {"dim": dim})
