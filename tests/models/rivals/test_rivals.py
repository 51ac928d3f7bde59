"""The rivals of Polynomial Semantic Indexing: their formulas, the laws between them, and the choice of parameters."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse

from models.choices import ACROSS_LANGUAGES, RIVALS, TRANSLATING
from models.lexicon.structured_queries import StructuredQueries
from models.rivals import latent, pair_weights, rank_lists, relevance_model, vector_space
from models.rivals.pair_weights import _Bins, _Example, _Matrix, _train
from models.rivals.rank_lists import METHODS
from models.rivals.term_lists import Candidate, TermLists, unit_rows
from models.texts.tokens import ALL_WORDS
from schemas.errors import DataError
from tests.models.eagerly import EAGERLY
from tests.models.rivals.small_lists import DOCUMENTS, SPLITS, TRAIN, lexicon, lists, term_lists

pytestmark = [pytest.mark.tensors, *EAGERLY]


@pytest.fixture(scope="module")
def two_languages(without_graphs) -> TermLists:
    return term_lists()


@pytest.fixture(scope="module")
def monolingual(without_graphs) -> TermLists:
    return term_lists(("fr", "fr"))


def idf_of(texts):
    """Each term's idf among texts."""
    distinct = {tuple(text.split()) for text in texts}
    return lambda term: np.log((len(distinct) + 1) / (sum(term in text for text in distinct) + 0.5))


def cosine_of(query, document, idf):
    """The cosine of two texts' tf-idf vectors, which are given as terms to counts."""
    terms = sorted({*query, *document})
    q, d = (np.array([text.get(term, 0) * idf(term) for term in terms]) for text in (query, document))
    lengths = np.linalg.norm(q) * np.linalg.norm(d)
    return q @ d / lengths if lengths else 0.0


def counts(text):
    return {term: text.split().count(term) for term in text.split()}


def test_tf_idf_is_the_cosine_of_equal_terms_with_the_documents_idf(two_languages):
    idf = idf_of(DOCUMENTS.values())
    for query, query_scores in zip(("d a", "name"), vector_space.tfidf(two_languages).scores, strict=True):
        expected = [cosine_of(counts(query), counts(text), idf) for text in DOCUMENTS.values()]
        np.testing.assert_allclose(query_scores, expected, atol=1e-6)


def test_within_one_language_queries_have_the_documents_idf(monolingual, two_languages):
    np.testing.assert_array_equal(monolingual.query_idf, monolingual.document_idf)
    assert (two_languages.query_idf != two_languages.document_idf).any()


def test_a_translated_query_has_the_weights_of_its_translations(two_languages):
    idf = idf_of(DOCUMENTS.values())
    learned = lexicon()
    row_of = {term.decode(): number for number, term in enumerate(learned.terms)}
    table = learned.translations.toarray()
    (_, best), (_, whole) = vector_space.translations(two_languages)
    for name, matrix in (("best", best), ("all", whole)):
        query: dict[str, float] = {}
        for term in ("d", "a"):
            row = table[row_of[term]]
            if name == "best":
                query[learned.terms[row.argmax()].decode()] = 1.0
                continue
            for translation, weight in zip(learned.terms, row, strict=True):
                query[translation.decode()] = query.get(translation.decode(), 0) + weight
        expected = [cosine_of(query, counts(text), idf) for text in DOCUMENTS.values()]
        cosines = vector_space.cosine(two_languages, matrix, two_languages.test)[0]
        np.testing.assert_allclose(cosines, expected, atol=1e-5)
        only_of_documents = row_of["v"]  # it has no translation, and stays as it is
        assert matrix[only_of_documents].toarray().ravel().argmax() == only_of_documents


def test_an_expansion_adds_the_mean_of_the_best_documents(monolingual):
    identity = sparse.identity(len(monolingual.document_idf), format="csr")
    split = monolingual.train
    queries = vector_space.unit_queries(monolingual, identity, split).toarray()
    documents = monolingual.unit_documents(split).toarray()
    for row, query_scores in enumerate(vector_space._expanded(monolingual, identity, 2, 0.5, split)):
        best = np.argsort(-(documents @ queries[row]), kind="stable")[:2]
        expected = documents @ (queries[row] + 0.5 * documents[best].mean(axis=0))
        np.testing.assert_allclose(query_scores, expected, atol=1e-5)
    plain = vector_space.cosine(monolingual, identity, split)
    np.testing.assert_allclose(vector_space._expanded(monolingual, identity, 2, 0.0, split), plain, atol=1e-6)


def test_at_full_rank_latent_semantic_indexing_of_known_terms_is_tf_idf(monolingual):
    *_, full = latent._lsi_candidates(monolingual)
    assert full.parameters == {"dim": len(DOCUMENTS)}
    # Within the span of the documents, which holds the documents themselves, nothing is lost.
    split = monolingual.train
    documents = monolingual.unit_documents(split).toarray()
    identity = sparse.identity(documents.shape[1], format="csr")
    space = np.linalg.svd(documents, full_matrices=False)[2].T
    queries = unit_rows(vector_space.unit_queries(monolingual, identity, split).toarray() @ space)
    expected = queries @ unit_rows(documents @ space).T
    np.testing.assert_allclose(full.scores(split), expected, atol=1e-5)


@pytest.mark.parametrize("family", [latent._lsi_candidates, latent.cl_lsi_candidates])
def test_a_mixture_is_the_weighted_sum_of_its_parts(two_languages, family):
    candidate = next(iter(family(two_languages)))
    mixed = next(iter(latent._mixed(two_languages, iter([candidate]))))
    (name, table), _ = vector_space.translations(two_languages)
    assert (mixed.parameters["alpha"], mixed.parameters["tfidf"]) == (0.1, name)
    plain = vector_space.cosine(two_languages, table, two_languages.test)
    for first, second, weighted in zip(
        candidate.scores(two_languages.test), plain, mixed.scores(two_languages.test), strict=True
    ):
        np.testing.assert_allclose(weighted, 0.1 * first + 0.9 * second, atol=1e-6)


def test_the_lexicon_alone_scores_as_its_channel_does(two_languages):
    channel = StructuredQueries(lexicon(), name="lexicon")
    features, _ = two_languages.test.lists.batch(np.arange(2, dtype=np.int32))
    expected = channel.score_texts(features).numpy()
    np.testing.assert_allclose(rank_lists.structured_queries(two_languages).scores, expected, atol=1e-6)


def test_beside_the_lexicon_latent_semantic_indexing_adds_its_weighted_scores(two_languages):
    ranking = rank_lists.cl_lsi_lexicon(two_languages)
    latent_scores = next(iter(latent.cl_lsi_candidates(two_languages))).scores(two_languages.test)
    plain = rank_lists.structured_queries(two_languages).scores
    assert ranking.parameters.keys() == {"dim", "weight"}
    for sum_, first, second in zip(ranking.scores, latent_scores, plain, strict=True):
        np.testing.assert_allclose(sum_, first + ranking.parameters["weight"] * second, atol=1e-5)


def bm25_weight(term, text):
    """The weight of a term of a document in BM25, with the statistics of all documents."""
    texts = [text.split() for text in DOCUMENTS.values()]
    idf = np.log((len(texts) + 1) / (sum(term in words for words in texts) + 0.5))
    norm = 1.2 * (0.25 + 0.75 * len(text) / np.mean([len(words) for words in texts]))
    return idf * text.count(term) * 2.2 / (text.count(term) + norm)


@pytest.mark.parametrize(("name", "queries"), [("bm25_stems", ["d a", "name"]), ("translated_bm25", ["w x", "name"])])
def test_bm25_on_stems_has_the_weights_of_the_collection(two_languages, name, queries):
    expected = [
        [sum(bm25_weight(term, text.split()) for term in query.split()) for text in DOCUMENTS.values()]
        for query in queries
    ]
    np.testing.assert_allclose(METHODS[name](two_languages).scores, expected, atol=1e-5)


def test_a_relevance_model_adds_the_most_probable_terms_of_the_best_documents(two_languages):
    texts = {name: text.split() for name, text in DOCUMENTS.items()}
    first = {name: sum(bm25_weight(term, text) for term in ("w", "x")) for name, text in texts.items()}
    best = sorted(first, key=first.get, reverse=True)[:2]
    assert set(best) == {"d3", "d4"}
    shares: dict[str, float] = {}
    for name in best:
        for term in texts[name]:
            shares[term] = shares.get(term, 0) + first[name] / sum(first[doc_id] for doc_id in best) / len(texts[name])
    kept = dict(sorted(shares.items(), key=lambda item: (-item[1], item[0]))[:2])
    assert kept.keys() < shares.keys()
    query = {"w": 0.25 / 2, "x": 0.25 / 2}
    for term, share in kept.items():
        query[term] = query.get(term, 0) + 0.75 * share / sum(kept.values())
    expected = [sum(weight * bm25_weight(term, text) for term, weight in query.items()) for text in texts.values()]
    scores = relevance_model._expanded(two_languages, 2, 2, 0.25, two_languages.test)[0]
    np.testing.assert_allclose(scores, expected, atol=1e-5)


# Weights of pairs of terms


def margin_loss(scores, grades):
    """The mean over the pairs with different grades of max(0, 1 - f(d+) + f(d-))."""
    pairs = [(i, j) for i in range(len(grades)) for j in range(len(grades)) if grades[i] > grades[j]]
    return np.mean([max(0.0, 1 - scores[i] + scores[j]) for i, j in pairs])


def test_a_step_of_the_perceptron_is_the_gradient_of_the_margin_ranking_loss(two_languages):
    weights = _Matrix.make(two_languages, is_identity=False)
    weights._weights[:] = np.random.default_rng(0).normal(size=weights._weights.shape).astype(np.float32)
    example = _Example.make(weights.queries[0], weights.documents[TRAIN.documents[0].numpy()])
    grades, before = TRAIN.grades[0], weights._weights.astype(np.float64)
    dense, query = example.documents.toarray().astype(np.float64), np.zeros(before.shape[0])
    query[example.query_terms] = example.query

    def loss(matrix):
        return margin_loss(dense @ (query @ matrix), grades)

    slopes = np.zeros_like(before)
    for cell in np.ndindex(before.shape):
        moved = [before.copy(), before.copy()]
        moved[0][cell] += 1e-6
        moved[1][cell] -= 1e-6
        slopes[cell] = (loss(moved[0]) - loss(moved[1])) / 2e-6
    scores = weights.document_scores(example)
    is_pair = grades[:, np.newaxis] > grades
    missed = is_pair & (scores[:, np.newaxis] - scores < 1)
    weights.add(example, ((missed.sum(axis=1) - missed.sum(axis=0)) / is_pair.sum()).astype(np.float32))
    np.testing.assert_allclose(weights._weights, before - slopes, atol=1e-4)


def test_training_lowers_the_loss_and_is_the_same_twice(two_languages):
    def trained():
        *_, (_, weights) = _train(two_languages, _Matrix.make(two_languages, is_identity=False), 3.0, "perceptron")
        return weights.scores(two_languages.train)

    once, twice = trained(), trained()
    assert [list_scores.tobytes() for list_scores in once] == [list_scores.tobytes() for list_scores in twice]
    assert np.mean([margin_loss(*pair) for pair in zip(once, TRAIN.grades, strict=True)]) < 0.5  # 1 without weights


def test_without_collisions_a_hash_kernel_is_the_perceptron(two_languages):
    results = []
    for weights in (_Matrix.make(two_languages, is_identity=False), _Bins(two_languages, 1 << 22)):
        *_, (_, trained) = _train(two_languages, weights, 3.0, "any")
        results.append(np.concatenate(trained.scores(two_languages.train)))
    np.testing.assert_allclose(*results, atol=1e-4)


def test_from_the_identity_the_perceptron_begins_as_tf_idf_of_both_sides(monolingual):
    weights = _Matrix.make(monolingual, is_identity=True)
    split = monolingual.train
    queries, documents = monolingual.unit_queries(split).toarray(), monolingual.unit_documents(split).toarray()
    held = documents.any(axis=0) & queries.any(axis=0)
    np.testing.assert_allclose(weights.scores(split), (queries[:, held] @ documents[:, held].T), atol=1e-5)


def test_the_perceptron_covers_the_most_frequent_terms_alone():
    few = term_lists(vocabulary_size=2)
    assert _Matrix.make(few, is_identity=False)._weights.shape == (2, 2)


def test_a_matrix_that_is_too_large_is_refused_in_a_sentence(two_languages, monkeypatch):
    monkeypatch.setattr(pair_weights, "_MAX_BYTES", 100)
    with pytest.raises(DataError, match=r"6 x 7 .* hash_kernel"):
        pair_weights.perceptron(two_languages)


# Choices


def test_the_eval_split_chooses_and_of_equals_the_first(two_languages):
    def scores(values, split):
        return [np.asarray(values, np.float32)] * len(split.lists)

    candidates = [
        Candidate({"name": name}, partial(scores, values))
        for name, values in (("bad", [0, 0, 1, 0, 0]), ("good", [3, 2, 1, 0, 0]), ("as good", [4, 2, 1, 0, 0]))
    ]
    ranking = two_languages.choose(iter(candidates))
    assert (ranking.parameters, ranking.eval_value) == ({"name": "good"}, pytest.approx(1.1))


@pytest.mark.parametrize("name", RIVALS)
def test_every_rival_ranks_the_test_lists_and_names_its_parameters(two_languages, monolingual, name, monkeypatch):
    monkeypatch.setattr(pair_weights, "BINS", (1000, 3000))
    ranking = METHODS[name](two_languages)
    assert [len(scores) for scores in ranking.scores] == [len(DOCUMENTS)] * 2
    assert all(np.isfinite(scores).all() for scores in ranking.scores)
    assert bool(ranking.parameters) == (name not in ("tfidf", "structured_queries", "bm25_stems", "translated_bm25"))
    needs_no_choice = ("cl_lsi_mixed", "structured_queries", "cl_lsi_lexicon")
    assert ("translation" in ranking.parameters) == (name in TRANSLATING and name not in needs_no_choice)
    if name not in ACROSS_LANGUAGES:
        parameters = METHODS[name](monolingual).parameters  # nothing is translated within one language
        assert "translation" not in parameters
        assert ("start" in parameters) == (name == "perceptron")


def test_a_text_without_terms_scores_zero():
    splits = {**SPLITS, "test": lists({"n": "..."}, {"n": {"d1": 2}})}
    texts = TermLists.read(splits, ("en", "fr"), ALL_WORDS, lexicon(), top_grade=2, vocabulary_size=9, seed=1)
    for name in ("tfidf", "lsi", "cl_lsi", "perceptron"):
        assert not METHODS[name](texts).scores[0].any()
