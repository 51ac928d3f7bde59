"""LazyAdam: Adam wherever every row moves, and rest for the rows that a step does not hold."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from tensorflow import keras

from models.optimizers.lazy_adam import LazyAdam

pytestmark = pytest.mark.tensors

ROWS, DIM, STEPS, RATE = 4, 2, 3, 0.1
random = np.random.default_rng(1)
START = random.normal(size=(ROWS, DIM)).astype(np.float32)
GRADIENTS = random.normal(size=(STEPS, ROWS, DIM)).astype(np.float32)


def rows_of(gradient, rows):
    """The gradient of some rows alone."""
    return tf.IndexedSlices(tf.gather(gradient, rows), tf.constant(rows), tf.constant([ROWS, DIM]))


def after_steps(optimizer, gradients):
    """The variable and its two moments after some steps."""
    variable = tf.Variable(START)
    for gradient in gradients:
        optimizer.apply_gradients([(gradient, variable)])
    moments = [slot.numpy() for slot in optimizer.variables if slot.shape == variable.shape]
    assert len(moments) == 2
    return [variable.numpy(), *moments]


@pytest.mark.parametrize(
    "gradients",
    [[tf.constant(g) for g in GRADIENTS], [rows_of(g, range(ROWS)) for g in GRADIENTS]],
    ids=["dense", "all rows"],
)
def test_steps_that_hold_every_row_equal_those_of_adam(gradients):
    lazy, adam = after_steps(LazyAdam(RATE), gradients), after_steps(keras.optimizers.Adam(RATE), gradients)
    np.testing.assert_allclose(lazy, adam, atol=1e-5)


@given(
    dim=st.integers(1, 9),
    rows=st.lists(st.integers(0, 5), max_size=6, unique=True),
    scale=st.sampled_from([0.0, 1e-20, 1e-4, 1.0, 1e4]),
    seed=st.integers(0, 99),
)
def test_a_step_moves_its_rows_by_adam_s_formula_and_no_others(dim, rows, scale, seed):
    draw = np.random.default_rng(seed)
    start, momentum, gradient = (draw.normal(size=(6, dim)).astype(np.float32) for _ in range(3))
    velocity, gradient = momentum**2, gradient * np.float32(scale)
    variable, optimizer = tf.Variable(start), LazyAdam(RATE)
    optimizer.build([variable])
    slots = [slot for slot in optimizer.variables if slot.shape == variable.shape]
    for slot, value in zip(slots, (momentum, velocity), strict=True):
        slot.assign(value)
    optimizer.apply_gradients(
        [(tf.IndexedSlices(gradient[rows], tf.constant(rows, tf.int64), tf.constant([6, dim])), variable)]
    )
    beta_1, beta_2, epsilon = (np.float32(number) for number in (0.9, 0.999, 1e-7))
    moved = np.isin(np.arange(6), rows)[:, np.newaxis]
    rate = RATE * np.sqrt(1 - beta_2) / (1 - beta_1)
    new_momentum = np.where(moved, beta_1 * momentum + (1 - beta_1) * gradient, momentum)
    new_velocity = np.where(moved, beta_2 * velocity + (1 - beta_2) * gradient**2, velocity)
    change = rate * new_momentum / (np.sqrt(new_velocity) + epsilon)
    for got, expected in zip((*slots, variable), (new_momentum, new_velocity, start - moved * change), strict=True):
        np.testing.assert_array_equal(got.numpy()[~moved[:, 0]], expected[~moved[:, 0]])
        # Machines whose multiplication and addition are one operation round once.
        np.testing.assert_allclose(got.numpy(), expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


def test_rows_take_steps_of_their_own_size_and_dense_gradients_do_not():
    rows, dense = rows_of(GRADIENTS[0], range(ROWS)), tf.constant(GRADIENTS[0])
    three_times = after_steps(LazyAdam(3 * RATE), [rows])[0]
    np.testing.assert_allclose(after_steps(LazyAdam(RATE, row_factor=3.0), [rows])[0], three_times, rtol=1e-6)
    once = after_steps(LazyAdam(RATE), [dense])[0]
    np.testing.assert_array_equal(after_steps(LazyAdam(RATE, row_factor=3.0), [dense])[0], once)


def test_bias_correction_counts_the_steps_that_left_a_row_out():
    variable, _, _ = after_steps(
        LazyAdam(RATE), [rows_of(g, [row]) for g, row in zip(GRADIENTS, [0, 0, 1], strict=True)]
    )
    gradient = GRADIENTS[2][1].astype(np.float64)
    momentum, velocity = (1 - 0.9) * gradient, (1 - 0.999) * gradient**2
    rate = RATE * np.sqrt(1 - 0.999**3) / (1 - 0.9**3)
    np.testing.assert_allclose(variable[1], START[1] - rate * momentum / (np.sqrt(velocity) + 1e-7), rtol=1e-5)


def test_slices_of_one_row_count_as_their_sum():
    double = tf.IndexedSlices(GRADIENTS[0][:2], tf.constant([1, 1]), tf.constant([ROWS, DIM]))
    total = tf.IndexedSlices(GRADIENTS[0][:2].sum(axis=0, keepdims=True), tf.constant([1]), tf.constant([ROWS, DIM]))
    np.testing.assert_allclose(after_steps(LazyAdam(RATE), [double]), after_steps(LazyAdam(RATE), [total]), rtol=1e-5)


def test_a_checkpoint_holds_what_one_of_adam_s_does(tmp_path):
    def saved(optimizer):
        optimizer.build([tf.Variable(START)])
        path = tf.train.Checkpoint(optimizer=optimizer).write(str(tmp_path / type(optimizer).__name__))
        return tf.train.list_variables(path)

    assert saved(LazyAdam(RATE)) == saved(keras.optimizers.Adam(RATE))


def test_config_makes_the_same_again():
    optimizer = LazyAdam(0.3, row_factor=2.0, beta_1=0.5)
    again = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    assert isinstance(again, LazyAdam)
    assert again.get_config() == optimizer.get_config()


@pytest.mark.parametrize("variant", [{"amsgrad": True}, {"weight_decay": 0.01}])
def test_variant_that_lazy_rows_do_not_have_is_refused(variant):
    with pytest.raises(ValueError, match="amsgrad"):
        LazyAdam(**variant)
