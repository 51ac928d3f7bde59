"""Publishes the results of a run's stages: copies under the output folder, and links for TensorBoard."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from models.lexicon.lexicon import COLLECTION_FILE, STATISTICS_FILE, WITHOUT_DOMAIN, WORDS_FILE
from pipeline.layout import (
    CELL_DIGEST_FILE,
    CELL_FILE,
    CELL_LOG_FILE,
    CONFIG_FILE,
    EVALUATION,
    TENSORBOARD,
    TRAINING,
)
from pipeline.output_folder import OutputFolder
from pipeline.stages import STAGES, Outputs
from schemas.errors import DataError
from schemas.provenance import PROVENANCE_FILE
from schemas.wording import first_bytes

_FOR_STAGES: Final = ("BLESSED", "NOT_BLESSED", COLLECTION_FILE, STATISTICS_FILE, WORDS_FILE)
"""The files that only other stages read, besides the lexicons in the folder `WITHOUT_DOMAIN`."""

_UNSAFE: Final = r"[^\w.=,+-]+"
_LONGEST_NAME: Final = 200
"""Bytes of a link's name before the run's number: a file's name has at most 255."""

_RUNS: Final = ("model_run", "tuner_results")
"""The outputs of trainings and searches that TensorBoard reads."""


def publish(outputs: Mapping[str, Outputs], folder: OutputFolder, is_cell: bool) -> None:
    """Copies a run's results into its output folder, in place of an earlier run's.

    Args:
      outputs: the outputs of every stage.
      folder: the run's output folder.
      is_cell: whether the run is a cell of an experiment. A cell's results are not in subfolders, and leave out the
        files that cells share: those made from dumps, the report of the data, and the lexicon.
    """
    files = {}
    for name, stage in STAGES.items():
        publication = stage.publishes
        if name not in outputs or publication is None or (is_cell and publication.is_shared):
            continue
        (artifact,) = outputs[name][publication.output]
        source = Path(artifact.uri)
        for path in source.rglob("*"):
            if path.is_file() and path.name not in _FOR_STAGES and path.parent.parent.name != WITHOUT_DOMAIN:
                files[os.path.join(publication.folder, path.relative_to(source))] = path
    if is_cell:
        files = {name.removeprefix(f"{EVALUATION}/").removeprefix(f"{TRAINING}/"): path for name, path in files.items()}
    folder.publish(files, keep=[CONFIG_FILE, PROVENANCE_FILE, CELL_FILE, CELL_DIGEST_FILE, CELL_LOG_FILE])


class TensorBoardLinks:
    """TensorBoard's folder in a store: a link by name to each training's run, which TFX names by a number.

    Links whose runs are gone are removed.

    Args:
      store: folder of the artifacts.

    Raises:
      DataError: the user has another file of the folder's name.
    """

    def __init__(self, store: Path) -> None:
        self._folder = store / TENSORBOARD
        if os.path.lexists(self._folder) and (self._folder.is_symlink() or not self._folder.is_dir()):
            raise DataError(
                f"{self._folder} is not a folder. Runs keep links to TensorBoard's files there: move it away."
            )
        for link in self._folder.iterdir() if self._folder.is_dir() else ():
            if link.is_symlink() and not link.exists() and Path(os.readlink(link)).parent.name in _RUNS:
                link.unlink()

    def show(self, name: str, outputs: Outputs) -> None:
        """Links the run of a training or a search, which may have just begun.

        Args:
          name: names collection, settings and seed; the run's own number is added, so that earlier runs stay.
          outputs: the outputs of the stage that trains.

        Raises:
          DataError: the user has another file of the link's name.
        """
        ((artifact,),) = (outputs[name] for name in _RUNS if name in outputs)
        run = Path(artifact.uri)
        self._folder.mkdir(parents=True, exist_ok=True)
        # Shortened, because the name of the input's folder in it may have the maximal length already.
        link = self._folder / f"{first_bytes(re.sub(_UNSAFE, '_', name), _LONGEST_NAME)}-{run.name}"
        target = os.path.relpath(run, self._folder)
        if link.is_symlink() and os.readlink(link) != target:
            link.unlink()
        if not os.path.lexists(link):
            link.symlink_to(target)
        elif not link.is_symlink():
            raise DataError(f"{link} is not a link. Runs keep links to TensorBoard's files there: move it away.")
