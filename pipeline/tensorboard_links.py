"""TensorBoard's folder: a link by name to each training's run, which TFX names by a number."""

import os
import re
from pathlib import Path
from typing import Final

from pipeline.layout import ARTIFACTS, TENSORBOARD
from schemas.errors import DataError

_RUNS: Final = "model_run"
"""The output of a stage that trains."""
_OF_EARLIER_VERSIONS: Final = Path(ARTIFACTS, "Trainer", _RUNS)
"""What the folder itself was a link to."""


class TensorBoardLinks:
    """The links of a store; those whose runs are gone are removed, and runs of earlier versions get one.

    Args:
      store: folder of the artifacts.

    Raises:
      DataError: the user has something else of the folder's name.
    """

    def __init__(self, store: Path) -> None:
        self._folder = store / TENSORBOARD
        if self._folder.is_symlink() and Path(os.readlink(self._folder)) == _OF_EARLIER_VERSIONS:
            self._folder.unlink()
            for run in sorted((store / _OF_EARLIER_VERSIONS).glob("[0-9]*")):
                self.show("earlier", run)
        if os.path.lexists(self._folder) and (self._folder.is_symlink() or not self._folder.is_dir()):
            raise DataError(
                f"{self._folder} must be a folder, in which runs make links to TensorBoard's files; there is something "
                "else; move it away."
            )
        for link in self._folder.iterdir() if self._folder.is_dir() else ():
            if link.is_symlink() and not link.exists() and Path(os.readlink(link)).parent.name == _RUNS:
                link.unlink()

    def show(self, name: str, run: Path) -> None:
        """Shows a run, from its first epoch on.

        Args:
          name: of collection, settings and seed; the run's own number is added, so that an earlier one stays.
          run: its folder, within the store.

        Raises:
          DataError: the user has something else of the link's name.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        link = self._folder / re.sub(r"[^\w.=,+-]+", "_", f"{name}-{run.name}")
        target = os.path.relpath(run, self._folder)
        if link.is_symlink() and os.readlink(link) != target:
            link.unlink()
        if not os.path.lexists(link):
            link.symlink_to(target)
        elif not link.is_symlink():
            raise DataError(f"{link} must be a link that a run made; there is something else; move it away.")
