"""The executor of a stage whose work is shared among workers, where there are any."""

import os
from collections.abc import Callable, Iterable
from typing import Any

from tfx.dsl.components.base import base_beam_executor

from models.on_workers import OnWorkers


def has_workers(executor: base_beam_executor.BaseBeamExecutor) -> bool:
    """Whether an executor was given a Beam runner; in one process a plain loop takes less time than Beam's."""
    # Private, but what TFX's own executors read: how the launcher says where a stage runs.
    return bool(executor._beam_pipeline_args or executor._make_beam_pipeline_fn)


class MappingExecutor(base_beam_executor.BaseBeamExecutor):
    """An executor that works item by item: in this process, or on the workers of the runner that it was given."""

    def work_on(self, folder: str) -> Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]:
        """What applies a function to items, as `map` does.

        A plain loop in this process gives the same as Beam's in-process runner, without its half second.

        Args:
          folder: an output artifact's, for what workers and this process hand each other.
        """
        if has_workers(self):
            return OnWorkers(self._make_beam_pipeline, os.path.join(folder, ".work"))
        return map
