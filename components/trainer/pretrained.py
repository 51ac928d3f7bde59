"""The pre-trained vectors that a training starts from, and how many of the train split's words they cover."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf
import tensorflow_transform as tft

from models.tokens import tokenize
from models.word_table import WordTableSource, read_word_table
from schemas import features as f
from schemas.errors import DataError


@dataclass(frozen=True)
class Pretrained:
    """The first rows of one language's table.

    Attributes:
      vocabulary_size: words of the vocabulary.
      vectors: float32 [words, dim], of its first words.
      train: whether they are trained further.
      report: for JSON, see `read_pretrained`.
    """

    vocabulary_size: int
    vectors: npt.NDArray[np.float32]
    train: bool
    report: dict[str, Any]


def read_pretrained(transform: tft.TFTransformOutput, vocabulary: str, source: WordTableSource) -> Pretrained:
    """Reads the vectors of the words that Transform put first into a vocabulary.

    The report is `read_word_table`'s, and `train`, `random_words` (of the vocabulary without a vector), and of the
    train split `distinct_words` and `running_words`, each with how many of them are `found` in the table.

    Raises:
      DataError: the file has changed since Transform read it, or the train split has no word.
    """
    vocabulary_size(transform, f.COUNTS_OF_VOCABULARY[vocabulary])
    table = read_word_table(source)
    words = [word.decode() for word in transform.vocabulary_by_name(vocabulary)]
    if words[: len(table.words)] != table.words:
        raise DataError(f"{source.path} has changed since Transform read it; run again.")
    lines = transform.vocabulary_by_name(f.COUNTS_OF_VOCABULARY[vocabulary])
    counts = {word.decode(): int(count) for count, _, word in (line.partition(b" ") for line in lines)}
    found = counts.keys() & set(table.words)
    report = {
        **table.report,
        "train": source.train,
        "random_words": len(words) - len(table.words),
        "distinct_words": {"all": len(counts), "found": len(found)},
        "running_words": {"all": sum(counts.values()), "found": sum(counts[word] for word in found)},
    }
    return Pretrained(len(words), table.vectors, source.train, report)


def describe_pretrained(language: str, report: dict[str, Any]) -> str:
    """The report in one line for a person."""
    drops = "; ".join(f"{drop['count']:,} {drop['meaning']}" for drop in report["drops"])
    shares = [report[key]["found"] / report[key]["all"] for key in ("distinct_words", "running_words")]
    return (
        f"{language} word vectors: {report['read']:,} read, {report['used']:,} used"
        + (f"; left out: {drops}" if drops else "")
        + f"; {shares[0]:.1%} of the train split's words have one, {shares[1]:.1%} of its running words"
    )


def vocabulary_size(transform: tft.TFTransformOutput, name: str) -> int:
    """The words that Transform counted.

    Raises:
      DataError: there are none.
    """
    size: int = transform.vocabulary_size_by_name(name)
    if size == 0 or (size == 1 and not _is_word(transform.vocabulary_by_name(name)[0])):
        raise DataError(
            f"{name} must hold a word, but the train split's texts have none (signs, such as emoji, are no words); "
            "check the files' columns."
        )
    return size


def _is_word(line: bytes) -> bool:
    """Whether a line of a vocabulary holds a word: into an empty one Transform puts a text of several, with hyphens."""
    word = line.rpartition(b" ")[2]  # after its count, if any
    return int(tokenize(tf.constant([word])).row_lengths()[0]) == 1
