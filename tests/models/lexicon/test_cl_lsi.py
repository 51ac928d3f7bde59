"""models/lexicon/cl_lsi.py: the space of pairs, and the cosines in it, against dense matrices and loops."""

from math import sqrt

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from models.evaluation.list_metrics import list_metrics, means
from models.job import TrainingJob
from models.lexicon import cl_lsi as subject
from models.lexicon.cl_lsi import ClLsi, FoldedTexts, learn_cl_lsi
from models.lexicon.settings import ClLsiSettings
from models.rankers.fixed_scores import with_fixed_scores
from models.rankers.scorer import ScorerInputs, Words
from models.texts.tokens import ALL_WORDS
from schemas.errors import DataError
from schemas.word_rules import WordRules
from tests.models.lexicon.reference import cl_lsi
from tests.models.lexicon.small_lexicon import LANGUAGES, features, join, scores
from tests.models.synthetic import text_lists

pytestmark = [pytest.mark.tensors, pytest.mark.usefixtures("without_graphs")]

PAIRS = [(["a"], ["x"]), (["a", "b"], ["x", "y", "y"]), (["b", "c"], ["y", "z"]), (["c", "d"], ["z", "w"])]
NR_TEXTS = [["v", "x"], ["v"]]
"""NR documents of the first query."""
TEXTS = st.lists(st.lists(st.sampled_from("abcdxyzwe"), max_size=6), min_size=1, max_size=4)


def lists_of(pairs, nr_texts=()):
    """Train lists of these pairs; the first has NR documents, too."""
    negatives = {f"n{number}": (text, 0) for number, text in enumerate(join(nr_texts))}
    return text_lists(
        (f"q{row}", query, {f"d{row}": (document, 2)} | (negatives if row == 0 else {}))
        for row, (query, document) in enumerate(map(join, pairs))
    )


def inputs_of(dim, train, evaluated=None, max_tokens=200):
    job = TrainingJob(languages=LANGUAGES, rules=WordRules(max_tokens=max_tokens), top_grade=2)
    return ScorerInputs("lsi", ClLsiSettings(dim=dim), job, Words(1), Words(1), lambda: train, lambda: evaluated)


def learn(dim=2, pairs=PAIRS, nr_texts=NR_TEXTS, **values) -> ClLsi:
    return ClLsi.make(inputs_of(dim, lists_of(pairs, nr_texts), **values))


@pytest.fixture(scope="module")
def channel(without_graphs):
    return learn()


def rows(seed, shape):
    """Random sparse rows of length 1."""
    random = sparse.random(*shape, density=0.3, random_state=seed, format="csr") + sparse.csr_matrix(
        (np.ones(shape[0]), (np.arange(shape[0]), np.arange(shape[0]) % shape[1])), shape=shape
    )
    return sparse.csr_matrix(random / sparse.linalg.norm(random, axis=1)[:, None])


# The space


@pytest.mark.parametrize(("pairs", "terms"), [(9, (20, 11)), (40, (12, 9))])
@pytest.mark.parametrize("dim", [1, 8])
def test_the_space_is_that_of_the_dense_decomposition_up_to_signs(pairs, terms, dim):
    queries, documents = rows(1, (pairs, terms[0])), rows(2, (pairs, terms[1]))
    parts = learn_cl_lsi(3 * queries, documents, dim)
    space, joined = np.concatenate(parts), np.hstack([3 * queries.toarray(), documents.toarray()])
    expected = np.linalg.svd(joined / np.linalg.norm(joined, axis=1, keepdims=True))[2][:dim].T
    signs = np.sign((space * expected).sum(axis=0))
    np.testing.assert_allclose(space, expected * signs, atol=1e-8)
    assert (space[np.abs(space).argmax(axis=0), range(dim)] > 0).all()
    again = learn_cl_lsi(3 * queries, documents, dim)
    assert [part.tobytes() for part in again] == [part.tobytes() for part in parts]


@pytest.mark.parametrize(
    ("pairs", "repeated", "dim", "expected"), [(6, 1, 5, 5), (6, 1, 4096, 6), (6, 3, 9, 6), (5, 5, 5, 5)]
)
def test_a_space_has_no_more_dimensions_than_there_are_different_pairs(pairs, repeated, dim, expected):
    queries, documents = (sparse.vstack([rows(seed, (pairs, 30))] * repeated, format="csr") for seed in (1, 2))
    assert learn_cl_lsi(queries, documents, dim)[0].shape == (30, expected)


def test_more_dimensions_than_the_pairs_have_are_refused_with_the_largest_number():
    with pytest.raises(DataError, match=r"at most 4, .*; got 5\."):
        learn(5)
    assert learn(4)


# The channel


def test_score_by_hand():
    # Each pair is a direction of its own, and its two terms lie on it; all terms are equally rare.
    channel = learn(2, [(["a"], ["x"])] * 2 + [(["b"], ["y"])], nr_texts=())
    values = scores(channel, ["a", "b", "a b b"], ["x", "y"])
    np.testing.assert_allclose(values, [[1, 0], [0, 1], [1 / sqrt(5), 2 / sqrt(5)]], atol=1e-6)


@pytest.mark.parametrize("dim", [1, 3])
def test_scores_are_those_of_the_loops(dim):
    queries, documents = [["a"], ["a", "a", "d"], ["b", "e"], ["c"]], [["x"], ["z", "w", "w"], ["v", "y"], ["w"]]
    texts = ([query for query, _ in PAIRS], [document for _, document in PAIRS] + NR_TEXTS)
    expected = [[cl_lsi(PAIRS, texts, dim, query, document) for document in documents] for query in queries]
    np.testing.assert_allclose(scores(learn(dim), join(queries), join(documents)), expected, atol=1e-5)


@settings(max_examples=6)
@given(TEXTS, TEXTS)
def test_scores_lie_in_their_range_and_do_not_depend_on_unknown_terms_or_on_order(channel, queries, documents):
    values = scores(channel, join(queries), join(documents))
    low, high = channel.score_range
    assert (values >= low - 1e-6).all() and (values <= high + 1e-6).all()
    unordered = [[text[::-1] + ["e", "unknown"] for text in texts] for texts in (queries, documents)]
    np.testing.assert_allclose(scores(channel, *map(join, unordered)), values, atol=1e-5)


def test_a_text_without_known_terms_scores_0(channel):
    values = scores(channel, ["", "!", "unknown", "x"], ["x", "", "unknown v a"])  # v is in no pair
    assert (values == 0).all()
    assert scores(channel, ["a"], ["", "?", "v"]).tolist() == [[0, 0, 0]]
    assert scores(channel, [], []).shape == (0, 0)


def test_terms_are_stems_of_each_language_alone():
    channel = learn(1, [(["connection"], ["gouvernement"]), (["house"], ["maison"])], nr_texts=())
    assert scores(channel, ["Connected"], ["gouverner"]) == pytest.approx(1, abs=1e-6)
    assert scores(channel, ["gouvernement"], ["connection"]) == 0


def test_its_vectors_have_length_1_and_give_the_score(channel):
    batch = features(["a b", "c", ""], ["x y", "", "w"], [[0, 1, 2]] * 3)
    queries, documents = channel.query_vector(batch).numpy(), channel.document_vector(batch).numpy()
    np.testing.assert_allclose(np.linalg.norm(queries, axis=1), [1, 1, 0], atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(documents, axis=1), [1, 0, 1], atol=1e-6)
    np.testing.assert_allclose(queries @ documents.T, channel.score_texts(batch).numpy(), atol=1e-6)


def test_words_count_up_to_the_limit_and_their_parts_sum_to_the_document_s_vector():
    channel = learn(max_tokens=4)
    for document in ("x y y unknown w", "unknown", "", "w z z y x v"):
        parts = channel.word_vectors({"doc_text": tf.constant(document.split(), tf.string)}).numpy()
        (vector,) = channel.document_vector({"doc_text": tf.constant([document])}).numpy()
        np.testing.assert_allclose(parts.sum(axis=0), vector, atol=1e-6)
        assert (parts[4:] == 0).all()
    cut = scores(channel, ["a b c a"], ["x y x y"])
    assert scores(channel, ["a b c a d d"], ["x y x y w w"]) == pytest.approx(cut, abs=1e-6)


def test_lists_that_have_the_column_are_scored_by_it(channel):
    lists = lists_of(PAIRS, NR_TEXTS)
    batch, _ = with_fixed_scores(lists, lists, [channel]).batch([0, 3])
    np.testing.assert_allclose(channel(batch)[0], scores(channel, ["a"], ["x", "v x", "v"])[0], atol=1e-6)


def test_nothing_of_it_is_trained(channel):
    assert channel.trainable_weights == [] and len(channel.weights) == 6  # terms, fingerprints and vectors, twice
    assert channel.fitted == {}


def test_a_folded_text_is_the_sum_of_its_terms_vectors():
    folded = FoldedTexts([b"a", b"b"], np.array([[1.0, 2.0], [10.0, 20.0]]), "en", ALL_WORDS)
    assert folded.sums(tf.constant(["a b a", "c", ""])).numpy().tolist() == [[12, 24], [0, 0], [0, 0]]


@pytest.mark.parametrize("pairs", [[], PAIRS[:1], [(["a"], ["x"])] * 5, [([], [])] * 3])
def test_too_few_pairs_are_refused(pairs):
    with pytest.raises(DataError, match=rf"lsi .*2 .* got {len(pairs)} pairs"):
        learn(1, pairs, nr_texts=())


# The length that is fitted


@pytest.fixture
def evaluated():
    """Eval lists."""
    documents = {f"e{row}": (text, 0) for row, text in enumerate(join([document for _, document in PAIRS]))}
    return text_lists(
        (f"q{row}", query, documents | {f"e{row}": (document, 2)})
        for row, (query, document) in enumerate(map(join, PAIRS))
    )


def test_the_fitted_length_is_the_best_of_those_that_the_pairs_have(evaluated, monkeypatch):
    monkeypatch.setattr(subject, "DIMS", (1, 2, 3, 9))
    channel = ClLsi.make(inputs_of("fitted", lists_of(PAIRS, NR_TEXTS), evaluated))
    fitted = channel.fitted["dim"]
    assert [point.value for point in fitted.curve] == [1, 2, 3]  # four pairs have three dimensions
    for point in fitted.curve:
        column = with_fixed_scores(evaluated, evaluated, [learn(int(point.value))]).list_columns["fixed_score_lsi"]
        metrics = means(list_metrics(evaluated, evaluated.split(column.flat_values.numpy()), 2))
        assert (point.ndcg_5, point.p_mr_1) == pytest.approx((metrics["ndcg_5"], metrics["p_mr_1"]))
    values = [point.ndcg_5 + 0.1 * point.p_mr_1 for point in fitted.curve]
    assert fitted.value == fitted.curve[values.index(max(values))].value
    texts = ["a", "b c", "d"], ["x", "y w", "z"]
    np.testing.assert_allclose(scores(channel, *texts), scores(learn(int(fitted.value)), *texts), atol=1e-5)


def test_fewer_dimensions_than_any_that_is_tried_are_taken_as_they_are(evaluated):
    channel = ClLsi.make(inputs_of("fitted", lists_of(PAIRS, NR_TEXTS), evaluated))
    assert [point.value for point in channel.fitted["dim"].curve] == [4]


def test_its_length_is_a_number_or_fitted():
    assert ClLsiSettings().dim == 100
    assert ClLsiSettings(dim="fitted").dim == "fitted"
    for dim in (0, 4097, 1.5, "most", None):
        with pytest.raises(ValueError, match=r"dim\n.* 1 to 4096, or fitted; got"):
            ClLsiSettings(dim=dim)
