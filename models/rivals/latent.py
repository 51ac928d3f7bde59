"""Latent semantic indexing within and across languages, with and without tf-idf."""

from collections.abc import Iterator
from functools import cache, partial
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from models.lexicon.cl_lsi import DIMS, learn_cl_lsi
from models.lexicon.svd import largest_singular_vectors
from models.rivals.term_lists import Candidate, Ranking, Scores, Split, TermLists, unit_rows, weighted_sum
from models.rivals.vector_space import cosine, parameters_of, translations, unit_queries

MIXTURES: Final = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""The shares alpha of a latent score in a mixture with tf-idf."""

_Map = npt.NDArray[np.float64]


def lsi(texts: TermLists) -> Ranking:
    """Scores by the cosine in the space of the train documents' largest singular vectors.

        documents = P S V'     tf-idf of unit length, cut to the `dim` first columns of V
        vector of a text x = V' x

    Queries are translated across languages. Source: Deerwester et al. 1990.
    """
    return texts.choose(_lsi_candidates(texts))


def lsi_mixed(texts: TermLists) -> Ranking:
    """Scores by alpha * lsi + (1 - alpha) * tf-idf."""
    return texts.choose(_mixed(texts, _lsi_candidates(texts)))


def cl_lsi(texts: TermLists) -> Ranking:
    """Scores by the cosine in the space of the train pairs' largest singular vectors; see `models.lexicon.cl_lsi`."""
    return texts.choose(cl_lsi_candidates(texts))


def cl_lsi_mixed(texts: TermLists) -> Ranking:
    """Scores by alpha * cl_lsi + (1 - alpha) * tf-idf of translated queries."""
    return texts.choose(_mixed(texts, cl_lsi_candidates(texts)))


def _lsi_candidates(texts: TermLists) -> Iterator[Candidate]:
    """Yields LSI with every translation and every length."""
    space = largest_singular_vectors(texts.unit_documents(texts.train), max(DIMS)).right
    for name, table in translations(texts):
        for dim in _dims(space):
            yield Candidate({"dim": dim, **parameters_of(texts, name)}, partial(_lsi, texts, table, space[:, :dim]))


def _lsi(texts: TermLists, table: sparse.csr_matrix, space: _Map, split: Split) -> Scores:
    return _cosines(split, unit_queries(texts, table, split) @ space, texts.unit_documents(split) @ space)


def cl_lsi_candidates(texts: TermLists) -> Iterator[Candidate]:
    """Yields CL-LSI in every length."""
    train = texts.train
    is_pair = np.concatenate([np.zeros(0, bool), *(grades == texts.top_grade for grades in train.lists.grades)])
    query_rows = train.lists.documents.value_rowids().numpy()[is_pair]
    document_rows = train.lists.documents.flat_values.numpy()[is_pair]
    query_map, document_map = learn_cl_lsi(
        (train.queries @ sparse.diags(texts.query_idf))[query_rows],
        (train.documents @ sparse.diags(texts.document_idf))[document_rows],
        max(DIMS),
    )
    for dim in _dims(query_map):
        yield Candidate({"dim": dim}, partial(_cl_lsi, texts, query_map[:, :dim], document_map[:, :dim]))


def _cl_lsi(texts: TermLists, query_map: _Map, document_map: _Map, split: Split) -> Scores:
    return _cosines(split, texts.unit_queries(split) @ query_map, texts.unit_documents(split) @ document_map)


def _mixed(texts: TermLists, latent: Iterator[Candidate]) -> Iterator[Candidate]:
    """Yields every latent ranker mixed with every tf-idf in every share."""
    # Each ranker scores a split only once for all mixtures.
    plain = [(name, cache(partial(cosine, texts, table))) for name, table in translations(texts)]
    for candidate in latent:
        scores = cache(candidate.scores)
        for name, tfidf_scores in plain:
            named = {"tfidf": name} if texts.translations is not None else {}
            for alpha in MIXTURES:
                parts = ((alpha, scores), (1 - alpha, tfidf_scores))
                yield Candidate({**candidate.parameters, **named, "alpha": alpha}, partial(weighted_sum, parts))


def _dims(space: _Map) -> list[int]:
    """The lengths to try: those of `DIMS` within the space, or the whole space."""
    return [dim for dim in DIMS if dim <= space.shape[1]] or [space.shape[1]]


def _cosines(split: Split, queries: _Map, documents: _Map) -> Scores:
    return split.inner_products(unit_rows(queries), unit_rows(documents))
