"""Applies a function to items on the workers of an executor's Beam runner."""

import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import apache_beam as beam
import tensorflow as tf

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def has_workers(executor: Any) -> bool:
    """Returns whether an executor has a Beam runner with workers; in one process a plain loop is faster than Beam.

    Only private attributes tell; TFX's own executors read them, too. `tests/components/test_stage.py` notices if TFX
    changes them, or the method below.
    """
    return bool(executor._beam_pipeline_args or executor._make_beam_pipeline_fn)


def make_pipeline(executor: Any) -> Callable[[], beam.Pipeline]:
    """Returns a function that makes a Beam pipeline on an executor's runner; no public one passes its arguments."""
    function: Callable[[], beam.Pipeline] = executor._make_beam_pipeline
    return function


class OnWorkers:
    """Applies a function to items as `map` does: each item on one worker, the results in the order of the items.

    The function, the items and the results travel as files, because they may be too large for a job's description. An
    item that is repeated after a worker died overwrites its file with the same content.

    Args:
      make_pipeline: makes a pipeline on the runner that has the workers.
      folder: a folder that this process and all workers see; its files are removed at the end.
    """

    def __init__(self, make_pipeline: Callable[[], beam.Pipeline], folder: str) -> None:
        self._make_pipeline = make_pipeline
        self._folder = folder

    def __call__(self, work: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
        """Applies a function that the workers can import to the items, and waits for all of them.

        Raises:
          Exception: the runner's, if an item failed.
        """
        numbered = dict(enumerate(items))
        tf.io.gfile.makedirs(self._folder)
        try:
            with tf.io.gfile.GFile(os.path.join(self._folder, "work"), "wb") as file:
                pickle.dump((work, numbered), file)
            with self._make_pipeline() as pipeline:
                (
                    pipeline
                    | "NumberItems" >> beam.Create(list(numbered))
                    | "ShareItems" >> beam.Reshuffle()
                    | "WorkOnItem" >> beam.ParDo(_WorkOnItem(self._folder))
                )
            for number in numbered:
                with tf.io.gfile.GFile(_result_path(self._folder, number), "rb") as file:
                    yield pickle.load(file)
        finally:
            tf.io.gfile.rmtree(self._folder)


class _WorkOnItem(beam.DoFn):
    """Number of an item -> nothing; writes the item's result to a file."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._work: Any = None
        self._items: dict[int, Any] = {}

    def setup(self) -> None:
        with tf.io.gfile.GFile(os.path.join(self._folder, "work"), "rb") as file:
            self._work, self._items = pickle.load(file)

    def process(self, number: int) -> list[None]:
        result = pickle.dumps(self._work(self._items[number]))
        with tf.io.gfile.GFile(_result_path(self._folder, number), "wb") as file:
            file.write(result)
        return []


def _result_path(folder: str, number: int) -> str:
    return os.path.join(folder, f"result-{number:06}")
