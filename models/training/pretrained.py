"""Pre-trained word vectors of a training, and their coverage of the train split's words."""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import tensorflow_transform as tft

from models.rankers.scorer import Words
from models.settings import WordTableSource
from models.texts.word_table import read_word_table
from schemas import features as f
from schemas.drops import ReadReport
from schemas.errors import DataError

_NO_WORD: Final = b"49d0cd50-04bb-48c0-bc6f-5b575dce351a"
"""The only line that tft writes into an empty vocabulary."""


class Coverage(NamedTuple):
    """The numbers of all words of the train split, and of words with a vector in a table."""

    all: int
    found: int

    @property
    def share(self) -> float:
        """Share of the words with a vector."""
        return self.found / self.all


@dataclass(frozen=True)
class VectorsReport:
    """The entries of a language's table, and their coverage.

    Attributes:
      table: numbers of entries read, used and left out.
      train: whether the vectors are trained further.
      random_words: number of words of the vocabulary without a vector.
      distinct_words, running_words: coverage of the train split.
    """

    table: ReadReport
    train: bool
    random_words: int
    distinct_words: Coverage
    running_words: Coverage

    def describe(self) -> str:
        """Returns the report in a line for a person, without the name of the language."""
        return (
            f"word vectors: {self.table.describe()}; {self.distinct_words.share:.1%} of the train split's words have "
            f"one, {self.running_words.share:.1%} of its running words"
        )

    def as_dict(self) -> dict[str, Any]:
        """Returns the report for JSON."""
        return {
            **self.table.as_dict(),
            "train": self.train,
            "random_words": self.random_words,
            "distinct_words": self.distinct_words._asdict(),
            "running_words": self.running_words._asdict(),
        }


def read_pretrained(
    transform: tft.TFTransformOutput, vocabulary: str, source: WordTableSource
) -> tuple[Words, VectorsReport]:
    """Reads the vectors of the words that Transform put first in a vocabulary.

    Returns:
      the words with their vectors, and the table's entries and coverage.

    Raises:
      DataError: the file has changed since Transform read it, or the train split has no words.
    """
    vocabulary_size(transform, f.COUNTS_OF_VOCABULARY[vocabulary])
    table = read_word_table(source)
    words = [word.decode() for word in transform.vocabulary_by_name(vocabulary)]
    if words[: len(table.words)] != table.words:
        raise DataError(f"{source.path} has changed since Transform read it; run again.")
    lines = transform.vocabulary_by_name(f.COUNTS_OF_VOCABULARY[vocabulary])
    counts = {word.decode(): int(count) for count, _, word in (line.partition(b" ") for line in lines)}
    covered = counts.keys() & set(table.words)
    report = VectorsReport(
        table.report,
        source.train,
        random_words=len(words) - len(table.words),
        distinct_words=Coverage(len(counts), len(covered)),
        running_words=Coverage(sum(counts.values()), sum(counts[word] for word in covered)),
    )
    return Words(len(words), table.vectors, source.train), report


def vocabulary_size(transform: tft.TFTransformOutput, name: str) -> int:
    """Returns the number of words that Transform counted.

    Raises:
      DataError: the vocabulary is empty.
    """
    size: int = transform.vocabulary_size_by_name(name)
    if size == 0 or (size == 1 and not _is_word(transform.vocabulary_by_name(name)[0])):
        raise DataError(
            f"{name} is empty: the texts of the train split have no words (signs, such as emoji, do not count). Check "
            "the files' columns."
        )
    return size


def _is_word(line: bytes) -> bool:
    """Returns whether a line of a vocabulary holds a word."""
    return line.rpartition(b" ")[2] != _NO_WORD  # after its count, if any
