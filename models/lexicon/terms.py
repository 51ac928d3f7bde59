"""The terms of texts: what the channel of words that match counts."""

from typing import Any, NamedTuple

import tensorflow as tf

from models.lexicon.lexicon import Kind
from models.ragged import kept_values
from models.stems import stems_of_distinct
from models.tokens import tokenize


class Terms(NamedTuple):
    """The terms of texts: most stand in them more than once, and numbers are cheaper than strings."""

    distinct: tf.Tensor
    """string [distinct], in the order in which they come first."""
    places: tf.RaggedTensor
    """int64 [batch, (terms)], among those, in the words' order."""

    def texts(self) -> tf.RaggedTensor:
        """string [batch, (terms)]."""
        return self.places.with_flat_values(tf.gather(self.distinct, self.places.flat_values))


def terms_of(texts: Any, kind: Kind, language: str, max_tokens: int) -> Terms:
    """The terms of texts: stems for the kind `lexicon`, else words.

    Args:
      texts: string [batch].
      kind: of the lexicon.
      language: of the texts.
      max_tokens: words of a text that count.
    """
    words = tokenize(texts, max_tokens)
    distinct, place = tf.unique(words.flat_values, tf.int64)
    places = words.with_flat_values(place)
    if kind != "lexicon":
        return Terms(distinct, places)
    found = term_of(distinct, kind, language)
    is_stem = found != ""
    with_stem = tf.where(is_stem)
    distinct, place_of_stem = tf.unique(tf.gather_nd(found, with_stem), tf.int64)
    place_of_word = tf.scatter_nd(with_stem, place_of_stem, tf.shape(found, tf.int64))
    stems = places.with_flat_values(tf.gather(place_of_word, place))
    return Terms(distinct, kept_values(stems, tf.gather(is_stem, place)))


def term_of(words: tf.Tensor, kind: Kind, language: str) -> tf.Tensor:
    """The term that each word is: string [words] -> string [words], "" for a word that has no stem."""
    return stems_of_distinct(words, language) if kind == "lexicon" else words
