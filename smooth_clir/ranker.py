"""A ranker: the exported model of a run, and the index of its collection."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from models.exported.model import LoadedModel
from schemas.errors import DataError
from schemas.wikiclir import Text
from smooth_clir.cli.documents import read_documents
from smooth_clir.cli.model_folder import IndexLocation, find_index
from smooth_clir.retrieval.answers import Hit
from smooth_clir.retrieval.document_ranker import DocumentRanker
from smooth_clir.retrieval.engine import Engine
from smooth_clir.retrieval.folder_engines import FolderEngines


class Ranker(LoadedModel):
    """An exported model that scores, ranks, encodes and explains, and searches its collection's index.

    Made by `Ranker.load`. It can be pickled for other processes that see its folders. Scores, vectors, explanations and
    translations are those of `models.exported.model.ExportedModel`.
    """

    def __init__(self, location: IndexLocation) -> None:
        super().__init__(location.newest_model)
        self._location = location

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the folders; the process that unpickles it loads the same version from there."""
        attributes = {name: value for name, value in vars(self).items() if name in ("encoder", "retries", "timeout_s")}
        return type(self), (self._location,), attributes

    @classmethod
    def load(cls, path: str, index: str | None = None) -> "Ranker":
        """Loads the newest model under a folder.

        Args:
          path: a run's output folder, its serving folder, or a version in it.
          index: folder of the index's versions; None for the run's own.

        Raises:
          DataError: the model is missing or damaged.
        """
        return cls(find_index(path, index))

    def search(self, query: str, top: int = 10) -> tuple[Hit, ...]:
        """Finds the best documents of the collection, best first; none if the model knows no word of the query.

        Args:
          query: a text.
          top: largest number of documents.

        Raises:
          DataError: the index is missing or damaged, or its model is missing.
        """
        return self._engine.search(query, top, with_snippets=False, with_texts=True).results

    def document_ranker(self, documents: str | Sequence[Text], feedback: float | None = None) -> DocumentRanker:
        """Returns a ranker of these documents, which are encoded once for all queries.

        Args:
          documents: the documents, or the path of their file, in any form of docs/formats.md.
          feedback: gain of the second pass, see `models.lists.feedback`; None for the model's own, 0 for no second
            pass.

        Raises:
          DataError: the file cannot be read, or the model has no words that match, which a second pass needs.
        """
        return DocumentRanker(self, read_documents(documents)[0] if isinstance(documents, str) else documents, feedback)

    @cached_property
    def _engine(self) -> Engine:
        engines = FolderEngines(self._location.models, self._location.index_folder)
        newest = engines.newest()
        if newest is None:
            location = self._location
            raise DataError(f"No index found in {location.index_folder}. Make one with `{location.command}`.")
        return engines.load(newest)
