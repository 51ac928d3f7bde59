"""Joins pairs of characters to readable words."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import tensorflow as tf

from models.texts.tokens import paired_characters

_FACTOR: Final = 2
"""The largest factor between the weights of neighbouring pairs, which are similar within a word."""


class JoinedPairs(NamedTuple):
    """A text joined from overlapping pairs of characters, or a word that is not a pair."""

    text: str
    weight: float
    """The largest weight of the pairs, or the word's weight."""


class _Pair(NamedTuple):
    first: str
    second: str
    weight: float

    def precedes(self, following: "_Pair") -> bool:
        """Whether the other pair begins with the second character of this one, and has a similar weight."""
        low, high = sorted((self.weight, following.weight))
        return self.second == following.first and high <= _FACTOR * low


def join_pairs(words: Sequence[tuple[str, float]]) -> list[JoinedPairs]:
    """Joins overlapping pairs of characters (see `models.texts.tokens`) of similar weights into the longest texts.

    The best pair starts a text, and the best pair that fits either end extends it, until none fits; then the best
    remaining pair starts the next text. Each pair is in exactly one text.

    Args:
      words: distinct words, or stems, each with its weight >= 0.

    Returns:
      the texts, best first.

    Example:
      >>> [tuple(text) for text in join_pairs([("ファ", 0.21), ("イル", 0.2), ("ァイ", 0.19), ("ルの", 0.05)])]
      [('ファイル', 0.21), ('ルの', 0.05)]
    """
    ordered = sorted(words, key=lambda word_and_weight: word_and_weight[1], reverse=True)
    characters = paired_characters(tf.constant([word for word, _ in ordered], tf.string)).to_list()
    joined, left = [], []
    for (word, weight), pair in zip(ordered, characters, strict=True):
        if pair:
            first, second = pair
            left.append(_Pair(first.decode(), second.decode(), weight))
        else:
            joined.append(JoinedPairs(word, weight))
    while left:
        chain = [left.pop(0)]
        while fitting := next((pair for pair in left if chain[-1].precedes(pair) or pair.precedes(chain[0])), None):
            left.remove(fitting)
            chain.insert(len(chain) if chain[-1].precedes(fitting) else 0, fitting)
        text = chain[0].first + "".join(pair.second for pair in chain)
        joined.append(JoinedPairs(text, max(pair.weight for pair in chain)))
    return sorted(joined, key=lambda joined_text: joined_text.weight, reverse=True)
