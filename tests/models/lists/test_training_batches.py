"""The batches of a training, as each worker and each replica reads them, and the order of their lists."""

from itertools import chain
from types import SimpleNamespace

import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.lists.training_batches import epoch_order, training_batches
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


def test_an_epoch_has_every_row_once_but_those_that_fill_no_batch():
    assert [len(batch) for batch in WHOLE] == [BATCH] * 2 * (len(LISTS) // BATCH)
    for epoch in (WHOLE[:2], WHOLE[2:]):
        assert len({*chain(*epoch)}) == BATCH * (len(LISTS) // BATCH)


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
