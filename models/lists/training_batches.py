"""The batches of a training, and the order of its lists."""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.lists.ranking_lists import RankingLists

HELD_OUT_TEXTS: Final = "held_out_texts"
"""The feature of a batch with the features of its held-out texts."""


def training_batches(
    lists: RankingLists,
    strategy: tf.distribute.Strategy,
    seed: int,
    epochs: Sequence[int],
    batch: int,
    equal: bool = False,
    held_out_texts: RankingLists | None = None,
) -> Iterator[Any]:
    """Returns the batches of all epochs; the lists of each replica are consecutive rows of a batch.

    Each worker reads only its own replicas' lists. An epoch drops the lists that do not fill a batch.

    Args:
      lists: the lists of the train split.
      strategy: the strategy, which divides a batch among its replicas.
      seed: determines the order of the lists, together with their ids and the epoch.
      epochs: the numbers of the epochs.
      batch: the number of lists in a step, over all replicas.
      equal: whether an epoch takes its lists from all domains in turn, and so repeats the lists of small domains.
      held_out_texts: further lists; each step has as many as of a training domain on average, at least 1 per replica.

    Returns:
      an iterator of (features, labels) from `RankingLists.batch`; with held-out texts the features have
      `HELD_OUT_TEXTS`.
    """
    replicas = strategy.num_replicas_in_sync
    domains = lists.domains if equal else [""] * len(lists)
    orders = [_order_of_domains(lists.query_ids, domains, seed, epoch) for epoch in epochs]
    rows = [_rows_of_replicas(orders, len(lists) // batch, batch, replicas)]
    if held_out_texts:
        step_texts = max(batch // len({*lists.domains}) // replicas, 1) * replicas
        needed = len(lists) // batch * step_texts
        orders = [_cycled(held_out_texts.query_ids, seed, epoch, needed) for epoch in epochs]
        rows.append(_rows_of_replicas(orders, len(lists) // batch, step_texts, replicas))

    def features_and_labels(list_rows: tf.Tensor, *text_rows: tf.Tensor) -> tuple[dict[str, Any], tf.Tensor]:
        features, labels = lists.batch(list_rows)
        if held_out_texts:
            features[HELD_OUT_TEXTS], _ = held_out_texts.batch(*text_rows)
        return features, labels

    def worker_dataset(worker: int = 0, workers: int = 1) -> tf.data.Dataset:
        own = tuple(_rows_of_worker(table, worker, workers, replicas) for table in rows)
        dataset = tf.data.Dataset.from_tensor_slices(own)
        dataset = dataset.map(features_and_labels, num_parallel_calls=1).prefetch(4)
        options = tf.data.Options()
        # With the tuner, or with the strategy's iterator for one replica, closing the iterator often took seconds.
        options.autotune.enabled = False
        return dataset.with_options(options)

    if replicas == 1:
        return iter(worker_dataset())
    batches: Iterator[Any] = iter(
        strategy.distribute_datasets_from_function(
            lambda context: worker_dataset(context.input_pipeline_id, context.num_input_pipelines)
        )
    )
    return batches


def _rows_of_replicas(
    orders: Sequence[npt.NDArray[np.int32]], steps: int, batch: int, replicas: int
) -> npt.NDArray[np.int32]:
    """The lists of each replica in each step, from the epochs' orders: int32 [steps * replicas, batch / replicas]."""
    rows: npt.NDArray[np.int32] = np.concatenate([*(order[: steps * batch] for order in orders), np.zeros(0, np.int32)])
    return rows.reshape(-1, batch // replicas)


def _rows_of_worker(rows: npt.NDArray[np.int32], worker: int, workers: int, replicas: int) -> npt.NDArray[np.int32]:
    """The rows of a worker's own replicas: int32 [steps * own replicas, lists]."""
    own = rows.reshape(-1, workers, replicas // workers, rows.shape[1])[:, worker]
    return own.reshape(-1, rows.shape[1])


def _order_of_domains(
    query_ids: Sequence[bytes], domains: Sequence[str], seed: int, epoch: int
) -> npt.NDArray[np.int32]:
    """The lists of an epoch, from all domains in turn: int32 [lists]."""
    order = np.zeros(len(query_ids), np.int32)
    names = sorted({*domains})
    for turn, name in enumerate(names):
        rows = np.flatnonzero([domain == name for domain in domains])
        turns = order[turn :: len(names)]
        turns[:] = rows[_cycled([query_ids[row] for row in rows.tolist()], seed, epoch, len(turns))]
    return order


def _cycled(query_ids: Sequence[bytes], seed: int, epoch: int, needed: int) -> npt.NDArray[np.int32]:
    """Repeats all rows, in a new order each time, until `needed` rows are taken: int32 [needed]."""
    orders = [np.zeros(0, np.int32)]
    for cycle in count():
        if sum(map(len, orders)) >= needed:
            break
        orders.append(epoch_order(query_ids, seed, epoch, cycle))
    return np.concatenate(orders)[:needed]


def epoch_order(query_ids: Sequence[bytes], seed: int, epoch: int, cycle: int = 0) -> npt.NDArray[np.int32]:
    """The order of the lists in a cycle of an epoch, which depends only on seed and query ids: int32 [lists]."""
    prefix = f"{seed}/{epoch}/{f'{cycle}/' if cycle else ''}".encode()
    digests = [hashlib.blake2b(prefix + query_id, digest_size=8).digest() for query_id in query_ids]
    return np.asarray(sorted(range(len(query_ids)), key=digests.__getitem__), np.int32)
