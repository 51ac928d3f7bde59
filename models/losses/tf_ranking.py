"""Three losses of TensorFlow Ranking, one value a list. None has thresholds."""

from typing import Any

import tensorflow as tf
from tensorflow import keras

from models.losses.ranking_loss import RankingLoss
from models.tf_ranking import losses


class _TfRankingLoss(RankingLoss):
    """A loss of TensorFlow Ranking's; a list's value is the library's for that list alone, without its padding."""

    def __init__(self, tf_ranking_loss: type[keras.losses.Loss], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._tf_ranking_loss = tf_ranking_loss(reduction=keras.losses.Reduction.NONE)

    def call(self, y_true: Any, y_pred: Any) -> tf.Tensor:
        """Returns the loss of each list, float [batch]."""
        y_pred = tf.convert_to_tensor(y_pred)
        # The library computes in float32. It would pass a gradient on to labels, by a random order of equal ones.
        labels, scores = tf.stop_gradient(tf.cast(y_true, tf.float32)), tf.cast(y_pred, tf.float32)
        # Without reduction its losses have the forms [batch], [batch, 1] and [batch, list_size].
        values = self._tf_ranking_loss(labels, scores)
        return tf.reduce_sum(tf.reshape(values, [tf.shape(y_pred)[0], -1]), axis=-1)


@keras.utils.register_keras_serializable(package="smooth_clir")
class SoftmaxLoss(_TfRankingLoss):
    """Cross entropy of the softmax of a list's scores with its grades.

        loss = -sum_i y_i log(exp(r_i) / sum_j exp(r_j))

    The grades are not normalised: a list weighs as much as they sum to. Source: Cao et al. 2007, as
    `tfr.keras.losses.SoftmaxLoss` computes it.

    Args:
      reduction, name: see `keras.losses.Loss`.

    Call arguments:
      y_true: float [batch, list_size], grades from 0 on; a negative one marks padding.
      y_pred: float [batch, list_size], scores.

    Example:
      >>> round(float(SoftmaxLoss()([[2.0, 0.0]], [[0.5, 0.5]])), 4)  # 2 log 2
      1.3863
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(losses.SoftmaxLoss, **kwargs)


@keras.utils.register_keras_serializable(package="smooth_clir")
class ApproxNdcgLoss(_TfRankingLoss):
    """NDCG with sigmoids for the steps in its ranks, negated.

        loss = -DCG(rank) / (DCG of the ideal order),   DCG(rank) = sum_i (2^y_i - 1) / log2(1 + rank_i)
        rank_i = 1 + sum_{j != i} sigmoid((r_j - r_i) / 0.1)

    Between -1 and 0; 0 for a list without a relevant document. The gain is exponential, while our metric's is the
    paper's, linear. Source: Qin et al. 2010 and Bruch et al. 2019, as `tfr.keras.losses.ApproxNDCGLoss` computes it.

    Args:
      reduction, name: see `keras.losses.Loss`.

    Call arguments:
      y_true: float [batch, list_size], grades from 0 on; a negative one marks padding.
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

    for the n documents of a list. Source: Herbrich et al. 1999, as `tfr.keras.losses.PairwiseHingeLoss` computes it;
    the mean over documents is what its default reduction makes of one list.

    Args:
      reduction, name: see `keras.losses.Loss`.

    Call arguments:
      y_true: float [batch, list_size], grades from 0 on; a negative one marks padding.
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
