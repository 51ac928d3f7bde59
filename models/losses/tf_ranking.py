"""Three losses of TensorFlow Ranking, without thresholds."""

from typing import Any

import tensorflow as tf
from tensorflow import keras

from models.losses.ranking_loss import RankingLoss
from models.tf_ranking import losses


class _TfRankingLoss(RankingLoss):
    """A loss of TensorFlow Ranking; its value for a list depends neither on other lists nor on padding."""

    def __init__(self, tf_ranking_loss: type[keras.losses.Loss], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._tf_ranking_loss = tf_ranking_loss(reduction=keras.losses.Reduction.NONE)

    def call(self, y_true: Any, y_pred: Any) -> tf.Tensor:
        """Returns the loss of each list, float [batch]."""
        y_pred = tf.convert_to_tensor(y_pred)
        # The library computes in float32, and would give labels a gradient by its random order of equal labels.
        labels, scores = tf.stop_gradient(tf.cast(y_true, tf.float32)), tf.cast(y_pred, tf.float32)
        # Without reduction its losses have the shapes [batch], [batch, 1] and [batch, list_size].
        values = self._tf_ranking_loss(labels, scores)
        return tf.reduce_sum(tf.reshape(values, [tf.shape(y_pred)[0], -1]), axis=-1)


@keras.utils.register_keras_serializable(package="smooth_clir")
class SoftmaxLoss(_TfRankingLoss):
    """Cross entropy of the softmax of a list's scores with its grades.

        loss = -sum_i y_i log(exp(r_i) / sum_j exp(r_j))

    The grades are not normalised: their sum is a list's weight. Source: Cao et al. 2007, as in
    `tfr.keras.losses.SoftmaxLoss`.

    Args:
      reduction, name: see `keras.losses.Loss`.

    Call arguments:
      y_true: float [batch, list_size], grades from 0 on; negative for padding.
      y_pred: float [batch, list_size], scores.

    Example:
      >>> round(float(SoftmaxLoss()([[2.0, 0.0]], [[0.5, 0.5]])), 4)  # 2 log 2
      1.3863
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(losses.SoftmaxLoss, **kwargs)


@keras.utils.register_keras_serializable(package="smooth_clir")
class ApproxNdcgLoss(_TfRankingLoss):
    """The negative NDCG, whose ranks have sigmoids instead of steps.

        loss = -DCG(rank) / (DCG of the ideal order),   DCG(rank) = sum_i (2^y_i - 1) / log2(1 + rank_i)
        rank_i = 1 + sum_{j != i} sigmoid((r_j - r_i) / 0.1)

    Between -1 and 0; 0 for a list without a relevant document. The gain is exponential; our metric's is linear, as in
    the paper. Source: Qin et al. 2010 and Bruch et al. 2019, as in `tfr.keras.losses.ApproxNDCGLoss`.

    Args:
      reduction, name: see `keras.losses.Loss`.

    Call arguments:
      y_true: float [batch, list_size], grades from 0 on; negative for padding.
      y_pred: float [batch, list_size], scores.

    Example:
      >>> round(float(ApproxNdcgLoss()([[2.0, 0.0]], [[0.5, 0.5]])), 4)  # -log2(1 + 1) / log2(1 + 1.5)
      -0.7565
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(losses.ApproxNDCGLoss, **kwargs)


@keras.utils.register_keras_serializable(package="smooth_clir")
class PairwiseHingeLoss(_TfRankingLoss):
    """Hinge of the difference of two documents' scores, over all pairs with different grades.

        loss = 1/n sum_i sum_j [y_i > y_j] relu(1 - (r_i - r_j))

    for the n documents of a list. Source: Herbrich et al. 1999, as in `tfr.keras.losses.PairwiseHingeLoss` with its
    default reduction of a single list.

    Args:
      reduction, name: see `keras.losses.Loss`.

    Call arguments:
      y_true: float [batch, list_size], grades from 0 on; negative for padding.
      y_pred: float [batch, list_size], scores.

    Example:
      >>> round(float(PairwiseHingeLoss()([[2.0, 1.0, 0.0]], [[0.5, 0.0, 0.3]])), 4)  # (0.5 + 0.8 + 1.3) / 3
      0.8667
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(losses.PairwiseHingeLoss, **kwargs)

    def call(self, y_true: Any, y_pred: Any) -> tf.Tensor:
        """Returns the mean over each list's documents, float [batch]."""
        documents = tf.reduce_sum(tf.cast(tf.convert_to_tensor(y_true) >= 0, tf.float32), axis=-1)
        return tf.math.divide_no_nan(super().call(y_true, y_pred), documents)
