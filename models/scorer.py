"""A scorer: one channel of a model's score."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Final

import tensorflow as tf
from tensorflow import keras

_LOWEST: Final = -1e30
"""What padding scores where nothing bounds the scores: as JSON has it, too."""


class Scorer(keras.layers.Layer, ABC):
    """Scores the documents of query lists.

    A scorer defines `call` and `score_range`, and what else of the following it needs. It may have weights, trained or
    not, as any Keras layer.

    Call arguments:
      features: a dict of what `RankingLists.batch` makes: query columns [batch, ...], columns of the batch's distinct
        documents [documents, ...], list columns [batch, list_size], and
        `document_index`: int [batch, list_size], the row of the document columns at each place; negative marks padding.
      training: whether dropout and the like act.

    Returns:
      scores: float [batch, list_size]; that of a padded place means nothing.
    """

    @abstractmethod
    def call(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Scores each list."""

    def score_texts(self, features: dict[str, Any]) -> tf.Tensor:
        """Scores each list as the exported model does, from raw texts.

        Args:
          features: `query_text`, string [batch]; `doc_text`, string [documents]; `document_index`; and what the
            training's own transformation makes of the texts (see `models.text_features`).
        """
        return self(features)

    @property
    @abstractmethod
    def score_range(self) -> tuple[float, float]:
        """The least and the largest score that it can give; infinite where nothing bounds it."""

    @property
    def theta_ends(self) -> tuple[float, float]:
        """theta_0 and theta_K, the ends of the scale on which a loss's thresholds lie."""
        return self.score_range

    @property
    def padded_score(self) -> float:
        """What the exported model gives a place without a document; no document scores less."""
        return padded_below(self.score_range[0])

    @property
    def resources(self) -> Sequence[Any]:
        """What `score_texts` needs besides weights, to be saved along: lookup tables and their asset files."""
        return ()

    def score_and_watch(self, features: dict[str, Any]) -> tuple[tf.Tensor, dict[str, tf.Tensor]]:
        """The scores of lists of the eval split, and figures of them, float scalars by name.

        An epoch's history shows the largest of each figure over all lists.
        """
        return self(features), {}

    def figures(self) -> dict[str, float]:
        """What an epoch's history shows of the scorer itself, by name."""
        return {}


def padded_below(least_score: float) -> float:
    """A score for places without a document, finite and below that of any."""
    return max(least_score - 1, _LOWEST)
