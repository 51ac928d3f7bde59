"""The batches of a training, as each worker and each replica reads them, and the order of their lists."""

from dataclasses import replace
from itertools import chain
from types import SimpleNamespace

import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.lists.training_batches import (
    HELD_OUT_TEXTS,
    _order_of_domains,
    _rows_of_replicas,
    epoch_order,
    training_batches,
)
from tests.models.synthetic import ranking_lists

pytestmark = pytest.mark.tensors

LISTS = ranking_lists([[row] for row in range(22)], [[0]], [[0] for _ in range(22)], [[row] for row in range(22)])
"""Each list's only grade is its row."""
BATCH, EPOCHS, SEED = 8, (1, 2), 1


def strategy_of(worker, workers, replicas):
    """A worker's strategy, as far as it distributes datasets."""
    context = tf.distribute.InputContext(workers, worker, replicas)
    return SimpleNamespace(
        num_replicas_in_sync=replicas, distribute_datasets_from_function=lambda function: function(context)
    )


def rows_of(worker, workers, replicas):
    """The rows that a worker's replicas are given one after the other, over both epochs: [batches][lists]."""
    batches = training_batches(LISTS, strategy_of(worker, workers, replicas), SEED, EPOCHS, BATCH)
    return [labels[:, 0].numpy().astype(int).tolist() for _, labels in batches]


WHOLE = rows_of(0, 1, 1)


def test_batches_are_consecutive_rows_of_each_epochs_order_without_an_incomplete_batch():
    orders = [epoch_order(LISTS.query_ids, SEED, epoch).tolist() for epoch in EPOCHS]
    assert WHOLE == [order[start : start + BATCH] for order in orders for start in (0, 8)]


@given(st.integers(0, 30), st.integers(1, 4), st.integers(1, 3), st.integers(0, 3))
def test_rows_of_replicas_are_those_of_plain_slices(lists, replicas, size, epochs):
    query_ids, batch = [b"%d" % row for row in range(lists)], replicas * size
    expected = []
    for epoch in range(epochs):
        order = epoch_order(query_ids, SEED, epoch).tolist()
        for start in range(0, lists - batch + 1, batch):
            expected += [order[start + first : start + first + size] for first in range(0, batch, size)]
    orders = [epoch_order(query_ids, SEED, epoch) for epoch in range(epochs)]
    assert _rows_of_replicas(orders, lists // batch, batch, replicas).tolist() == expected


@pytest.mark.parametrize(("workers", "replicas"), [(1, 2), (4, 4), (2, 4)])
def test_the_workers_shares_of_each_batch_make_up_one_devices_batch(workers, replicas):
    worker_rows = [rows_of(worker, workers, replicas) for worker in range(workers)]
    replicas_each = replicas // workers
    for step, whole in enumerate(WHOLE):
        shares = [rows[step * replicas_each : (step + 1) * replicas_each] for rows in worker_rows]
        assert [*chain(*chain(*shares))] == whole
        assert {len(part) for share in shares for part in share} == {BATCH // replicas}


# Order

query_ids = st.lists(st.text(min_size=1, max_size=3).map(str.encode), unique=True, max_size=9)


@given(query_ids, st.integers(0, 9), st.integers(1, 9), st.randoms())
def test_two_queries_stand_in_one_order_whatever_the_others_are(ids, seed, epoch, random):
    order = epoch_order(ids, seed, epoch).tolist()
    assert sorted(order) == list(range(len(ids)))
    assert _order_of_domains(ids, ["a"] * len(ids), seed, epoch).tolist() == order
    chosen = random.sample(ids, random.randint(0, len(ids)))
    among_all = [ids[row] for row in order if ids[row] in chosen]
    assert [chosen[row] for row in epoch_order(chosen, seed, epoch)] == among_all


def test_order_differs_between_epochs_and_seeds():
    ids = [str(number).encode() for number in range(20)]
    orders = [tuple(epoch_order(ids, seed, epoch)) for seed in (1, 2) for epoch in (1, 2)]
    assert len(set(orders)) == 4


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=20), st.integers(1, 3))
def test_domains_come_in_turn_and_no_list_comes_again_before_all_of_its_domain_have_come(domains, epoch):
    ids = [b"%d" % row for row in range(len(domains))]
    order = _order_of_domains(ids, domains, SEED, epoch)
    names = sorted({*domains})
    assert [domains[row] for row in order] == [names[turn % len(names)] for turn in range(len(domains))]
    for name in names:
        rows = [row for row in order if domains[row] == name]
        times = [rows.count(row) for row, domain in enumerate(domains) if domain == name]
        assert max(times) - min(times) <= 1


# Held-out texts


def texts_of(domains, batch, replicas=1, texts=3):
    """The held-out texts, as their words, of each step and replica of both epochs."""
    columns = {**LISTS.query_columns, "query_domain": tf.constant([f"{row % domains}" for row in range(22)])}
    held_out = ranking_lists([[100 + row] for row in range(texts)], [[0]], [[0, 0]] * texts, [[0, 0]] * texts)
    lists, strategy = replace(LISTS, query_columns=columns), strategy_of(0, 1, replicas)
    batches = training_batches(lists, strategy, SEED, EPOCHS, batch, held_out_texts=held_out)
    return [features[HELD_OUT_TEXTS]["query_tokens"].values.numpy().tolist() for features, _ in batches]


@pytest.mark.parametrize(("domains", "batch", "replicas", "texts_each"), [(2, 8, 1, 4), (2, 8, 2, 2), (3, 2, 2, 1)])
def test_a_step_has_as_many_held_out_texts_as_lists_of_a_domain_in_the_mean(domains, batch, replicas, texts_each):
    texts = texts_of(domains, batch, replicas)
    assert {*map(len, texts)} == {texts_each}
    assert len(texts) == 2 * (22 // batch) * replicas


def test_all_held_out_texts_come_before_any_comes_again():
    epoch_texts = [*chain(*texts_of(2, 8)[:2])]
    assert len(epoch_texts) == 8
    assert all(2 <= epoch_texts.count(word) <= 3 for word in (100, 101, 102))


def test_without_held_out_texts_a_batch_has_no_such_feature():
    features, _ = next(training_batches(LISTS, tf.distribute.get_strategy(), SEED, EPOCHS, BATCH))
    assert HELD_OUT_TEXTS not in features
