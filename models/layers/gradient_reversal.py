"""The identity with a reversed gradient (Cohen et al. 2018, eqs. 4 and 5)."""

import tensorflow as tf
from tensorflow import keras


@keras.utils.register_keras_serializable(package="smooth_clir")
class GradientReversal(keras.layers.Layer):
    """The identity, whose gradient has the opposite sign.

        G(x) = x,    dG(x)/dx = -I

    Layers behind it minimise a loss that layers before it maximise. Source: Ganin et al. 2016, "Domain-adversarial
    training of neural networks"; Cohen et al. 2018, eqs. 4 and 5.

    Call arguments:
      x: float, any shape.

    Returns:
      float of the same shape.

    Example:
      >>> x = tf.Variable(3.0)
      >>> with tf.GradientTape() as tape:
      ...     y = GradientReversal()(x) ** 2
      >>> float(y), float(tape.gradient(y, x))  # 3 * 3; -2 * 3
      (9.0, -6.0)
    """

    def call(self, x: tf.Tensor) -> tf.Tensor:
        """Returns x."""
        return 2 * tf.stop_gradient(x) - x  # exactly x
