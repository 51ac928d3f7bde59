"""Searches an index of passages for documents: a document has the score of its best passage.

Source: MaxP of Dai and Callan 2019, "Deeper text understanding for IR with contextual neural language modeling".
"""

from collections.abc import Callable, Sequence

from schemas.passages import document_of
from smooth_clir.retrieval.search_index import IndexHit


def search_documents(search: Callable[[int], Sequence[IndexHit]], limit: int) -> list[IndexHit]:
    """Returns the best passage of each of the best documents; in an index of whole documents, the best documents.

    Args:
      search: returns as many of the best passages, the best first; fewer if there are no more.
      limit: the largest number of documents.

    Example:
      >>> hits = [IndexHit("", 3 - n, 0, 0, doc_id) for n, doc_id in enumerate([b"a\\x1f0", b"a\\x1f4", b"b\\x1f2"])]
      >>> [hit.doc_id for hit in search_documents(lambda wanted: hits[:wanted], 2)]
      [b'a\\x1f0', b'b\\x1f2']
    """
    wanted = limit
    while True:
        hits = search(wanted)
        best: dict[str, IndexHit] = {}
        for hit in hits:
            best.setdefault(document_of(hit.doc_id.decode()), hit)
        if len(best) >= limit or len(hits) < wanted:
            return [*best.values()][:limit]
        wanted *= 2
