"""BM25 on stems, for original and machine-translated queries, and with a relevance model (RM3).

Sources: Robertson and Zaragoza 2009; Lavrenko and Croft 2001, "Relevance-Based Language Models"; Abdul-Jaleel et al.
2004, "UMass at TREC 2004: Novelty and HARD", for RM3.
"""

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Final

import numpy as np
from scipy import sparse

from models.lexicon.term_weight import K1, length_norm
from models.rivals.term_lists import Candidate, Ranking, Scores, Split, TermLists

ASSUMED_DOCUMENTS: Final = (1, 2, 5, 10)
"""The numbers of documents that a relevance model assumes relevant."""
EXPANSION_TERMS: Final = (10, 30, 100)
"""The numbers of most probable terms that a relevance model keeps."""
SHARES_OF_QUERY: Final = (0.25, 0.5, 0.75)
"""The shares of the original query, alpha, in the expanded query."""


def bm25_stems(texts: TermLists) -> Ranking:
    """Scores by BM25 with equal stems, whatever their languages."""
    return texts.choose([Candidate({}, lambda split: _bm25(texts, split.queries, split))])


def translated_bm25(texts: TermLists) -> Ranking:
    """Scores by BM25 of machine-translated queries."""
    return texts.choose([Candidate({}, lambda split: _bm25(texts, _translated(split), split))])


def translated_rm3(texts: TermLists) -> Ranking:
    """Scores by BM25 of machine-translated queries in a second pass, expanded by the best documents of the first.

        p(d) = score(q, d) / sum of the scores of the assumed documents
        p(w | R) = sum over the assumed documents d of p(d) tf(w, d) / |d|, of the most probable terms w, normalised
        q' = alpha q / |q| + (1 - alpha) p(. | R)

    The assumed documents are the best of the query's list.
    """

    def candidates() -> Iterator[Candidate]:
        for documents, terms, alpha in product(ASSUMED_DOCUMENTS, EXPANSION_TERMS, SHARES_OF_QUERY):
            parameters = {"documents": documents, "terms": terms, "alpha": alpha}
            yield Candidate(parameters, partial(_expanded, texts, documents, terms, alpha))

    return texts.choose(candidates())


def _expanded(texts: TermLists, documents: int, terms: int, alpha: float, split: Split) -> Scores:
    queries = _translated(split)
    first_pass = _bm25(texts, queries, split)
    query_shares, document_shares = _normalised(_distinct(queries)), _normalised(split.documents)
    expanded = [queries[:0]]
    for query, scores, listed in zip(query_shares, first_pass, split.listed, strict=True):
        best = np.argsort(-scores, kind="stable")[:documents]
        weights = scores[best] / (scores[best].sum() or 1.0)
        model = sparse.csr_matrix(weights @ document_shares[listed[best]])
        expanded.append(alpha * query + (1 - alpha) * _probable_terms(model, terms))
    return split.inner_products(sparse.vstack(expanded, format="csr"), _term_weights(texts, split))


def _bm25(texts: TermLists, queries: sparse.csr_matrix, split: Split) -> Scores:
    return split.inner_products(_distinct(queries), _term_weights(texts, split))


def _translated(split: Split) -> sparse.csr_matrix:
    if split.translated_queries is None:
        raise ValueError("a translated query needs a translator; got none.")
    return split.translated_queries


def _distinct(queries: sparse.csr_matrix) -> sparse.csr_matrix:
    """The distinct terms of each query, each with the weight 1."""
    return (queries > 0).astype(np.float64)


def _term_weights(texts: TermLists, split: Split) -> sparse.csr_matrix:
    """The weight of each term of each document in BM25: float [documents, terms]."""
    if texts.collection is None:
        raise ValueError("BM25 needs the statistics of the collection; got none.")
    counts = split.documents
    lengths = np.asarray(counts.sum(axis=1))[:, 0]
    norms = np.repeat(length_norm(lengths, texts.collection.mean_length), np.diff(counts.indptr))
    weights = texts.collection.idf[counts.indices] * counts.data * (K1 + 1) / (counts.data + norms)
    return sparse.csr_matrix((weights, counts.indices, counts.indptr), shape=counts.shape)


def _normalised(rows: sparse.csr_matrix) -> sparse.csr_matrix:
    """Divides rows by their sums; zeros stay."""
    sums = np.asarray(rows.sum(axis=1))[:, 0]
    return (sparse.diags(1 / np.where(sums > 0, sums, 1.0)) @ rows).tocsr()


def _probable_terms(model: sparse.csr_matrix, terms: int) -> sparse.csr_matrix:
    """Keeps the most probable terms of a distribution, the first of equal ones, and normalises: float [1, terms]."""
    kept = np.argsort(-model.data, kind="stable")[:terms]
    return _normalised(sparse.csr_matrix((model.data[kept], model.indices[kept], [0, len(kept)]), model.shape))
