"""Engines from the folders that runs and `clir index` write."""

import os
from collections.abc import Callable
from typing import Final

from components.index_pusher.index_versions import IndexVersions
from models.corpus_index.corpus_index import CorpusIndex, read_manifest
from models.model_fingerprint import model_fingerprint
from schemas.errors import DataError
from schemas.index_manifest import MANIFEST_FILE
from schemas.served_versions import served_versions
from serving.engine import Engine, Languages
from serving.served_model import LocalModel, ServedModel

_MODEL_FILE: Final = "saved_model.pb"


class FolderEngines:
    """An `EngineSource` of folders: the newest version of an index, with the model that made it.

    Args:
      models: a serving folder, or one version in it.
      index: the folder of an index's versions, or one version in it.
      connect: makes the model of a version's number, where it is not to be loaded here.
      languages: of queries and documents, if they are known.
    """

    def __init__(
        self,
        models: str,
        index: str,
        connect: Callable[[str], ServedModel] | None = None,
        languages: Languages | None = None,
    ) -> None:
        self._models, self._index = models, index
        self._connect, self._languages = connect, languages
        self._fingerprints = dict[str, str]()

    def newest(self) -> str | None:
        """The number of the newest version of the index."""
        if os.path.isfile(os.path.join(self._index, MANIFEST_FILE)):
            return os.path.basename(os.path.abspath(self._index))
        newest = IndexVersions(self._index).newest()
        return None if newest is None else newest.name

    def load(self, name: str) -> Engine:
        """The engine of a version of the index.

        Raises:
          DataError: the index is damaged, or there is no model that made it.
        """
        path = os.path.join(self._index, name)
        folder = path if os.path.isdir(path) else self._index
        model = self._model_of(read_manifest(folder).model, folder)
        served = self._connect(os.path.basename(model)) if self._connect else LocalModel(model)
        return Engine(served, CorpusIndex(folder), name, self._languages)

    def _model_of(self, fingerprint: str, index: str) -> str:
        """The folder of the model that made an index, the newest of equal ones."""
        folders = self._versions()
        for folder in folders:
            if folder not in self._fingerprints:
                self._fingerprints[folder] = model_fingerprint(folder)
            if self._fingerprints[folder] == fingerprint:
                return folder
        raise DataError(
            f"{index} must be the index of a model in {self._models}; it is of none of these: "
            f"{', '.join(map(os.path.basename, folders)) or 'there is none'}. Make it anew with `clir index`."
        )

    def _versions(self) -> list[str]:
        if os.path.isfile(os.path.join(self._models, _MODEL_FILE)):
            return [os.path.abspath(self._models)]
        return [os.path.join(self._models, one) for one in reversed(served_versions(os.listdir(self._models)))]
