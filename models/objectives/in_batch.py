"""The training objective that scores every list against all documents of its batch."""

from typing import Any, Final

import tensorflow as tf

from models.losses.ranking_loss import RankingLoss
from models.losses.settings import LossSettings
from models.objectives.objective import ListLosses, RankingObjective, ScoredLists, make_loss
from models.rankers.ranker import Ranker
from models.rankers.scorer import join_vectors
from schemas import features as f
from schemas.relevance import NOT_RELEVANT, PADDING_LABEL

_NO_SHARE: Final = -1e30
"""The logit of a document that does not count: finite, because a target of 0 times minus infinity would be NaN."""


class InBatchObjective(RankingObjective):
    """The loss of a list, and terms over the documents of all lists of the batch.

        loss(q) = L(q) + I(q) + softmax_weight * H(q)

        I(q) = mean, over the documents d outside q's list, of the loss of score(q, d) and grade 0
        H(q) = - sum_d t(q, d) log softmax(score(q, .) / softmax_temperature)_d

    where d is a document of the batch's lists of q's domain. L is the list's loss, as in `RankingObjective`. I is added
    with `in_batch`, and is 0 without documents outside the list. H is 0 for a list without a relevant document. The
    targets t(q, d) of a list sum to 1: they are proportional to softmax_top_weight for its MR documents, to 1 for its
    other documents above grade 0, and 0 for all others. With several replicas, a batch is a replica's part of it. The
    documents of a batch must be distinct, as from `RankingLists.batch`.

    Args:
      ranker: the ranker; its score must be an inner product of vectors, so that a product of matrices gives all scores.
      loss: the loss, without reduction: it returns a value per list.
      settings: `in_batch`, and the settings of the softmax.
      top_grade: the MR grade.

    Raises:
      ValueError: the score is not an inner product of vectors.
    """

    def __init__(self, ranker: Ranker, loss: RankingLoss, settings: LossSettings, top_grade: int) -> None:
        super().__init__(ranker, loss)
        if ranker.dense.keys() != ranker.channels.keys():
            names = ", ".join(ranker.channels)
            raise ValueError(f"the documents of a batch need channels that are inner products of vectors; got {names}.")
        self._settings, self._top_grade = settings, top_grade

    @classmethod
    def make(cls, ranker: Ranker, settings: LossSettings, top_grade: int, seed: int, **own: Any) -> "InBatchObjective":
        """Makes the objective with the loss that the settings name."""
        return cls(ranker, make_loss(settings, top_grade, ranker.theta_ends), settings, top_grade, **own)

    def __call__(self, features: dict[str, Any], labels: tf.Tensor) -> ListLosses:
        """Returns the losses of a batch's lists; the figures are the terms, unweighted."""
        index = features[f.DOCUMENT_INDEX]
        query, document = (
            vectors(features, training=True) for vectors in (self.ranker.query_vector, self.ranker.document_vector)
        )
        scores = tf.matmul(query, document, transpose_b=True)
        grades = _grades_of_all(index, labels, tf.shape(scores))
        counts = _in_own_domain(grades, features[f.QUERY_DOMAIN]) if f.QUERY_DOMAIN in features else None
        losses = {"own_loss": self.loss(labels, tf.gather(scores, tf.maximum(index, 0), batch_dims=1))}
        total = losses["own_loss"]
        if self._settings.takes_batch:
            other_labels = grades < 0 if counts is None else (grades < 0) & counts
            other_labels = tf.where(other_labels, float(NOT_RELEVANT), float(PADDING_LABEL))
            losses["in_batch_loss"] = self.loss(other_labels, scores)
            total += losses["in_batch_loss"]
        if self._settings.softmax_weight:
            losses["softmax_loss"] = self._cross_entropy(grades, scores, counts)
            total += self._settings.softmax_weight * losses["softmax_loss"]
        joint = join_vectors(query, tf.gather(document, tf.maximum(index, 0)))
        return ListLosses(total, losses, ScoredLists(labels, joint), self.ranker.penalties())

    def _cross_entropy(self, grades: tf.Tensor, scores: tf.Tensor, counts: tf.Tensor | None) -> tf.Tensor:
        """Returns H of each list, float [batch]; `counts` leaves out documents, None takes all."""
        is_top, is_relevant = (tf.cast(grade, scores.dtype) for grade in (grades == self._top_grade, grades > 0))
        shares = is_relevant + (self._settings.softmax_top_weight - 1) * is_top
        total = tf.reduce_sum(shares, axis=1)
        targets = tf.math.divide_no_nan(shares, total[:, tf.newaxis])
        logits = scores / self._settings.softmax_temperature
        logarithms = tf.nn.log_softmax(logits if counts is None else tf.where(counts, logits, _NO_SHARE))
        return -tf.reduce_sum(targets * logarithms, axis=1)


def _in_own_domain(grades: tf.Tensor, domains: tf.Tensor) -> tf.Tensor:
    """Returns whether each document is in a list of the query's domain.

    Args:
      grades: float [batch, documents]; below 0 where a list lacks a document.
      domains: int [batch].

    Returns:
      bool [batch, documents].
    """
    same = tf.cast(domains[:, tf.newaxis] == domains, tf.float32)
    return tf.matmul(same, tf.cast(grades >= 0, tf.float32)) > 0


def _grades_of_all(index: tf.Tensor, labels: tf.Tensor, shape: tf.Tensor) -> tf.Tensor:
    """Returns the grade of each document in each list, float [batch, documents]; padding where the list lacks it."""
    cells = tf.where(index >= 0)
    documents = tf.cast(tf.gather_nd(index, cells), cells.dtype)
    return tf.tensor_scatter_nd_max(
        tf.fill(shape, float(PADDING_LABEL)),
        tf.stack([cells[:, 0], documents], axis=1),
        tf.gather_nd(labels, cells),
    )
