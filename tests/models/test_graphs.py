"""Ragged tensors: the row of each value, and rows without some of their values."""

import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.graphs import kept_values, row_ids

pytestmark = pytest.mark.tensors

LISTS = st.lists(st.lists(st.lists(st.integers(0, 9), max_size=3), max_size=3), max_size=4)


@given(LISTS, st.integers(0, 10))
def test_what_is_kept_stays_in_its_row(lists: list[list[list[int]]], limit: int) -> None:
    ragged = tf.ragged.constant(lists, tf.int64, ragged_rank=2)
    kept = kept_values(ragged, ragged.flat_values < limit)
    assert kept.to_list() == [[[value for value in row if value < limit] for row in rows] for rows in lists]


@given(st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=6))
def test_row_of_each_value_is_what_tensorflow_finds_for_it(rows: list[list[int]]) -> None:
    ragged = tf.ragged.constant(rows, tf.int32, ragged_rank=1)
    ids = row_ids(ragged)
    assert ids.dtype == tf.int64
    assert ids.numpy().tolist() == ragged.value_rowids().numpy().tolist()
