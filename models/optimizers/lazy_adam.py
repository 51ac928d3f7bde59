"""Adam that touches only the embedding rows that a batch used."""

from collections.abc import Hashable, Sequence
from typing import Any

import tensorflow as tf
from tensorflow import keras


@keras.utils.register_keras_serializable(package="smooth_clir")
class LazyAdam(keras.optimizers.Adam):
    """Adam (Kingma and Ba 2015) with lazy moments, and a separate step size, for sparse gradients.

        m = beta_1 m + (1 - beta_1) g
        v = beta_2 v + (1 - beta_2) g^2
        w = w - row_factor learning_rate sqrt(1 - beta_2^t) / (1 - beta_1^t) m / (sqrt(v) + epsilon)

    A dense step over an embedding table would cost more than the model itself. Therefore the moments and weights of a
    row change only in steps whose gradient has the row; dense gradients get Keras's own step. The bias correction
    counts all steps t, as in TensorFlow's former `LazyAdam`.

    Args:
      learning_rate: the step size.
      row_factor: a factor on the step size for rows of sparse gradients, which change less often than other weights.
      **kwargs: see `keras.optimizers.Adam`.

    Raises:
      ValueError: amsgrad or weight decay is set, which lazy rows do not support.
    """

    def __init__(self, learning_rate: float = 0.001, row_factor: float = 1.0, **kwargs: object) -> None:
        # XLA, which Keras turns on for a GPU, cannot compile the row updates.
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
        """Keeps the moments `m` and `v` that Keras makes for each weight."""
        moment = super().add_variable_from_reference(model_variable, variable_name, shape, initial_value)
        # A step receives the replica's own copy of a weight.
        for copy in tf.distribute.get_strategy().experimental_local_results(model_variable):
            self._moments.values[variable_name, copy.ref()] = moment
        return moment

    def _deduplicate_sparse_grad(
        self, gradients: Sequence[tf.Tensor | tf.IndexedSlices]
    ) -> list[tf.Tensor | tf.IndexedSlices]:
        """Replaces Keras's method, which copies all slices even if each row has only one.

        The copy takes a tenth of a step, and the rows of the mean encoder are distinct already.
        """
        return [merge_rows(gradient) for gradient in gradients]

    def update_step(self, gradient: tf.Tensor | tf.IndexedSlices, variable: tf.Variable) -> None:
        """Updates one variable; the indices of a sparse gradient must be distinct."""
        if not isinstance(gradient, tf.IndexedSlices):
            super().update_step(gradient, variable)
            return
        dtype, rows, g = variable.dtype, gradient.indices, gradient.values  # int [rows], float [rows, dim]
        beta_1, beta_2 = tf.cast(self.beta_1, dtype), tf.cast(self.beta_2, dtype)
        step = tf.cast(self.iterations + 1, dtype)
        rate = self.row_factor * tf.cast(self.learning_rate, dtype) * tf.sqrt(1 - beta_2**step) / (1 - beta_1**step)

        m, v = (self._moments.values[name, variable.ref()] for name in "mv")  # float [table rows, dim]
        # All rows at once: ops that compute row by row on a table take TensorFlow 2.21 up to five times as long.
        m_rows = beta_1 * tf.gather(m, rows) + (1 - beta_1) * g  # float [rows, dim], like v's
        v_rows = beta_2 * tf.gather(v, rows) + (1 - beta_2) * tf.square(g)
        m.scatter_update(tf.IndexedSlices(m_rows, rows))
        v.scatter_update(tf.IndexedSlices(v_rows, rows))
        w_rows = tf.gather(variable, rows) - rate * m_rows / (tf.sqrt(v_rows) + tf.cast(self.epsilon, dtype))
        variable.scatter_update(tf.IndexedSlices(w_rows, rows))

    def get_config(self) -> dict[str, Any]:
        """The optimizer's arguments."""
        return {**super().get_config(), "row_factor": self.row_factor}


def merge_rows(gradient: tf.Tensor | tf.IndexedSlices) -> tf.Tensor | tf.IndexedSlices:
    """Sums the slices of each row of a sparse gradient."""
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    rows, row = tf.unique(gradient.indices)  # int [rows], int32 [slices]
    values = tf.cond(
        tf.size(rows) < tf.size(row),
        lambda: tf.math.unsorted_segment_sum(gradient.values, row, tf.size(rows)),
        lambda: gradient.values,
    )  # float [rows, dim]
    return tf.IndexedSlices(values, rows, gradient.dense_shape)


class _Moments:
    """The moments by name and weight. Keras would write a plain dict into checkpoints."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, Hashable], tf.Variable] = {}
