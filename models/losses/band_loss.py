"""What the losses whose thresholds may be learned share (arXiv:2011.00701, section 3.4 and appendix A.2)."""

from abc import ABC
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import tensorflow as tf

from models.losses.pointwise_loss import PointwiseLoss
from schemas.training_history import THETA


class BandLoss(PointwiseLoss, ABC):
    """A loss of each document's score and of the ends of its grade's band, which may be learned.

    Learned thresholds keep their order by construction: the widths of the K bands are shares of the scale,

        theta_y = theta_0 + (theta_K - theta_0) * sum_{i <= y} softmax(z)_i,

    with z trainable, and first such that theta is what is given.

    Source: appendix A.2, where the thresholds are part of what is learned; the parametrisation is ours.

    Nothing but the data holds learned thresholds apart: SOSL is 0 within a band, however narrow it and its neighbours
    are. On `ntrex_en_fr` (seed 1) its (0.2, 0.7) went to (0.02, 0.09) in the first epoch and to (0.18, 0.28) by the
    twentieth, with a training loss of 3e-9. Those of proportional odds went to (0.99, 0.996) in the first epoch and
    on towards 1: most documents are NR, and a wider band costs them less.

    Args:
      theta: the inner thresholds theta_1 .. theta_{K-1}, strictly increasing between the ends; where they are learned,
        the first ones.
      learn_theta: whether they are learned. If so, the loss is made within `strategy.scope()`.
      ends, reduction, name: see `PointwiseLoss`; the ends are not learned.

    Raises:
      ValueError: see `PointwiseLoss`.
    """

    def __init__(self, theta: Sequence[float], learn_theta: bool = False, **kwargs: Any) -> None:
        super().__init__(theta, **kwargs)
        self.learn_theta = learn_theta
        if learn_theta:
            widths = [high - low for low, high in pairwise(self.bounds)]
            self._z = tf.Variable(np.log(widths), dtype=tf.float32, name="theta")

    @property
    def trainable_variables(self) -> list[tf.Variable]:
        """z, where the thresholds are learned."""
        return [self._z] if self.learn_theta else []

    def figures(self) -> dict[str, float]:
        """The thresholds, `theta/1` on, where they are learned."""
        theta = self.current_theta() if self.learn_theta else []
        return {f"{THETA}{y}": threshold for y, threshold in enumerate(theta, 1)}

    def current_theta(self) -> list[float]:
        """The thresholds as they are now."""
        theta: list[float] = self._bounds_as(tf.float64).numpy()[1:-1].tolist()
        return theta

    def _bounds_as(self, dtype: tf.DType) -> tf.Tensor:
        if not self.learn_theta:
            return super()._bounds_as(dtype)
        low, high = self.ends
        inner = low + (high - low) * tf.cumsum(tf.nn.softmax(tf.cast(self._z, dtype)))[:-1]
        return tf.concat([[low], inner, [high]], axis=0)

    def get_config(self) -> dict[str, Any]:
        """The loss's arguments."""
        return {**super().get_config(), "learn_theta": self.learn_theta}
