"""The cluster of workers that train together, as `TF_CONFIG` describes it, and its chief."""

import json
import random
import socket
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any, Final

import tensorflow as tf

from models.graphs import graph_function
from schemas.errors import ConfigError
from schemas.json_files import parse_json

_TASKS: Final = ("chief", "worker")
_PORTS: Final = range(20_000, 32_768)
"""Ports below those of outgoing connections, which could take a port before a worker listens on it."""
_EXAMPLE: Final = '{"cluster": {"worker": ["host0:2222", "host1:2222"]}, "task": {"type": "worker", "index": 0}}'


@dataclass(frozen=True)
class Cluster:
    """A worker's view of a cluster.

    Attributes:
      tf_config: the environment variable that TensorFlow reads, as JSON.
      workers: number of workers.
      number: this worker's number; 0 is the chief, the only worker that writes.
    """

    tf_config: str
    workers: int
    number: int

    @classmethod
    def parse(cls, tf_config: str) -> "Cluster":
        """Reads a TF_CONFIG.

        Args:
          tf_config: the value, see TensorFlow's documentation of MultiWorkerMirroredStrategy.

        Raises:
          ConfigError: the value does not describe a cluster of workers with this worker.

        Example:
          >>> task = '{"type": "worker", "index": 0}'
          >>> Cluster.parse('{"cluster": {"chief": ["a:1"], "worker": ["b:1"]}, "task": ' + task + "}")
          Cluster(tf_config=..., workers=2, number=1)
        """
        try:
            content: Any = parse_json(tf_config)
            tasks = [
                (kind, index) for kind in sorted(content["cluster"]) for index in range(len(content["cluster"][kind]))
            ]
            here = (str(content["task"]["type"]), int(content["task"]["index"]))
        except (ValueError, TypeError, LookupError):
            shown = tf_config if len(tf_config) <= 200 else f"{tf_config[:200]}…"
            raise ConfigError([f"TF_CONFIG must be of the form {_EXAMPLE}; got {shown}."]) from None
        if unknown := {kind for kind, _ in tasks}.difference(_TASKS):
            kinds = ", ".join(sorted(unknown))
            raise ConfigError([f"the tasks of TF_CONFIG's cluster must be {' and '.join(_TASKS)}; got {kinds}."])
        if here not in tasks:
            raise ConfigError([f"TF_CONFIG's task must be one of its cluster; got {here[0]} {here[1]} in {tf_config}."])
        return cls(tf_config, len(tasks), tasks.index(here))

    @classmethod
    def on_loopback(cls, workers: int) -> "list[Cluster]":
        """Returns the views of a number of workers on this machine, on free ports."""
        addresses = [f"127.0.0.1:{port}" for port in _free_ports(workers)]
        views = (
            {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": number}} for number in range(workers)
        )
        return [cls.parse(json.dumps(view)) for view in views]


def _free_ports(count: int) -> list[int]:
    """Returns free ports."""
    ports: list[int] = []
    with ExitStack() as stack:
        for port in random.SystemRandom().sample(_PORTS, len(_PORTS)):
            with suppress(OSError):
                stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
                ports.append(port)
            if len(ports) == count:
                break
    return ports


class Chief:
    """The first of a strategy's workers, or the only process of a training."""

    def __init__(self, strategy: tf.distribute.Strategy) -> None:
        several = isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy)
        self._strategy = strategy
        self.workers: int = strategy.num_replicas_in_sync // len(strategy.extended.worker_devices) if several else 1
        """Number of processes that train."""
        self.is_here: bool = not several or strategy.extended.should_checkpoint
        """Whether this process is the chief."""

    def value(self, value: float) -> float:
        """Returns the chief's value in every worker, once all workers are here.

        Args:
          value: this worker's value; all workers use its type.
        """
        return value if self.workers == 1 else float(self._sum_of_chief(tf.constant(value, tf.float64)))

    @graph_function
    def _sum_of_chief(self, value: tf.Tensor) -> tf.Tensor:
        def replica_value() -> tf.Tensor:
            context = tf.distribute.get_replica_context()
            is_first = context.replica_id_in_sync_group == 0
            return context.all_reduce(tf.distribute.ReduceOp.SUM, tf.where(is_first, value, tf.zeros_like(value)))

        return self._strategy.experimental_local_results(self._strategy.run(replica_value))[0]
