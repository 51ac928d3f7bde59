"""Finds the versions of an index, on disk or in Milvus, each with the model that made it."""

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from models.exported.model import ExportedModel, LoadedModel
from models.exported.versions import checked_fingerprint, model_fingerprint
from schemas.errors import DataError
from schemas.index_manifest import MANIFEST_FILE
from schemas.served_versions import GRAPH_FILE, read_example_queries, served_versions
from smooth_clir.retrieval.corpus_index import CorpusIndex
from smooth_clir.retrieval.engine import Engine, Languages
from smooth_clir.retrieval.index_files import read_manifest
from smooth_clir.retrieval.index_versions import IndexVersions
from smooth_clir.retrieval.milvus import SECONDS, Milvus
from smooth_clir.retrieval.milvus_index import MilvusIndex
from smooth_clir.retrieval.milvus_settings import MilvusAddress
from smooth_clir.retrieval.search_index import SearchIndex


class FolderEngines:
    """Loads engines of an index that a run or `clir index` wrote: each version, with the model that made it.

    Args:
      models: a serving folder, or a version in it.
      index: the folder of an index's versions, or a version in it; or an address in Milvus.
      connect: makes the model of a version's number, if the model runs elsewhere.
      languages: languages of queries and documents, if known.
      seconds: timeout of a call of Milvus.
      gain: gain of the second pass, see `Engine`.
    """

    def __init__(
        self,
        models: str,
        index: str,
        connect: Callable[[str], ExportedModel] | None = None,
        languages: Languages | None = None,
        seconds: int = SECONDS,
        gain: float | None = None,
    ) -> None:
        self._models = models
        self._indexes: _Folder | _InMilvus = (
            _InMilvus(MilvusAddress.parse(index), seconds) if MilvusAddress.is_address(index) else _Folder(index)
        )
        self._connect, self._languages, self._gain = connect, languages, gain
        self._fingerprints = dict[tuple[str, int, int], str]()

    def newest(self) -> str | None:
        """Returns the newest version of the index, for `load`; None without a version.

        Raises:
          DataError: the index is in Milvus, and Milvus does not answer, or holds something else under this name.
        """
        return self._indexes.newest()

    def load(self, version: str) -> Engine:
        """Loads a version of the index, as `newest` names it, and its model.

        Raises:
          DataError: the index is damaged, or was replaced meanwhile; the model that made it is missing; or the model's
            example queries are damaged.
        """
        index, model = self._open(version)
        examples = read_example_queries(model)  # may fail, so before a connection is open
        served = self._connect(os.path.basename(model)) if self._connect else LoadedModel(model)
        return Engine(served, index, version.partition("@")[0], self._languages, examples, self._gain)

    def load_pair(self, version: str) -> tuple[CorpusIndex, LoadedModel]:
        """Loads a version of an index on disk and its model, without an engine.

        Raises:
          DataError: as in `load`; or the index is in Milvus.
        """
        index, model = self._open(version)
        if not isinstance(index, CorpusIndex):
            raise DataError(f"{self._indexes.location(version)} must be an index on disk; give its folder by --index.")
        return index, LoadedModel(model)

    def _open(self, version: str) -> tuple[SearchIndex, str]:
        """Returns the index, and the folder of its model."""
        index = self._indexes.open(version)
        return index, self._model_of(index.model, self._indexes.location(version))

    def _model_of(self, fingerprint: str, index: str) -> str:
        """Returns the folder of the newest model with this fingerprint.

        Raises:
          DataError: there is no such model; the message names a damaged model.
        """
        folders = self._versions()
        for folder in folders:
            if not os.path.isfile(path := os.path.join(folder, GRAPH_FILE)):
                continue
            graph = os.stat(path)
            written = (folder, graph.st_mtime_ns, graph.st_size)
            if written not in self._fingerprints:
                self._fingerprints[written] = model_fingerprint(folder)
            if self._fingerprints[written] == fingerprint:
                return folder
        for folder in folders:
            checked_fingerprint(folder)  # raises for a damaged model
        versions = ", ".join(map(os.path.basename, folders)) or "none"
        raise DataError(
            f"No model in {self._models} (versions: {versions}) made {index}. Make the index again with `clir index`."
        )

    def _versions(self) -> list[str]:
        if os.path.isfile(os.path.join(self._models, GRAPH_FILE)):
            return [os.path.abspath(self._models)]
        return [os.path.join(self._models, name) for name in reversed(served_versions(os.listdir(self._models)))]


class _Folder:
    """The versions of an index on disk.

    Args:
      folder: the folder of the versions, or one version.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def newest(self) -> str | None:
        """Returns the newest version: its number and its content's identity, `NUMBER@IDENTITY`.

        The number alone is not enough: an index that was removed and made again has the same number.
        """
        if os.path.isfile(os.path.join(self._folder, MANIFEST_FILE)):
            folder = os.path.abspath(self._folder)
        else:
            newest = IndexVersions(self._folder).newest()
            if newest is None:
                return None
            folder = str(newest)
        try:
            identity = read_manifest(folder).identity
        except DataError:
            identity = ""  # `open` says why
        return f"{os.path.basename(folder)}@{identity}"

    def open(self, version: str) -> CorpusIndex:
        """Opens a version.

        Raises:
          DataError: the version is damaged, or was replaced meanwhile.
        """
        folder = self.location(version)
        try:
            index = CorpusIndex(folder)
        except DataError as error:
            versions = IndexVersions(Path(folder).absolute().parent)
            raise DataError(f"{error} {versions.way_back(Path(folder))}") from None
        if index.identity != version.partition("@")[2]:
            raise DataError(f"{folder} changed while it was loaded. It is loaded again once it stays the same.")
        return index

    def location(self, version: str) -> str:
        path = os.path.join(self._folder, version.partition("@")[0])
        return path if os.path.isdir(path) else self._folder


class _InMilvus:
    """The versions of an index in Milvus.

    Args:
      address: the server, and the index's name.
      seconds: timeout of a call.
    """

    def __init__(self, address: MilvusAddress, seconds: int) -> None:
        self._address, self._seconds = address, seconds

    @cached_property
    def _milvus(self) -> Milvus:
        return Milvus(self._address, self._seconds)

    def newest(self) -> str | None:
        """Returns the newest version, `NUMBER@COLLECTION`; the collection's name changes with its content.

        Raises:
          DataError: Milvus does not answer, or holds something else under this name.
        """
        collection = self._milvus.newest()
        return f"{self._milvus.version(collection).number}@{collection}" if collection else None

    def open(self, version: str) -> MilvusIndex:
        """Opens a version.

        Raises:
          DataError: Milvus does not answer, or the collection is not a whole index.
        """
        return MilvusIndex(self._milvus, version.partition("@")[2])

    def location(self, version: str) -> str:
        return f"{version.partition('@')[2]} in {self._address}"
