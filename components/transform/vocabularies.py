"""The vocabularies of the train split, as `preprocessing_fn` has them of tft's analyzers, without Beam."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import tensorflow as tf
from tensorflow_transform.analyzers import get_empy_vocabulary_dummy_value

from components.transform.numbered_lists import NumberedLists
from components.transform.preprocessing import source_of
from models.texts.word_table import read_word_table
from schemas import features as f


def write_vocabularies(
    lists: NumberedLists, counted: Sequence[str], custom_config: dict[str, Any], folder: str
) -> tuple[dict[str, str], list[str]]:
    """Counts the words of lists, and writes a file a vocabulary.

    Args:
      lists: those that are counted, and any others.
      counted: the files of those.
      custom_config: see `preprocessing_fn`.
      folder: to write to.

    Returns:
      the paths of the vocabularies by their names, and those of the files of `COUNTS_OF_VOCABULARY`, if any.
    """
    paths, others = {}, []
    for vocabulary, counts in _count_words(lists, counted).items():
        words = _most_frequent(counts, custom_config["vocabulary_size"])
        if source := source_of(vocabulary, custom_config):
            lines = [b"%d %b" % (counts[word], word) for word in _most_frequent(counts, len(counts))]
            others.append(os.path.join(folder, f.COUNTS_OF_VOCABULARY[vocabulary]))
            _write(lines or [b"%d %b" % _NO_WORD], others[-1])
            # A dict, for its order and its look-ups: these come first, and where they are not trained they are all.
            first = dict.fromkeys(word.encode() for word in read_word_table(source).words)
            words = [*first, *(word for word in words if source.train and word not in first)]
        paths[vocabulary] = os.path.join(folder, vocabulary)
        _write(words or [_NO_WORD[1]], paths[vocabulary])
    return paths, others


_NO_WORD: Final = get_empy_vocabulary_dummy_value(tf.string)
"""What tft has, with its count, for a vocabulary without words: TensorFlow takes no empty one."""


def _count_words(lists: NumberedLists, counted: Sequence[str]) -> dict[str, Counter[bytes]]:
    """How often each word stands in the counted lists, by vocabulary."""
    times = {
        name: texts.counts(np.concatenate([lists.places[file][name] for file in counted]))
        for name, texts in lists.texts.items()
    }
    counts: dict[str, Counter[bytes]] = {}
    for vocabulary, (name, terms) in lists.terms.items():
        of_vocabulary = counts[vocabulary] = Counter()
        for term, number in zip(terms, times[name].tolist(), strict=True):
            if term and number:
                of_vocabulary[term] += number
    return counts


def _most_frequent(counts: Counter[bytes], most: int) -> list[bytes]:
    """The most frequent words, of equally frequent ones the last of their UTF-8 first, as tft has them."""
    ordered = sorted(((count, word) for word, count in counts.items()), reverse=True)
    return [word for _, word in ordered[:most]]


def _write(lines: Iterable[bytes], path: str) -> None:
    with tf.io.gfile.GFile(path, "wb") as file:
        file.write(b"".join(b"%b\n" % line for line in lines))
