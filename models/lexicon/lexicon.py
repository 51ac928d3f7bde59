"""What the channel of matching words knows: translations of terms, and statistics of a collection."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from scipy import sparse

from schemas.json_record import JsonRecord

TABLE_FILE: Final = "lexicon.tsv"
STATISTICS_FILE: Final = "statistics.tsv"
COLLECTION_FILE: Final = "collection.json"

Kind = Literal["lexicon", "bm25", "tfidf"]
"""What matches: translations and equal stems, or equal words."""


class CollectionRecord(JsonRecord):
    """The content of `collection.json`."""

    kind: Kind
    query_language: str
    """ISO 639-1 code."""
    document_language: str
    """ISO 639-1 code."""
    max_tokens: int
    """Words of a text that count."""
    documents: int
    """Of the collection."""
    mean_length: float
    """Of its documents, in terms."""


@dataclass(frozen=True)
class Lexicon:
    """Translations of terms and statistics of a collection; terms are stems for the kind `lexicon`, else words.

    Attributes:
      record: what holds for the whole collection.
      terms: of its documents and of the pairs that were learned from; sorted by their UTF-8, one at least.
      document_frequency: float64 [terms], as a query's terms: the sum over the documents of min(1, tf').
      translations: float64 [terms, terms], A of `models.lexicon.model_1`: of a query's term, those of a document.
    """

    record: CollectionRecord
    terms: Sequence[bytes]
    document_frequency: npt.NDArray[np.float64]
    translations: sparse.csr_matrix

    def files(self) -> Iterable[tuple[str, str]]:
        """The lexicon's files, name and content: all that `read_lexicon` needs, for people too."""
        yield COLLECTION_FILE, self.record.to_json()
        table = self.translations.tocoo()
        rows = sorted(
            (self.terms[query].decode(), -weight, self.terms[document].decode())
            for query, document, weight in zip(table.row, table.col, np.round(table.data, 9), strict=True)
        )
        yield TABLE_FILE, "".join(f"{query}\t{document}\t{-weight:.9f}\n" for query, weight, document in rows)
        frequencies = zip(self.terms, self.document_frequency.tolist(), strict=True)
        yield STATISTICS_FILE, "".join(f"{term.decode()}\t{frequency!r}\n" for term, frequency in frequencies)


def read_lexicon(folder: str) -> Lexicon:
    """The lexicon whose files lie in a folder, local or remote."""

    def rows(name: str) -> list[list[bytes]]:
        with tf.io.gfile.GFile(f"{folder}/{name}", "rb") as file:
            return [line.split(b"\t") for line in file.read().splitlines()]

    with tf.io.gfile.GFile(f"{folder}/{COLLECTION_FILE}") as file:
        record = CollectionRecord.from_json(file.read())
    statistics = rows(STATISTICS_FILE)
    terms = [term for term, _ in statistics]
    place = {term: number for number, term in enumerate(terms)}
    table = rows(TABLE_FILE)
    translations = sparse.csr_matrix(
        (
            np.array([float(weight) for _, _, weight in table]),
            ([place[query] for query, _, _ in table], [place[document] for _, document, _ in table]),
        ),
        shape=(len(terms), len(terms)),
    )
    return Lexicon(record, terms, np.array([float(frequency) for _, frequency in statistics]), translations)


def idf(documents: int, frequency: Any) -> Any:
    """The inverse document frequency of terms: above 0, however frequent they are.

        idf(w) = ln(1 + (N - df(w) + 1/2) / (df(w) + 1/2)) = ln((N + 1) / (df(w) + 1/2))

    Args:
      documents: N, of the collection.
      frequency: df, float [...], 0 .. N.

    Example:
      >>> float(idf(9, 0.5)), float(idf(9, 9.5))
      (2.30258509299..., 0.0)
    """
    return np.log((documents + 1) / (np.asarray(frequency, np.float64) + 0.5))
