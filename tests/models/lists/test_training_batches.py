"""The batches of a training, as each worker and each replica reads them, and the order of their lists."""

from itertools import chain
from types import SimpleNamespace

import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.lists.training_batches import _rows_of_replicas, epoch_order, training_batches
from tests.models.synthetic import ranking_lists

LISTS = ranking_lists([[row] for row in range(22)], [[0]], [[0] for _ in range(22)], [[row] for row in range(22)])
"""Each list's only grade is its row."""
BATCH, EPOCHS, SEED = 8, (1, 2), 1


def rows_of(worker, workers, replicas):
    """The rows that a worker's replicas are given one after the other, over both epochs: [batches][lists]."""
    context = tf.distribute.InputContext(workers, worker, replicas)
    strategy = SimpleNamespace(
        num_replicas_in_sync=replicas, distribute_datasets_from_function=lambda function: function(context)
    )
    batches = training_batches(LISTS, strategy, SEED, EPOCHS, BATCH)
    return [labels[:, 0].numpy().astype(int).tolist() for _, labels in batches]


WHOLE = rows_of(0, 1, 1)


def test_batches_are_consecutive_rows_of_each_epochs_order_without_an_incomplete_batch():
    orders = [epoch_order(LISTS.query_ids, SEED, epoch).tolist() for epoch in EPOCHS]
    assert WHOLE == [order[start : start + BATCH] for order in orders for start in (0, 8)]


@given(st.integers(0, 30), st.integers(1, 4), st.integers(1, 3), st.integers(0, 3))
def test_rows_of_replicas_are_those_of_plain_slices(lists, replicas, of_each, epochs):
    query_ids, batch = [b"%d" % row for row in range(lists)], replicas * of_each
    expected = []
    for epoch in range(epochs):
        order = epoch_order(query_ids, SEED, epoch).tolist()
        for start in range(0, lists - batch + 1, batch):
            expected += [order[start + first : start + first + of_each] for first in range(0, batch, of_each)]
    assert _rows_of_replicas(query_ids, SEED, range(epochs), batch, replicas).tolist() == expected


@pytest.mark.parametrize(("workers", "replicas"), [(1, 2), (2, 2), (4, 4), (2, 4)])
def test_the_workers_shares_of_each_batch_make_up_one_devices_batch(workers, replicas):
    of_workers = [rows_of(worker, workers, replicas) for worker in range(workers)]
    of_each = replicas // workers
    for step, whole in enumerate(WHOLE):
        shares = [rows[step * of_each : (step + 1) * of_each] for rows in of_workers]
        assert [*chain(*chain(*shares))] == whole
        assert {len(part) for share in shares for part in share} == {BATCH // replicas}


def test_no_two_workers_are_given_one_row_in_one_epoch():
    first, second = ({*chain(*rows_of(worker, 2, 2)[:2])} for worker in range(2))
    assert not first & second


# Order

query_ids = st.lists(st.text(min_size=1, max_size=3).map(str.encode), unique=True, max_size=9)


@given(query_ids, st.integers(0, 9), st.integers(1, 9))
def test_epoch_order_is_a_permutation(ids, seed, epoch):
    assert sorted(epoch_order(ids, seed, epoch)) == list(range(len(ids)))


@given(query_ids, st.integers(0, 9), st.integers(1, 9), st.randoms())
def test_two_queries_stand_in_one_order_whatever_the_others_are(ids, seed, epoch, random):
    chosen = random.sample(ids, random.randint(0, len(ids)))
    among_all = [ids[row] for row in epoch_order(ids, seed, epoch) if ids[row] in chosen]
    assert [chosen[row] for row in epoch_order(chosen, seed, epoch)] == among_all


def test_order_differs_between_epochs_and_seeds():
    ids = [str(number).encode() for number in range(20)]
    orders = [tuple(epoch_order(ids, seed, epoch)) for seed in (1, 2) for epoch in (1, 2)]
    assert len(set(orders)) == 4
