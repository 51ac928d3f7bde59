"""Finds the models and the index that a command is about."""

import os
from pathlib import Path
from typing import NamedTuple

from cli.model_folder import find_model
from pipeline.layout import CONFIG_FILE, INDEX


class IndexPlace(NamedTuple):
    """Where models and their index lie."""

    newest_model: str
    """Folder of the newest version, or of the one that was named."""
    models: str
    """Folder of the versions, or the one that was named."""
    index_folder: str
    """Folder of the index's versions; it need not be there."""
    config: Path
    """Of the run that made the model; it need not be there."""


def index_place(model: str, index: str | None) -> IndexPlace:
    """Where the models under a folder lie, and their index.

    Args:
      model: a run's output folder, its serving folder, or one version in it.
      index: what the user says of the index's folder, if anything; else it lies in the run's.

    Raises:
      DataError: there is no such folder, or no model in it.
    """
    newest = find_model(model)
    models = newest if os.path.samefile(newest, model) else str(Path(newest).parent)
    output = Path(newest).absolute().parent.parent
    return IndexPlace(newest, models, index or str(output / INDEX), output / CONFIG_FILE)
