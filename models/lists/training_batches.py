"""The batches of a training."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from models.lists.ranking_lists import RankingLists, epoch_order


def training_batches(
    lists: RankingLists, strategy: tf.distribute.Strategy, seed: int, epochs: Sequence[int], batch: int
) -> Iterator[Any]:
    """The batches of all epochs to come, one iterator for all: each replica's lists are consecutive rows.

    Of several workers each reads its own replicas' lists alone. What does not fill a batch is left for another epoch's
    order.

    Args:
      lists: those of the train split.
      strategy: divides a batch among its replicas.
      seed: decides the order of the lists, with their ids and the epoch.
      epochs: numbers of the epochs.
      batch: lists of a step, over all replicas.

    Returns:
      an iterator of (features, labels) as `RankingLists.batch` makes them.
    """
    steps = len(lists) // batch
    orders = [epoch_order(lists.query_ids, seed, epoch)[: steps * batch] for epoch in epochs]
    rows = np.concatenate([*orders, np.zeros(0, np.int32)]).reshape(-1, batch // strategy.num_replicas_in_sync)

    def of_worker(worker: int = 0, workers: int = 1) -> tf.data.Dataset:
        own = rows.reshape(-1, workers, strategy.num_replicas_in_sync // workers, rows.shape[1])[:, worker]
        dataset = tf.data.Dataset.from_tensor_slices(own.reshape(-1, rows.shape[1]))
        dataset = dataset.map(lists.batch, num_parallel_calls=1).prefetch(4)
        options = tf.data.Options()
        # There is nothing to tune, and with the tuner or the strategy's iterator, closing it often took seconds.
        options.autotune.enabled = False
        return dataset.with_options(options)

    if strategy.num_replicas_in_sync == 1:
        return iter(of_worker())
    batches: Iterator[Any] = iter(
        strategy.distribute_datasets_from_function(
            lambda context: of_worker(context.input_pipeline_id, context.num_input_pipelines)
        )
    )
    return batches
