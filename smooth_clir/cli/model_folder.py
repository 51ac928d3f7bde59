"""Finds exported models and their index in the folders that a run writes."""

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pydantic

from pipeline.config import RunConfig
from pipeline.layout import CONFIG_FILE, INDEX, MILVUS, SERVING
from pipeline.output_path import name_fault
from pipeline.settings_file import describe_fault, read_settings_file
from schemas.errors import ConfigError, DataError
from schemas.served_versions import GRAPH_FILE, newest_version
from smooth_clir.cli.terminal import for_shell, program
from smooth_clir.retrieval.milvus_settings import MilvusAddress, MilvusSettings

if TYPE_CHECKING:
    from smooth_clir.retrieval.folder_engines import FolderEngines
    from smooth_clir.retrieval.update_index import IndexUpdater


def find_model(path: str) -> str:
    """Finds the newest exported model under a folder.

    Args:
      path: a run's output folder, its serving folder, or a version in it.

    Raises:
      DataError: the folder does not exist, or has no model.
    """
    folder = Path(path)
    if not os.path.isdir(folder):  # unlike Path's method, it accepts a name that is too long
        raise DataError(f"{path} must be a folder with an exported model; it does not exist.")
    for serving in (folder, folder / SERVING):
        if (serving / GRAPH_FILE).is_file():
            return str(serving)
        if serving.is_dir():
            names = [entry.name for entry in serving.iterdir() if (entry / GRAPH_FILE).is_file()]
            if version := newest_version(names):
                return str(serving / version)
    raise DataError(f"No exported model found in {path}. Run `clir run` first, or see why the gate refused its model.")


class IndexLocation(NamedTuple):
    """The folders of models and their index."""

    newest_model: str
    """Folder of the newest or of the named version."""
    models: str
    """Folder of the versions, or of the named version."""
    index_folder: str
    """Folder of the index's versions, which Milvus gets, too; it may be missing."""
    milvus: MilvusSettings | None
    """The index's settings in Milvus, if it is searched there."""
    config: Path
    """Configuration of the run that made the model; it may be missing."""
    command: str
    """The command that makes the index."""

    @property
    def searched(self) -> str:
        """The folder of the searched index, or its address in Milvus."""
        return str(self.milvus.address) if self.milvus else self.index_folder

    @property
    def run_index(self) -> str:
        """Folder of the index's versions that the run makes; it may be missing."""
        return str(self.config.parent / INDEX)

    def settings(self, section: str) -> dict[str, Any]:
        """Returns a section of the run's configuration; empty if it is missing."""
        return _section(self.config, section)


def find_index(model: str, index: str | None) -> IndexLocation:
    """Finds the models under a folder, and their index.

    Args:
      model: a run's output folder, its serving folder, or a version in it.
      index: the index's folder, or its address in Milvus, from the command line; None for the run's.

    Raises:
      DataError: the folder does not exist, or has no model; or the address, or the run's configuration, is wrong.
    """
    is_folder = index is not None and not MilvusAddress.is_address(index)
    if index is not None and is_folder and (fault := name_fault(index, "folder")):
        raise DataError(f"--index: {fault}")
    newest = find_model(model)
    models = newest if os.path.samefile(newest, model) else str(Path(newest).parent)
    output = Path(newest).absolute().parent.parent
    config = output / CONFIG_FILE
    milvus = _milvus_settings(config, index) if not is_folder else None
    folder = str(_folder_of(output, config, milvus)) if index is None or milvus else index
    # An address is not a path, so it is not shortened.
    shown_index = shlex.quote(str(milvus.address)) if milvus else for_shell(folder)
    command = f"{program()} index {for_shell(model)}" + (f" --index {shown_index}" if index else "")
    return IndexLocation(newest, models, folder, milvus, config, command)


def _folder_of(output: Path, config: Path, milvus: MilvusSettings | None) -> Path:
    """Returns the index's folder in a run's output; an address in Milvus that the run does not name has its own."""
    if milvus is None or milvus == _milvus_settings(config, None):
        return output / INDEX
    address = MilvusAddress.parse(milvus.address or "")
    return output / MILVUS / address.server / address.name


def _section(config: Path, name: str) -> dict[str, Any]:
    content = read_settings_file(str(config), RunConfig)[0] if config.is_file() else {}
    section = content.get(name)
    return section if isinstance(section, dict) else {}


def _milvus_settings(config: Path, index: str | None) -> MilvusSettings | None:
    """Returns the settings of Milvus from the user or the run's configuration; None for an index on disk."""
    search = _section(config, "search")
    if index is None and search.get("engine") != "milvus":
        return None
    milvus = search.get("milvus")
    settings = dict(milvus) if isinstance(milvus, dict) else {}
    if index is not None:
        try:
            settings["address"] = str(MilvusAddress.parse(index))
        except ValueError as error:
            raise DataError(f"--index: {error}.") from None
    try:
        return MilvusSettings(**settings)
    except pydantic.ValidationError as error:
        source = f"{config}: search.milvus"
        raise ConfigError([describe_fault(fault, {}, source, MilvusSettings) for fault in error.errors()]) from None


def engines_of(location: IndexLocation, gain: float | None = None) -> tuple["FolderEngines", str]:
    """Returns the engines of an index, and its newest version, for `load`.

    Args:
      location: see `find_index`.
      gain: gain of the second pass; None for the model's own, 0 for no second pass.

    Raises:
      DataError: the index is missing.
    """
    from smooth_clir.retrieval.folder_engines import FolderEngines

    engines = FolderEngines(location.models, location.searched, gain=gain)
    if (newest := engines.newest()) is None:
        raise DataError(f"No index found in {location.searched}. Make one with `{location.command}`.")
    return engines, newest


def index_updater(location: IndexLocation, report: Callable[[int], None]) -> "IndexUpdater":
    """Returns what changes an index; its folder first gets the newest version that it lacks and Milvus needs.

    Args:
      location: see `find_index`.
      report: called with the number of documents encoded so far.
    """
    from smooth_clir.retrieval.index_versions import IndexVersions, copy_newest
    from smooth_clir.retrieval.milvus_versions import MilvusVersions
    from smooth_clir.retrieval.update_index import IndexUpdater

    versions = IndexVersions(location.index_folder)
    if location.milvus:
        copy_newest(IndexVersions(location.run_index), versions)
    milvus = MilvusVersions(location.milvus) if location.milvus else None
    return IndexUpdater(location.newest_model, versions, report, milvus=milvus)
