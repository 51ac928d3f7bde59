"""Finds exported models and their index in the folders that a run writes."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cli.terminal import for_shell
from pipeline.config import RunConfig
from pipeline.layout import CONFIG_FILE, INDEX, SERVING
from pipeline.settings_file import read_settings_file
from schemas.errors import DataError
from schemas.served_versions import GRAPH_FILE, newest_version

if TYPE_CHECKING:
    from serving.newest_engine import FolderEngines


def find_model(path: str) -> str:
    """Finds the newest exported model under a folder.

    Args:
      path: a run's output folder, its serving folder, or one version in it.

    Raises:
      DataError: there is no such folder, or no model in it.
    """
    folder = Path(path)
    if not os.path.isdir(folder):  # unlike Path's method, it accepts a name that is too long
        raise DataError(f"{path} must be a folder with an exported model, but there is no such folder.")
    for serving in (folder, folder / SERVING):
        if (serving / GRAPH_FILE).is_file():
            return str(serving)
        if serving.is_dir():
            names = [entry.name for entry in serving.iterdir() if (entry / GRAPH_FILE).is_file()]
            if version := newest_version(names):
                return str(serving / version)
    raise DataError(f"no exported model under {path}; run `clir run` first, and see why the gate refused its model.")


class IndexPlace(NamedTuple):
    """Places of models and their index."""

    newest_model: str
    """Folder of the newest version, or of the one that was named."""
    models: str
    """Folder of the versions, or the one that was named."""
    index_folder: str
    """Folder of the index's versions; it may be missing."""
    config: Path
    """Configuration of the run that made the model; it may be missing."""

    def data_settings(self) -> dict[str, Any]:
        """The section `data` of that configuration; empty where there is none."""
        content = read_settings_file(str(self.config), RunConfig)[0] if self.config.is_file() else {}
        data = content.get("data")
        return data if isinstance(data, dict) else {}


def index_place(model: str, index: str | None) -> IndexPlace:
    """Finds the models under a folder, and their index.

    Args:
      model: a run's output folder, its serving folder, or one version in it.
      index: the index's folder as the user gave it; None for the one in the run's output.

    Raises:
      DataError: there is no such folder, or no model in it.
    """
    newest = find_model(model)
    models = newest if os.path.samefile(newest, model) else str(Path(newest).parent)
    output = Path(newest).absolute().parent.parent
    return IndexPlace(newest, models, index or str(output / INDEX), output / CONFIG_FILE)


def engines_of(place: IndexPlace, model: str) -> tuple["FolderEngines", str]:
    """The engines of the index at a place, and the newest version, for `load`.

    Args:
      place: the place.
      model: the model's folder as the user gave it.

    Raises:
      DataError: there is no index.
    """
    from serving.newest_engine import FolderEngines

    engines = FolderEngines(place.models, place.index_folder)
    if (newest := engines.newest()) is None:
        raise DataError(f"there is no index in {place.index_folder}; make one first: clir index {for_shell(model)}")
    return engines, newest
