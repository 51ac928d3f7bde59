"""A ranker: the exported model of a run, and the index of its collection."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.exported.model import LoadedModel
from pipeline.config import RunConfig
from pipeline.config_file import load_config
from pipeline.conversion.convert import RUN_FOLDER
from pipeline.conversion.inputs import ConversionSettings
from pipeline.layout import CONFIG_FILE
from pipeline.output_folder import run_lock
from pipeline.quiet import quiet_at_most_here
from schemas.errors import DataError
from schemas.languages import codes_of, joined_codes
from schemas.wikiclir import Text
from smooth_clir.cli.imports import check_extra, heavy_imports
from smooth_clir.cli.model_folder import IndexLocation, find_index, index_updater
from smooth_clir.cli.run import checked_run
from smooth_clir.cli.terminal import StageView
from smooth_clir.collection_files import Judgments, Pairs, Texts, convert_content, texts_of
from smooth_clir.retrieval.answers import Hit
from smooth_clir.retrieval.document_ranker import DocumentRanker, RankedDocument

if TYPE_CHECKING:
    from smooth_clir.retrieval.engine import Engine
    from smooth_clir.retrieval.update_index import IndexUpdate, IndexUpdater


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

    @classmethod
    def train(
        cls,
        queries: Texts | None = None,
        documents: Texts | None = None,
        judgments: Judgments | None = None,
        *,
        pairs: Pairs | None = None,
        query_language: str | Sequence[str],
        document_language: str | Sequence[str],
        output: str,
        settings: Mapping[str, Any] | None = None,
        columns: Mapping[str, Sequence[str]] | None = None,
        scale: Sequence[float] | None = None,
    ) -> "Ranker":
        """Trains a model and indexes its documents: `clir convert`, then `clir run`, with their progress on stderr.

        The converted files and their `config.yaml` are written to `output`, the run to `output/run`. What has not
        changed since an earlier call comes from the cache.

        Args:
          queries, documents: id to text; (id, text), (id, title, text) or a dictionary of each; a DataFrame; or the
            path of a file.
          judgments: query id to document id to grade, or (query_id, doc_id, grade) of each, or as for queries.
          pairs: instead of these three, (query, document) of each, such as translations, or as for queries; or the
            paths of two aligned files.
          query_language, document_language: ISO 639-1 codes; for several of a side a list, and each text has a key or
            a column `lang`.
          output: a folder that is new, empty, or of an earlier call.
          settings: setting to value, such as {"training.epochs": 3}: docs/settings.md.
          columns: column to its names in tables and files, where they are no usual ones: {"text": ["body"]}.
          scale: the lowest judgment of grade 1, of grade 2, and so on; None where judgments are grades.

        Returns:
          the ranker of the pushed model.

        Raises:
          ConfigError: a setting, a language, or the combination of arguments is wrong: all faults.
          DataError: the data cannot be used, the gate refuses the model, or a package is missing.

        Example:
          pairs = [("a wolf", "un loup"), ("the sun", "le soleil"), ...]
          Ranker.train(pairs=pairs, query_language="en", document_language="fr", output="runs/fr").search("moon")
        """
        check_extra("pipeline")
        queries_in, documents_in = (
            joined_codes(codes_of(language) if isinstance(language, str) else language)
            for language in (query_language, document_language)
        )
        own = ConversionSettings(
            queries_in, documents_in, columns=columns or {}, scale=None if scale is None else tuple(scale)
        )
        roles: dict[str, Any] = {"queries": queries, "documents": documents, "judgments": judgments, "pairs": pairs}
        convert_content({role: content for role, content in roles.items() if content is not None}, own, output)
        values = {"search.index": True, **(settings or {})}
        overrides = [f"{name}={json.dumps(value)}" for name, value in values.items()]
        _run(load_config(os.path.join(output, CONFIG_FILE), overrides, origin="settings"))
        return cls.load(os.path.join(output, RUN_FOLDER))

    def search(self, query: str, top: int = 10, where: str | None = None) -> tuple[Hit, ...]:
        """Finds the best documents of the collection, best first; none if the model knows no word of the query.

        Args:
          query: a text.
          top: largest number of documents.
          where: a filter by the documents' fields, such as "lang=es,year>=2020".

        Raises:
          ConfigError: the filter is wrong for this index.
          DataError: the index is missing or damaged, or its model or the extra `search` is missing.
        """
        return self._engine.search(query, top, with_snippets=False, with_texts=True, where=where).results

    def rank(self, query: str, documents: Texts, top: int = 10, explain: bool = False) -> list[RankedDocument]:
        """Ranks documents for a query, best first; none if the model knows no word of the query.

        Args:
          query: a text.
          documents: id to text; (id, text), (id, title, text) or a dictionary of each; a DataFrame; or the path of a
            file.
          top: largest number of documents.
          explain: whether to add the parts of their scores: channels, and words that match.
        """
        return self.document_ranker(documents).rank(query, top, explain)

    def document_ranker(self, documents: Texts, feedback: float | None = None) -> DocumentRanker:
        """Returns a ranker of these documents, which are encoded once for all queries.

        Args:
          documents: see `rank`.
          feedback: gain of the second pass, see `models.lists.feedback`; None for the model's own, 0 for no second
            pass.

        Raises:
          DataError: the file cannot be read, or the model has no words that match, which a second pass needs.
        """
        return DocumentRanker(self, texts_of("documents", documents), feedback)

    def add(self, documents: Texts) -> "IndexUpdate":
        """Adds documents to the index, or replaces those with the same ids; a running service takes the new version.

        Args:
          documents: see `rank`. If the index has fields, give dictionaries, a table or a file that names them.

        Raises:
          DataError: the index is missing or damaged, another model made it, or another process changes it.
        """
        updater = self._updater()
        return self._change(updater, texts_of("documents", documents, updater.fields), ())

    def remove(self, doc_ids: Iterable[str]) -> "IndexUpdate":
        """Removes documents from the index; ids that it does not hold are counted. Raises as `add` does."""
        return self._change(self._updater(), (), doc_ids)

    def _updater(self) -> "IndexUpdater":
        check_extra("search")
        return index_updater(self._location, lambda encoded: None)

    def _change(self, updater: "IndexUpdater", documents: Iterable[Text], doc_ids: Iterable[str]) -> "IndexUpdate":
        update = updater.change(documents, doc_ids)
        self.__dict__.pop("_engine", None)
        return update

    @cached_property
    def _engine(self) -> "Engine":
        check_extra("search")
        from smooth_clir.retrieval.folder_engines import FolderEngines

        engines = FolderEngines(self._location.models, self._location.index_folder)
        newest = engines.newest()
        if newest is None:
            location = self._location
            raise DataError(f"No index found in {location.index_folder}. Make one with `{location.command}`.")
        return engines.load(newest)


def _run(config: RunConfig) -> None:
    """Runs the whole pipeline, and shows its stages on stderr."""
    settings = checked_run(config)
    with quiet_at_most_here(), run_lock(Path(settings.output)), StageView() as view:
        view.start(0, 0, "loading TFX")
        with heavy_imports():
            from pipeline.local_runner import run_locally

        result = run_locally(settings, view.start, view.end)
    if result.pushed is None:
        raise DataError(f"the model was not pushed: {result.verdict.reason}.")
