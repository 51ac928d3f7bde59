"""The batches of a training, and the order of its lists."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.lists.ranking_lists import RankingLists


def training_batches(
    lists: RankingLists, strategy: tf.distribute.Strategy, seed: int, epochs: Sequence[int], batch: int
) -> Iterator[Any]:
    """The batches of all epochs, from one iterator; the lists of each replica are consecutive rows of a batch.

    Each worker reads only its own replicas' lists. An epoch drops the lists that do not fill a batch.

    Args:
      lists: the lists of the train split.
      strategy: the strategy, which divides a batch among its replicas.
      seed: decides the order of the lists, with their ids and the epoch.
      epochs: the numbers of the epochs.
      batch: the number of lists in a step, over all replicas.

    Returns:
      an iterator of (features, labels) from `RankingLists.batch`.
    """
    replicas = strategy.num_replicas_in_sync
    rows = _rows_of_replicas(lists.query_ids, seed, epochs, batch, replicas)  # int32 [steps * replicas, batch/replicas]

    def of_worker(worker: int = 0, workers: int = 1) -> tf.data.Dataset:
        own = rows.reshape(-1, workers, replicas // workers, rows.shape[1])[:, worker]  # [steps, own replicas, lists]
        dataset = tf.data.Dataset.from_tensor_slices(own.reshape(-1, rows.shape[1]))
        dataset = dataset.map(lists.batch, num_parallel_calls=1).prefetch(4)
        options = tf.data.Options()
        # There is nothing to tune, and with the tuner or the strategy's iterator, closing it often took seconds.
        options.autotune.enabled = False
        return dataset.with_options(options)

    if replicas == 1:
        return iter(of_worker())
    batches: Iterator[Any] = iter(
        strategy.distribute_datasets_from_function(
            lambda context: of_worker(context.input_pipeline_id, context.num_input_pipelines)
        )
    )
    return batches


def _rows_of_replicas(
    query_ids: Sequence[bytes], seed: int, epochs: Sequence[int], batch: int, replicas: int
) -> npt.NDArray[np.int32]:
    """The lists of each replica in each step of all epochs: int32 [steps * replicas, batch / replicas]."""
    used = len(query_ids) // batch * batch
    orders = [epoch_order(query_ids, seed, epoch)[:used] for epoch in epochs]
    rows: npt.NDArray[np.int32] = np.concatenate([*orders, np.zeros(0, np.int32)])
    return rows.reshape(-1, batch // replicas)


def epoch_order(query_ids: Sequence[bytes], seed: int, epoch: int) -> npt.NDArray[np.int32]:
    """The order of the lists in an epoch, which depends only on query ids, seed and epoch.

    Returns:
      a permutation, int32 [lists].
    """
    prefix = f"{seed}/{epoch}/".encode()
    digests = [hashlib.blake2b(prefix + query_id, digest_size=8).digest() for query_id in query_ids]
    return np.asarray(sorted(range(len(query_ids)), key=digests.__getitem__), np.int32)
