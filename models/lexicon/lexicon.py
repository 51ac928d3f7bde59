"""A lexicon: translations of terms and statistics of a collection, in memory and in files."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from scipy import sparse

from schemas.json_record import JsonRecord
from schemas.word_rules import WordRules

TABLE_FILE: Final = "lexicon.tsv"
STATISTICS_FILE: Final = "statistics.tsv"
COLLECTION_FILE: Final = "collection.json"
WORDS_FILE: Final = "words.tsv"
WITHOUT_DOMAIN: Final = "without"
"""The subfolder of lexicons that were each learned without a training domain, numbered as the sorted domains."""

Kind = Literal["lexicon", "bm25", "tfidf"]
"""The kinds of matching words: translations and equal stems (lexicon), or equal words."""


class CollectionRecord(JsonRecord):
    """The content of `collection.json`."""

    kind: Kind
    query_language: str
    """The queries' ISO 639-1 code."""
    document_language: str
    """The documents' ISO 639-1 code."""
    rules: WordRules
    """The rules for splitting texts into words."""
    documents: int
    """The number of documents in the collection."""
    mean_length: float
    """The mean length of a document, in terms."""


@dataclass(frozen=True)
class Lexicon:
    """Translations of terms and statistics of a collection; terms are stems for the kind `lexicon`, else words.

    Attributes:
      record: the facts about the whole collection.
      terms: the terms of the collection and of the pairs, sorted by their UTF-8; at least one.
      document_frequency: the sum over the documents of min(1, tf') for each term of a query: float64 [terms].
      translations: A of `models.lexicon.learn_lexicon`, float64 [query terms, document terms].
      words: for readers, the most frequent words of the stems in the pairs' documents, as (stem, word), the first
        first; see `TermCounter.commonest_words`.
    """

    record: CollectionRecord
    terms: Sequence[bytes]
    document_frequency: npt.NDArray[np.float64]
    translations: sparse.csr_matrix
    words: Sequence[tuple[bytes, bytes]] = ()

    def files(self) -> Iterable[tuple[str, str]]:
        """Yields the names and contents of the lexicon's files, which are readable for people."""
        yield COLLECTION_FILE, self.record.to_json()
        table = self.translations.tocoo()
        rows = sorted(
            (self.terms[query].decode(), -weight, self.terms[document].decode())
            for query, document, weight in zip(table.row, table.col, np.round(table.data, 9), strict=True)
        )
        yield TABLE_FILE, "".join(f"{query}\t{document}\t{-weight:.9f}\n" for query, weight, document in rows)
        frequencies = zip(self.terms, self.document_frequency.tolist(), strict=True)
        yield STATISTICS_FILE, "".join(f"{term.decode()}\t{frequency!r}\n" for term, frequency in frequencies)
        yield WORDS_FILE, "".join(f"{term.decode()}\t{word.decode()}\n" for term, word in self.words)


def read_lexicon(folder: str) -> Lexicon:
    """Reads a lexicon from its files in a folder, local or remote."""

    def rows(name: str) -> list[list[bytes]]:
        with tf.io.gfile.GFile(f"{folder}/{name}", "rb") as file:
            return [line.split(b"\t") for line in file.read().splitlines()]

    with tf.io.gfile.GFile(f"{folder}/{COLLECTION_FILE}") as file:
        record = CollectionRecord.from_json(file.read())
    statistics = rows(STATISTICS_FILE)
    terms = [term for term, _ in statistics]
    row_of = {term: number for number, term in enumerate(terms)}
    table = rows(TABLE_FILE)
    translations = sparse.csr_matrix(
        (
            np.array([float(weight) for _, _, weight in table]),
            ([row_of[query] for query, _, _ in table], [row_of[document] for _, document, _ in table]),
        ),
        shape=(len(terms), len(terms)),
    )
    words = [(term, word) for term, word in rows(WORDS_FILE)]
    return Lexicon(record, terms, np.array([float(frequency) for _, frequency in statistics]), translations, words)
