"""The training objective over the MR document and a few drawn documents of each list."""

from typing import Any, Final

import tensorflow as tf

from models.layers.word_embeddings import seed_of
from models.losses.ranking_loss import RankingLoss
from models.losses.settings import LossSettings
from models.objectives.objective import ListLosses, RankingObjective, make_loss
from models.rankers.ranker import Ranker
from schemas import features as f
from schemas.relevance import PADDING_LABEL

_FIRST: Final = 2.0
"""The draw of an MR document, above all random draws, which lie in [0, 1)."""
_NEVER: Final = -1.0
"""The draw of documents that must not be drawn."""


class DrawnObjective(RankingObjective):
    """A loss of each list's MR document and of a few documents of lower grades, drawn at random in each step.

    The MR document is the first document of the list's highest grade. The others are drawn uniformly without
    replacement; lists with fewer documents are padded. Only drawn documents are encoded. Mitra et al. 2017 train Duet
    on the relevant document and four others, and Tan et al. 2015 draw several and train on the one with the highest
    score; Cohen et al. 2018 do both. Draws come from a generator whose state a checkpoint saves.

    Args:
      ranker: see `Objective`.
      loss: the loss, without reduction: it returns a value per list.
      seed: seeds the draws.
      documents: the largest number of documents that are drawn from a list.
    """

    def __init__(self, ranker: Ranker, loss: RankingLoss, seed: int, documents: int) -> None:
        super().__init__(ranker, loss)
        self._documents = documents
        self._generator = tf.random.Generator.from_seed(seed_of(seed, "drawn"))

    @classmethod
    def make(cls, ranker: Ranker, settings: LossSettings, top_grade: int, seed: int, **own: Any) -> "DrawnObjective":
        """Makes the objective with the loss that the settings name."""
        return cls(ranker, make_loss(settings, top_grade, ranker.theta_ends), seed, **own)

    def __call__(self, features: dict[str, Any], labels: tf.Tensor) -> ListLosses:
        """Returns the losses of a batch's lists."""
        # A single draw per step, as in `WordEmbeddings`.
        draws = tf.random.stateless_uniform(tf.shape(labels), self._generator.make_seeds(1)[:, 0])
        return super().__call__(*drawn_lists(features, labels, draws, self._documents))


def drawn_lists(
    features: dict[str, Any], labels: tf.Tensor, draws: tf.Tensor, documents: int
) -> tuple[dict[str, Any], tf.Tensor]:
    """Returns lists of their MR document and of the documents of lower grades with the largest draws.

    Args:
      features, labels: see `RankingLists.batch`.
      draws: float [batch, list_size], in [0, 1).
      documents: the largest number of documents besides the MR document.

    Returns:
      features and labels of lists of at most `documents` + 1 documents, the MR document first, with the document
      columns of these documents only.
    """
    grade = tf.reduce_max(labels, axis=1, keepdims=True)
    draws = tf.where((labels >= 0) & (labels < grade), draws, _NEVER)
    columns = tf.range(tf.shape(labels)[1])
    is_first = tf.reduce_min(tf.where(labels == grade, columns, columns.dtype.max), axis=1, keepdims=True) == columns
    draws = tf.where(is_first & (labels >= 0), _FIRST, draws)
    values, columns = tf.math.top_k(draws, tf.minimum(documents + 1, tf.shape(labels)[1]))
    is_there = values >= 0

    chosen = {name: value for name, value in features.items() if f.is_of_query(name)}
    index = tf.gather(features[f.DOCUMENT_INDEX], columns, batch_dims=1)
    distinct, row = tf.unique(tf.boolean_mask(index, is_there))
    for name, value in features.items():
        if f.is_of_document(name):
            chosen[name] = tf.gather(value, distinct)
        elif not f.is_of_query(name):
            chosen[name] = tf.gather(value, columns, batch_dims=1)
    chosen[f.DOCUMENT_INDEX] = tf.tensor_scatter_nd_update(
        tf.fill(tf.shape(index), tf.constant(-1, index.dtype)), tf.where(is_there), row
    )
    return chosen, tf.where(is_there, tf.gather(labels, columns, batch_dims=1), float(PADDING_LABEL))
