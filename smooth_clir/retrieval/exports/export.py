"""Writes the documents of an index for another engine, into a folder that appears whole."""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

from models.exported.model import LoadedModel
from schemas.passages import readable_id
from smooth_clir.retrieval.corpus_index import CorpusIndex
from smooth_clir.retrieval.exports.json_lines import OPENSEARCH, VESPA, query_parts, write_json, write_json_lines
from smooth_clir.retrieval.segment import EncodedDocument

FILE_DOCUMENTS: Final = 1 << 16
_ROW_GROUP: Final = 1 << 12


def write_parquet(
    index: CorpusIndex, folder: Path, model: LoadedModel, query: str | None, on_progress: Callable[[int], None]
) -> list[str]:
    """Writes `documents-00000.parquet` and the files after it; see `docs/search.md`."""
    import pyarrow as pa  # Other exports do without it.
    import pyarrow.parquet as pq

    schema = pa.schema(
        [
            ("id", pa.string()),
            ("title", pa.string()),
            ("text", pa.string()),
            ("vector", pa.list_(pa.float32(), index.manifest.dimension)),
            ("terms", pa.list_(pa.string())),
            ("weights", pa.list_(pa.float32())),
        ],
        metadata={"clir.model": index.manifest.model},
    )
    documents = index.encoded_documents()
    done = 0
    for number in range(max(1, -(-len(index) // FILE_DOCUMENTS))):
        with pq.ParquetWriter(folder / f"documents-{number:05}.parquet", schema) as writer:
            for batch in _batches(islice(documents, FILE_DOCUMENTS)):
                writer.write_table(pa.Table.from_pylist(_rows(batch), schema=schema))
                done += len(batch)
                on_progress(done)
    if query is not None:
        vector, words = query_parts(model.encode_query(query))
        write_json(folder / "query.json", {"vector": vector, "words": words})
    return []


def _batches(documents: Iterator[EncodedDocument]) -> Iterator[list[EncodedDocument]]:
    while batch := list(islice(documents, _ROW_GROUP)):
        yield batch


def _rows(batch: list[EncodedDocument]) -> list[dict[str, Any]]:
    return [
        {
            "id": readable_id(document.text.id),
            "title": document.text.title,
            "text": document.text.text,
            "vector": document.vector,
            "terms": [term.decode() for term in document.terms],
            "weights": document.weights,
        }
        for document in batch
    ]


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
      DataError: the engine refuses a document.
      OSError: the folder is not empty, or cannot be written.
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
