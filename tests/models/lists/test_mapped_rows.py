"""Rows in a file, against a ragged tensor of the same."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.lists import mapped_rows
from models.lists.mapped_rows import RowsFile

pytestmark = pytest.mark.tensors

nested_rows = st.lists(st.lists(st.integers(-9, 9), max_size=4), max_size=7)


def in_a_file(*parts):
    file = RowsFile()
    for part in parts:
        file.add(np.array(sum(part, []), np.int32), np.array([*map(len, part)], np.int64))
    return file.mapped()


def ragged(rows):
    return tf.RaggedTensor.from_row_lengths(tf.constant(sum(rows, []), tf.int32), [*map(len, rows)])


few = st.sampled_from([0, 1 << 24])  # values held in memory: none of these, or all


@given(nested_rows, nested_rows, few, st.data())
def test_rows_are_those_that_a_ragged_tensor_has(first, second, few, data):
    mapped, tensor = in_a_file(first, second), ragged([*first, *second])
    assert len(mapped) == len(first) + len(second)
    assert mapped.tensor().to_list() == [*first, *second]
    assert mapped.row_splits.tolist() == tensor.row_splits.numpy().tolist()
    drawn = data.draw(st.lists(st.integers(0, len(mapped) - 1), max_size=5)) if len(mapped) else []
    rows = tf.constant(drawn, tf.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mapped_rows, "_FEW", few)
        assert mapped.gather(rows).to_list() == tf.gather(tensor, rows).to_list()
    assert mapped.select(np.array(drawn, np.int64)).tensor().to_list() == tf.gather(tensor, rows).to_list()


@given(nested_rows)
def test_blocks_hold_all_rows_in_turn(rows):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mapped_rows, "_ROWS_OF_A_BLOCK", 2)
        blocks = [(values.tolist(), lengths.tolist()) for values, lengths in in_a_file(rows).blocks()]
    pairs = [rows[first : first + 2] for first in range(0, len(rows), 2)]
    assert blocks == [(sum(pair, []), [*map(len, pair)]) for pair in pairs]


@pytest.mark.parametrize("few", [0, 3])
def test_rows_are_read_in_the_graphs_of_datasets_and_functions(few, monkeypatch):
    monkeypatch.setattr(mapped_rows, "_FEW", few)
    mapped = in_a_file([[1, 2], [], [3]])
    dataset = tf.data.Dataset.from_tensor_slices(tf.constant([[2, 0], [1, 1]])).map(mapped.gather)
    assert dataset.element_spec == tf.RaggedTensorSpec([None, None], tf.int32, 1, tf.int64)
    assert [batch.to_list() for batch in dataset] == [[[3], [1, 2]], [[], []]]
    for row, values in [(0, [1, 2]), (2, [3])]:
        assert tf.function(mapped.gather)(tf.constant([row])).to_list() == [values]
