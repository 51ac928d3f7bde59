"""Writes the documents of an index for another engine: into a folder that appears whole."""

import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from models.exported.model import LoadedModel
from smooth_clir.retrieval.corpus_index import CorpusIndex
from smooth_clir.retrieval.exports.json_lines import OPENSEARCH, VESPA, write_json_lines
from smooth_clir.retrieval.exports.parquet import write_parquet

Export = Callable[[CorpusIndex, Path, LoadedModel, str | None, Callable[[int], None]], list[str]]
"""Writes an index into a folder, with an example of a query or None, and reports the number of documents written."""

ENGINES: Final[Mapping[str, Export]] = {
    "vespa": partial(write_json_lines, VESPA),
    "opensearch": partial(write_json_lines, OPENSEARCH),
    "parquet": write_parquet,
}
"""Each engine's function, which returns remarks for the user."""


def export_index(
    index: CorpusIndex,
    model: LoadedModel,
    engine: str,
    output: str,
    query: str | None,
    on_progress: Callable[[int], None] = lambda documents: None,
) -> list[str]:
    """Writes the documents of an index for another engine.

    Args:
      index: the index.
      model: the model that made it; it encodes the query.
      engine: one of `ENGINES`.
      output: a new or empty folder.
      query: a text for an example of a query.
      on_progress: called repeatedly with the number of documents written so far.

    Returns:
      remarks for the user.

    Raises:
      DataError: a document cannot be given to this engine.
      OSError: the folder holds something, or cannot be written.
    """
    target = Path(output).resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as staging:
        folder = Path(staging) / "export"
        folder.mkdir()
        remarks = ENGINES[engine](index, folder, model, query, on_progress)
        if model.feedback.gain:
            remarks.append("the score is that of the first pass; other engines do not run the model's second pass")
        folder.rename(target)
    return remarks
