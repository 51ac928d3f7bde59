"""The vector space model: tf-idf and the cosine, for original, translated and expanded queries."""

from collections.abc import Iterator
from functools import partial
from typing import Final

import numpy as np
from scipy import sparse

from models.rivals.term_lists import Candidate, Ranking, Scores, Split, TermLists, unit_rows

EXPANDED_BY: Final = (1, 2, 5, 10, 20)
"""The numbers of documents, E, that an expansion tries."""
EXPANSION_WEIGHTS: Final = (0.25, 0.5, 1.0, 2.0, 4.0)
"""The weights, beta, of the mean of these documents."""

Translation = tuple[str, sparse.csr_matrix]
"""A way to translate queries: its name, and the weights of translations, float [query terms, document terms]."""


def tfidf(texts: TermLists) -> Ranking:
    """Scores by the cosine of tf-idf vectors: equal terms match, whatever their languages."""
    identity = sparse.identity(len(texts.document_idf), format="csr")
    return texts.choose([Candidate({}, partial(cosine, texts, identity))])


def translated(texts: TermLists) -> Ranking:
    """Scores by tf-idf after a translation of the query, instead of the paper's machine translation (Table 6)."""
    return texts.choose(
        Candidate(parameters_of(texts, name), partial(cosine, texts, table)) for name, table in translations(texts)
    )


def query_expansion(texts: TermLists) -> Ranking:
    """Scores by tf-idf in a second pass, with the best documents of the first added to the query.

        q' = q + beta / E * sum of the E best documents of q's list

    q is translated across languages. The paper takes the best documents of the collection. Source: Bai et al. 2009,
    section 4.
    """

    def candidates() -> Iterator[Candidate]:
        for name, table in translations(texts):
            for number in EXPANDED_BY:
                for weight in EXPANSION_WEIGHTS:
                    parameters = {**parameters_of(texts, name), "documents": number, "weight": weight}
                    yield Candidate(parameters, partial(_expanded, texts, table, number, weight))

    return texts.choose(candidates())


def translations(texts: TermLists) -> list[Translation]:
    """Returns the ways to translate a query: none within a language, otherwise `best` and `all`.

    `best` takes each term's most probable translation, `all` its row of A. Only terms without translations are kept
    themselves: the identity weighs as much as all translations of a term, and would keep half of each query.
    """
    size = len(texts.document_idf)
    learned = texts.translations
    if learned is None:
        return [("none", sparse.identity(size, format="csr"))]
    is_translated = learned.getnnz(axis=1) > 0
    columns = np.where(is_translated, np.asarray(learned.argmax(axis=1))[:, 0], np.arange(size))
    best = sparse.csr_matrix((np.ones(size), (np.arange(size), columns)), shape=(size, size))
    return [("best", best), ("all", (learned + sparse.diags((~is_translated).astype(float))).tocsr())]


def parameters_of(texts: TermLists, translation: str) -> dict[str, str]:
    """Returns a translation as a parameter for the report; empty within a language."""
    return {} if texts.translations is None else {"translation": translation}


def unit_queries(texts: TermLists, table: sparse.csr_matrix, split: Split) -> sparse.csr_matrix:
    """Returns tf-idf of translated queries, weighted as documents are, of unit length: float [lists, terms]."""
    return unit_rows(split.queries @ table @ sparse.diags(texts.document_idf))


def cosine(texts: TermLists, table: sparse.csr_matrix, split: Split) -> Scores:
    """Scores by tf-idf of translated queries and of documents."""
    return split.inner_products(unit_queries(texts, table, split), texts.unit_documents(split))


def _expanded(texts: TermLists, table: sparse.csr_matrix, number: int, weight: float, split: Split) -> Scores:
    queries, documents = unit_queries(texts, table, split), texts.unit_documents(split)
    first_pass = split.inner_products(queries, documents)
    rows = [queries[:0]]
    for row, (scores, listed) in enumerate(zip(first_pass, split.listed, strict=True)):
        best = listed[np.argsort(-scores, kind="stable")[:number]]
        rows.append(queries[row] + weight * sparse.csr_matrix(documents[best].mean(axis=0)))
    return split.inner_products(sparse.vstack(rows, format="csr"), documents)
