"""Adam that touches only the embedding rows that a batch used."""

from collections.abc import Hashable, Sequence
from typing import Any

import tensorflow as tf
from tensorflow import keras


@keras.utils.register_keras_serializable(package="smooth_clir")
class LazyAdam(keras.optimizers.Adam):
    """Adam (Kingma and Ba 2015) with lazy moments, and a step size of their own, for sparse gradients.

    A dense step over an embedding table costs more than the model itself. Here the moments and weights of a row move
    only in the steps whose gradient holds that row; dense gradients get Keras's own step. The bias correction counts
    all steps, as in TensorFlow's former `LazyAdam`.

    Args:
      learning_rate: the step size.
      row_factor: factor on it for the rows of sparse gradients, which move less often than other weights.
      **kwargs: see `keras.optimizers.Adam`.

    Raises:
      ValueError: a variant of Adam is asked for that lazy rows do not have (amsgrad, weight decay).
    """

    def __init__(self, learning_rate: float = 0.001, row_factor: float = 1.0, **kwargs: object) -> None:
        # XLA cannot compile the row updates, and Keras turns it on where there is a GPU.
        super().__init__(learning_rate, **{"name": "LazyAdam", **kwargs, "jit_compile": False})
        self._moments = _Moments()
        self.row_factor = row_factor
        if self.amsgrad or self.weight_decay:
            raise ValueError("LazyAdam has neither amsgrad nor weight decay.")

    def add_variable_from_reference(
        self,
        model_variable: tf.Variable,
        variable_name: str,
        shape: Sequence[int] | None = None,
        initial_value: tf.Tensor | None = None,
    ) -> tf.Variable:
        """Keras calls this for the moments of each weight, which Adam names `m` and `v`; here they are kept at hand."""
        made = super().add_variable_from_reference(model_variable, variable_name, shape, initial_value)
        # A step gets a replica's own copy of a weight.
        for copy in tf.distribute.get_strategy().experimental_local_results(model_variable):
            self._moments.of[variable_name, copy.ref()] = made
        return made

    def _deduplicate_sparse_grad(
        self, gradients: Sequence[tf.Tensor | tf.IndexedSlices]
    ) -> list[tf.Tensor | tf.IndexedSlices]:
        """Keras calls this before `update_step`; its own sums the slices of each row, also where there is one of each.

        To sum them copies them all, which takes a tenth of a step, and the mean encoder's rows are distinct already.
        """
        return [merge_rows(one) for one in gradients]

    def update_step(self, gradient: tf.Tensor | tf.IndexedSlices, variable: tf.Variable) -> None:
        """Updates one variable; a sparse gradient's indices must be distinct."""
        if not isinstance(gradient, tf.IndexedSlices):
            super().update_step(gradient, variable)
            return
        dtype, rows = variable.dtype, gradient.indices
        beta_1, beta_2 = tf.cast(self.beta_1, dtype), tf.cast(self.beta_2, dtype)
        step = tf.cast(self.iterations + 1, dtype)
        rate = self.row_factor * tf.cast(self.learning_rate, dtype) * tf.sqrt(1 - beta_2**step) / (1 - beta_1**step)

        momentum, velocity = (self._moments.of[name, variable.ref()] for name in ("m", "v"))
        for moment, beta, term in ((momentum, beta_1, gradient.values), (velocity, beta_2, tf.square(gradient.values))):
            # A factor for all rows, where TensorFlow's documentation asks for one of each, as its op allows.
            moment.scatter_mul(tf.IndexedSlices(beta, rows))
            moment.scatter_add(tf.IndexedSlices((1 - beta) * term, rows))
        # Adagrad's step, w -= rate * g / (sqrt(a) + epsilon), is Adam's where it leaves its sum a, here the velocity,
        # as it is: one op, which makes no tensors of all rows.
        tf.raw_ops.ResourceSparseApplyAdagradV2(
            var=variable.handle,
            accum=velocity.handle,
            lr=rate,
            epsilon=tf.cast(self.epsilon, dtype),
            grad=tf.gather(momentum, rows),
            indices=rows,
            update_slots=False,
        )

    def get_config(self) -> dict[str, Any]:
        """The optimizer's arguments."""
        return {**super().get_config(), "row_factor": self.row_factor}


def merge_rows(gradient: tf.Tensor | tf.IndexedSlices) -> tf.Tensor | tf.IndexedSlices:
    """The gradient with one slice of each row, the sum of those that it had; a dense one as it is."""
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    rows, place = tf.unique(gradient.indices)
    values = tf.cond(
        tf.size(rows) < tf.size(place),
        lambda: tf.math.unsorted_segment_sum(gradient.values, place, tf.size(rows)),
        lambda: gradient.values,
    )
    return tf.IndexedSlices(values, rows, gradient.dense_shape)


class _Moments:
    """The moments by name and weight; in an object of its own, since Keras would put a plain dict into checkpoints."""

    def __init__(self) -> None:
        self.of: dict[tuple[str, Hashable], tf.Variable] = {}
