"""Applies a function to items on the workers of a Beam runner."""

import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import apache_beam as beam
import tensorflow as tf

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class OnWorkers:
    """As `map`: each item is one worker's, and the results come in the order of the items.

    The function, the items and the results travel as files, for they may be too large for a job's description. A worker
    that repeats an item, after another died of it, writes the same file once more.

    Args:
      make_pipeline: of the runner that has the workers.
      folder: which all workers and this process see; what is written there is removed.
    """

    def __init__(self, make_pipeline: Callable[[], beam.Pipeline], folder: str) -> None:
        self._make_pipeline = make_pipeline
        self._folder = folder

    def __call__(self, work: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
        """Applies a function, which the workers can import, to items, and waits for all.

        Raises:
          Exception: the runner's own, where an item failed.
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
    """number of an item -> nothing, but its file."""

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
