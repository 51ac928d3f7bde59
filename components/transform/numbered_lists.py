"""The texts of listwise examples as numbers of their words."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from components.transform.numbered_texts import NumberedTexts
from models.graphs import graph_function
from models.lists.ranking_lists import TEXT_SPEC
from models.texts.stems import stems_of_distinct
from models.texts.word_counts import batches
from schemas import features as f

LISTS_OF_A_BATCH: Final = 256
"""Read at a time: of French Wikipedia 80 MB of words."""
_WORDS: Final = 1 << 16
"""Stemmed at a time."""
_VOCABULARY_OF: Final = {f.QUERY_TEXT: f.QUERY_VOCABULARY, f.DOC_TEXT: f.DOCUMENT_VOCABULARY}

Places: TypeAlias = npt.NDArray[np.int32]
"""Of texts, one list's after the other, among the distinct ones."""


class NumberedLists(NamedTuple):
    """Lists, each distinct text of which was tokenised once.

    Attributes:
      texts: of the queries and of the documents, by the names of their features.
      places: which of them the lists of each file hold, likewise.
      terms: by the name of a vocabulary, which texts it is of, and of each of their words that word, or its stem, which
        is empty where it has none.
    """

    texts: Mapping[str, NumberedTexts]
    places: Mapping[str, Mapping[str, Places]]
    terms: Mapping[str, tuple[str, list[bytes]]]


def number_lists(files: Iterable[str], custom_config: Mapping[str, Any]) -> NumberedLists:
    """Reads lists.

    Args:
      files: gzipped TFRecords of listwise examples.
      custom_config: see `preprocessing_fn`.
    """
    texts = {name: NumberedTexts(custom_config["max_tokens"]) for name in _VOCABULARY_OF}

    @graph_function(input_signature=[tf.TensorSpec([None], tf.string)])
    def parse(examples: tf.Tensor) -> dict[str, tf.Tensor]:
        parsed = tf.io.parse_example(examples, {name: TEXT_SPEC[name] for name in texts})
        return {f.QUERY_TEXT: parsed[f.QUERY_TEXT], f.DOC_TEXT: parsed[f.DOC_TEXT].values}

    def read(file: str) -> dict[str, Places]:
        found: dict[str, list[Places]] = {name: [np.zeros(0, np.int32)] for name in texts}
        for batch in tf.data.TFRecordDataset(file, "GZIP").batch(LISTS_OF_A_BATCH).map(parse):
            for name, of_batch in batch.items():
                found[name].append(texts[name].places(of_batch.numpy().tolist()))
        return {name: np.concatenate(places) for name, places in found.items()}

    places = {file: read(file) for file in files}
    terms = {}
    for name, vocabulary in _VOCABULARY_OF.items():
        words = texts[name].words
        terms[vocabulary] = name, words
        stem_vocabulary = f.STEMS_OF_VOCABULARY[vocabulary]
        if language := custom_config["stem_languages"].get(stem_vocabulary):
            stems = (stems_of_distinct(tf.constant(some), language) for some in batches(words, _WORDS))
            terms[stem_vocabulary] = name, [stem for some in stems for stem in some.numpy().tolist()]
    return NumberedLists(texts, places, terms)
