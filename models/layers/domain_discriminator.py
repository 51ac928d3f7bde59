"""The discriminator of domains (Cohen et al. 2018, eqs. 2 and 3)."""

import zlib
from typing import Any

import tensorflow as tf
from tensorflow import keras


@keras.utils.register_keras_serializable(package="smooth_clir")
class DomainDiscriminator(keras.layers.Layer):
    """Predicts the domain of a query and a document from their joint representation x.

        z = W relu(V x + b) + c
        p(domain | q, d) = exp(z_domain) / sum over domains j of exp(z_j)        (eq. 3)

    Source: Cohen et al. 2018, section 3, which leaves the hidden layers open; ours is a single one.

    Args:
      domains: number of domains.
      hidden: number of units of the hidden layer.
      seed: seeds the initial weights.

    Call arguments:
      joint: float [..., width].

    Returns:
      z, float [..., domains].
    """

    def __init__(self, domains: int, hidden: int = 64, seed: int = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.domains, self.hidden, self.seed = domains, hidden, seed
        self.first, self.last = (
            keras.layers.Dense(
                units,
                activation,
                kernel_initializer=keras.initializers.GlorotUniform(zlib.crc32(f"{seed}/{name}".encode()) >> 1),
                name=name,
            )
            for units, activation, name in ((hidden, "relu", "first"), (domains, None, "last"))
        )

    def build(self, input_shape: Any) -> None:
        """Creates the weights."""
        self.first.build(input_shape)
        self.last.build([*input_shape[:-1], self.hidden])
        super().build(input_shape)

    def call(self, joint: tf.Tensor) -> tf.Tensor:
        """Returns z."""
        return self.last(self.first(joint))

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return {**super().get_config(), "domains": self.domains, "hidden": self.hidden, "seed": self.seed}


def domain_loss(z: tf.Tensor, domain: tf.Tensor) -> tf.Tensor:
    """The discriminator's cross entropy, L_adv = -log p(domain | q, d) (Cohen et al. 2018, eq. 2).

    Args:
      z: float [..., domains], see `DomainDiscriminator`.
      domain: int [...], the number of the true domain.

    Returns:
      float [...].

    Example:
      >>> round(float(domain_loss([[0.0, 0.0]], [1])[0]), 4)  # log 2
      0.6931
    """
    return tf.nn.sparse_softmax_cross_entropy_with_logits(domain, z)
