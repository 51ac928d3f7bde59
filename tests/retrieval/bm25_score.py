"""BM25 of one document."""

from collections.abc import Sequence

from smooth_clir.retrieval.bm25 import Bm25


def bm25_score(bm25: Bm25, query: Sequence[bytes], document: Sequence[bytes]) -> float:
    """The score of a document's tokens for a query's."""
    (score,) = bm25.scores(query, bm25.term_weights([b" ".join(document)])).tolist()
    return score
