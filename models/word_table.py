"""Pre-trained word vectors of one language, by the words that our own tokenisation makes."""

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.tokens import tokenize
from schemas.errors import DataError
from schemas.wikiclir import excerpt_of
from schemas.word_vectors import BadEntry, VectorReason, WordVector, read_word_vectors

SOURCES_KEY: Final = "word_tables"
"""In the custom_config of Transform and the Trainer: by vocabulary, the fields of its `WordTableSource`."""

_BATCH = 4096
_EXAMPLES = 5


class WordTableSource(NamedTuple):
    """Where a table comes from and how much of it is used; plain values, for TFX."""

    path: str
    sha256: str
    width: int
    """Numbers of a vector."""
    most_words: int
    """Words to take; reading stops there."""
    max_bad_share: float
    """The share of bad entries beyond which the table is refused."""
    train: bool
    """Whether its vectors are trained further."""


@dataclass(frozen=True)
class WordTable:
    """A table's words after normalising, the most frequent first, and their vectors.

    Attributes:
      words: all different, each one token.
      vectors: float32 [words, width].
      report: for JSON: `path`, entries `read` and `used`, and `drops` by reason; read = used + the drops' counts.
    """

    words: list[str]
    vectors: npt.NDArray[np.float32]
    report: dict[str, Any]


@lru_cache(maxsize=2)
def read_word_table(source: WordTableSource) -> WordTable:
    """Reads the first `most_words` usable words of a table, once a process.

    A word that our tokenisation makes several words of, or none, is left out; of those that become the same the first,
    the most frequent, is kept.

    Raises:
      DataError: see `read_word_vectors`; or there are too many bad entries, or no usable word.
    """
    places: dict[str, int] = {}
    vectors = []
    drops: dict[VectorReason, list[BadEntry]] = {}
    counts: Counter[VectorReason] = Counter()
    read = 0
    for entry, tokens in _tokenized(read_word_vectors(source.path, source.width, tf.io.gfile.GFile)):
        read += 1
        if isinstance(entry, WordVector):
            reason = _fault_of(tokens, places)
            if reason is None:
                places[tokens[0]] = len(places)
                vectors.append(entry.vector)
                if len(places) == source.most_words:
                    break
                continue
            entry = BadEntry(reason, entry.line, excerpt_of(entry.word))
        counts[entry.reason] += 1
        if counts[entry.reason] <= _EXAMPLES:
            drops.setdefault(entry.reason, []).append(entry)
    report = {
        "path": source.path,
        "read": read,
        "used": len(places),
        "drops": [
            {
                "reason": reason.name.lower(),
                "meaning": reason.text,
                "bad": reason.bad,
                "count": counts[reason],
                "examples": [{"line": one.line, "text": one.excerpt} for one in drops[reason]],
            }
            for reason in VectorReason
            if reason in drops
        ],
    }
    _check(report, source)
    return WordTable(list(places), np.array(vectors), report)


def _tokenized(
    entries: Iterator[WordVector | BadEntry],
) -> Iterator[tuple[WordVector | BadEntry, list[str]]]:
    """Each entry with the tokens of its word, if it has one."""
    while batch := list(itertools.islice(entries, _BATCH)):
        with tf.init_scope():  # Transform calls this while it traces a graph
            texts = [entry.word if isinstance(entry, WordVector) else "" for entry in batch]
            tokens = tokenize(tf.constant(texts)).to_list()
        yield from ((entry, [one.decode() for one in some]) for entry, some in zip(batch, tokens, strict=True))


def _fault_of(tokens: list[str], places: dict[str, int]) -> VectorReason | None:
    if len(tokens) != 1:
        return VectorReason.SEVERAL_TOKENS if tokens else VectorReason.NO_TOKEN
    return VectorReason.DUPLICATE if tokens[0] in places else None


def _check(report: dict[str, Any], source: WordTableSource) -> None:
    bad = [drop for drop in report["drops"] if drop["bad"]]
    count = sum(drop["count"] for drop in bad)
    if count <= source.max_bad_share * report["read"] and report["used"]:
        return
    lines = [f"{source.path}: {count:,} of {report['read']:,} entries are bad"]
    if report["used"]:
        lines[0] += f"; at most a share of {source.max_bad_share:g} may be (data.max_bad_share):"
    else:
        lines[0] += ", and none can be used:"
    for drop in bad if report["used"] else report["drops"]:
        lines.append(f"  {drop['count']:,} x {drop['meaning']}")
        lines += [f"    {source.path}:{example['line']}: {example['text']}" for example in drop["examples"]]
    raise DataError("\n".join(lines))
