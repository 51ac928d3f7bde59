"""The chief among the workers of a training: it alone writes, and the others do as it says."""

import tensorflow as tf

from models.graph_function import graph_function


class Chief:
    """The first of a strategy's workers; in a training of one process, that process.

    Args:
      strategy: the training's.
    """

    def __init__(self, strategy: tf.distribute.Strategy) -> None:
        several = isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy)
        self._strategy = strategy
        self.workers: int = strategy.num_replicas_in_sync // len(strategy.extended.worker_devices) if several else 1
        """How many processes train."""
        self.is_here: bool = not several or strategy.extended.should_checkpoint
        """Whether this process is the chief."""

    def tells(self, value: float) -> float:
        """The chief's value, for every worker; each waits here for all.

        Args:
          value: this worker's own, whose type every worker's has.
        """
        return value if self.workers == 1 else float(self._sum_of_chief(tf.constant(value, tf.float64)))

    @graph_function
    def _sum_of_chief(self, value: tf.Tensor) -> tf.Tensor:
        def of_replica() -> tf.Tensor:
            context = tf.distribute.get_replica_context()
            is_first = context.replica_id_in_sync_group == 0
            return context.all_reduce(tf.distribute.ReduceOp.SUM, tf.where(is_first, value, tf.zeros_like(value)))

        return self._strategy.experimental_local_results(self._strategy.run(of_replica))[0]
