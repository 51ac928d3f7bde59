"""The vocabularies of the train split, as `preprocessing_fn` has them of tft's analyzers, without Beam."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

import tensorflow as tf
from tensorflow_transform.analyzers import get_empy_vocabulary_dummy_value

from components.transform.preprocessing import source_of, words_of
from models.graph_function import graph_function
from models.word_table import read_word_table
from schemas import features as f

_LISTS: Final = 64
"""Read at a time: of French Wikipedia 20 MB of words."""


def write_vocabularies(
    files: Iterable[str], spec: Mapping[str, Any], custom_config: dict[str, Any], folder: str
) -> tuple[dict[str, str], list[str]]:
    """Counts the words of lists, and writes a file a vocabulary.

    Args:
      files: gzipped TFRecords of listwise examples.
      spec: how to parse them.
      custom_config: see `preprocessing_fn`.
      folder: to write to.

    Returns:
      the paths of the vocabularies by their names, and those of the files of `COUNTS_OF_VOCABULARY`, if any.
    """
    paths, others = {}, []
    for vocabulary, counts in _count_words(files, spec, custom_config).items():
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


def _count_words(
    files: Iterable[str], spec: Mapping[str, Any], custom_config: dict[str, Any]
) -> dict[str, Counter[bytes]]:
    """How often each word stands in the lists, by vocabulary."""
    texts = {name: spec[name] for name in (f.QUERY_TEXT, f.DOC_TEXT)}

    @graph_function(input_signature=[tf.TensorSpec([None], tf.string)])
    def count(examples: tf.Tensor) -> dict[str, tuple[tf.Tensor, tf.Tensor]]:
        counted = {}
        for vocabulary, words, times in words_of(tf.io.parse_example(examples, texts), custom_config).counted():
            distinct, place = tf.unique(words)
            counted[vocabulary] = distinct, tf.math.unsorted_segment_sum(times, place, tf.size(distinct))
        return counted

    counts: dict[str, Counter[bytes]] = {}
    # A batch of no examples first: where there are no others, there are vocabularies of no words.
    none = tf.data.Dataset.from_tensors(tf.constant([], tf.string))
    examples = tf.data.TFRecordDataset(sorted(files), "GZIP").batch(_LISTS)
    for counted in none.concatenate(examples).map(count, num_parallel_calls=tf.data.AUTOTUNE):
        for vocabulary, (words, times) in counted.items():
            of_vocabulary = counts.setdefault(vocabulary, Counter())
            for word, number in zip(words.numpy().tolist(), times.numpy().tolist(), strict=True):
                of_vocabulary[word] += number
    for of_vocabulary in counts.values():
        # A word of marks alone has a stem without letters.
        of_vocabulary.pop(b"", None)
    return counts


def _most_frequent(counts: Counter[bytes], most: int) -> list[bytes]:
    """The most frequent words, of equally frequent ones the last of their UTF-8 first, as tft has them."""
    ordered = sorted(((count, word) for word, count in counts.items()), reverse=True)
    return [word for _, word in ordered[:most]]


def _write(lines: Iterable[bytes], path: str) -> None:
    with tf.io.gfile.GFile(path, "wb") as file:
        file.write(b"".join(b"%b\n" % line for line in lines))
