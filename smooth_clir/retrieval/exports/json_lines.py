"""Exports for Vespa and OpenSearch: files of JSON lines, and a request whose score is the model's."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from string import Template
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from models.exported.model import EncodedQuery, LoadedModel
from schemas.errors import DataError
from schemas.index_manifest import IndexManifest
from schemas.passages import readable_id
from schemas.wikiclir import Text
from smooth_clir.retrieval.corpus_index import CorpusIndex
from smooth_clir.retrieval.search_index import DEPTH

PART_BYTES: Final = 32 << 20
"""Bytes after which a file ends: a third of OpenSearch's largest request."""
MAX_ID_BYTES: Final = 512
"""OpenSearch's limit."""
WEIGHT_UNIT: Final = 100_000
"""Scales the weights of Vespa's `wand`, which brings the words' candidates by whole weights; scores use exact ones."""
_LAST_TWO: Final = "".join(chr(plane << 16 | last) for plane in range(1, 17) for last in (0xFFFE, 0xFFFF))
_VESPA_REFUSES: Final = re.compile(f"[^\t\n\r\u0020-\ufdcf\ufde0-\ufffd\U00010000-\U0010ffff]|[{_LAST_TWO}]")
"""The characters that no string of Vespa may hold: controls and noncharacters."""
_VESPA_APPLICATION: Final = Path(__file__).with_name("vespa")
"""The application package; its schema has `$model`, `$dimension` and `$unit`."""


class JsonLinesEngine(NamedTuple):
    """The form in which an engine takes documents and queries."""

    name: str
    clean: Callable[[str], str]
    """Replaces the characters of a title or a text that the engine refuses."""
    files: Callable[[IndexManifest], Mapping[str, str]]
    """The files that set up the engine: each path below the folder, to its content."""
    records: Callable[[Text, list[float], dict[str, float]], Sequence[Any]]
    """The lines of a document with its vector and its weighted terms; a DataError for a refused id."""
    query: Callable[[Any, Any, Any], Any]
    """The request for a vector or None, weighted terms, and an upper bound of the product of the query's vector and any
    document's; each may be a placeholder text."""


def _vespa_files(manifest: IndexManifest) -> dict[str, str]:
    values = {"model": manifest.model, "dimension": manifest.dimension, "unit": WEIGHT_UNIT}
    texts = {path: (_VESPA_APPLICATION / path).read_text("utf-8") for path in ("services.xml", "schemas/clir.sd")}
    return {f"application/{path}": Template(text).substitute(values) for path, text in texts.items()}


def _vespa_records(text: Text, vector: list[float], words: dict[str, float]) -> list[Any]:
    if _VESPA_REFUSES.search(text.id):
        raise DataError(f"an id must hold no control character for Vespa; got {text.id[:40]!r}.")
    content = {"doc_id": text.id, "title": text.title, "text": text.text}
    channels = {"vector": {"values": vector}, "words": {"cells": words}, "terms": _whole(words)}
    return [{"put": f"id:clir:clir::{text.id}", "fields": content | channels}]


def _whole(words: dict[str, float]) -> dict[str, int]:
    return {term: max(1, round(weight * WEIGHT_UNIT)) for term, weight in words.items()}


def _vespa_query(vector: Any, words: Any, _offset: Any) -> dict[str, Any]:
    """Returns a request to `/search/`; a channel without a value brings no candidates."""
    whole = f"WORDS TIMES {WEIGHT_UNIT}, ROUNDED, AT LEAST 1"
    terms = json.dumps(_whole(words), ensure_ascii=False) if isinstance(words, dict) else whole
    channels = [f"({{targetHits: {DEPTH}}}nearestNeighbor(vector, vector))"] if vector else []
    channels += [f"({{targetHits: {DEPTH}}}wand(terms, {terms}))"] if words else []
    inputs = {"input.query(vector)": vector, "input.query(words)": words}
    return {
        "yql": f"select doc_id, title from clir where {' or '.join(channels) or 'false'}",
        "ranking": "score",
        "hits": 10,
        **{name: value for name, value in inputs.items() if value},
    }


def _opensearch_files(manifest: IndexManifest) -> dict[str, str]:
    method = {"name": "hnsw", "engine": "faiss"}
    dimension = {"dimension": manifest.dimension, "space_type": "innerproduct", "method": method}
    stored = {"type": "text", "index": False}
    vector, words = {"type": "knn_vector", **dimension}, {"type": "rank_features"}
    fields = {"title": stored, "text": stored, "vector": vector, "words": words}
    mappings = {"_meta": {"model": manifest.model}, "dynamic": "strict", "properties": fields}
    return {"index.json": _indented({"settings": {"index": {"knn": True}}, "mappings": mappings})}


def _opensearch_records(text: Text, vector: list[float], words: dict[str, float]) -> list[Any]:
    if (size := len(text.id.encode())) > MAX_ID_BYTES:
        raise DataError(f"an id must have at most {MAX_ID_BYTES} bytes for OpenSearch; {text.id[:40]!r}… has {size}.")
    # Leaves out the zero vector, which Lucene and Faiss refuse; its part of the score is 0.
    channels: dict[str, Any] = ({"vector": vector} if any(vector) else {}) | ({"words": words} if words else {})
    return [{"index": {"_id": text.id}}, {"title": text.title, "text": text.text, **channels}]


def _opensearch_query(vector: Any, words: Any, offset: Any) -> dict[str, Any]:
    """Returns a request to `_search`; a channel without a value brings no candidates.

    OpenSearch's own score of vectors is a function of the inner product, so a script adds the product itself. A script
    must not give a score below 0, hence the offset.
    """
    channels: list[dict[str, Any]] = []
    script: dict[str, Any] = {"source": "_score"}
    if vector:
        nearest = {"knn": {"vector": {"vector": vector, "k": DEPTH}}}
        channels.append({"constant_score": {"filter": nearest, "boost": 0}})
        source = "params.offset + _score + (doc['vector'].size() == 0 ? 0 : innerProduct(params.vector, doc['vector']))"
        script = {"source": source, "params": {"vector": vector, "offset": offset}}
    if words:
        channels.append({"neural_sparse": {"words": {"query_tokens": words}}})
    query = {"bool": {"should": channels}} if channels else {"match_none": {}}
    return {"size": 10, "_source": ["title"], "query": {"script_score": {"query": query, "script": script}}}


VESPA: Final = JsonLinesEngine(
    "Vespa", partial(_VESPA_REFUSES.sub, "\ufffd"), _vespa_files, _vespa_records, _vespa_query
)
OPENSEARCH: Final = JsonLinesEngine("OpenSearch", str, _opensearch_files, _opensearch_records, _opensearch_query)


def write_json_lines(
    engine: JsonLinesEngine,
    index: CorpusIndex,
    folder: Path,
    model: LoadedModel,
    query: str | None,
    on_progress: Callable[[int], None],
) -> list[str]:
    """Writes the files that set up an engine, the documents in its bulk form, and the query; see `docs/search.md`.

    Raises:
      DataError: the engine refuses an id.
    """
    for path, content in engine.files(index.manifest).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    longest, changed = 0.0, 0

    def documents() -> Iterator[Sequence[Any]]:
        nonlocal longest, changed
        for number, document in enumerate(index.encoded_documents(), 1):
            title, body = engine.clean(document.text.title), engine.clean(document.text.text)
            text = document.text._replace(id=readable_id(document.text.id), title=title, text=body)
            changed += (title, body) != (document.text.title, document.text.text)
            longest = max(longest, float(np.linalg.norm(document.vector)))
            yield engine.records(text, numbers(document.vector), term_weights(document.terms, document.weights))
            on_progress(number)

    write_parts(folder, documents())
    offset: float | str = f"LENGTH OF VECTOR, TIMES {longest:.6g}"
    write_json(folder / "query_template.json", engine.query("VECTOR", "WORDS", offset))
    if query is not None:
        encoded = model.encode_query(query)
        vector, words = query_parts(encoded)
        offset = longest * float(np.linalg.norm(encoded.vector))
        write_json(folder / "query.json", engine.query(vector if any(vector) else None, words, offset))
    return [f"documents with characters that {engine.name} refuses, U+FFFD now: {changed:,}"] * bool(changed)


def write_parts(folder: Path, documents: Iterable[Sequence[Any]], max_bytes: int = PART_BYTES) -> None:
    """Writes `documents-00000.jsonl` and the files after it; the lines of a document stay in the same file."""
    parts = ("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode() for lines in documents)
    for number, part in enumerate(parts):
        with open(folder / f"documents-{number:05}.jsonl", "wb") as file:
            size = file.write(part)
            while size < max_bytes and (part := next(parts, b"")):
                size += file.write(part)


def _indented(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def write_json(path: Path, content: Any) -> None:
    """Writes a value as indented JSON."""
    path.write_text(_indented(content), encoding="utf-8")


def numbers(values: npt.NDArray[np.float32]) -> list[float]:
    """Returns the numbers with the fewest digits that identify each float32.

    Example:
      >>> numbers(np.array([0.1], np.float32))
      [0.1]
    """
    return [float(str(value)) for value in values]


def term_weights(terms: Iterable[bytes], weights: npt.NDArray[np.float32]) -> dict[str, float]:
    """Returns the terms of a text with their weights, without the padding of a query."""
    return {term.decode(): weight for term, weight in zip(terms, numbers(weights), strict=True) if term and weight > 0}


def query_parts(query: EncodedQuery) -> tuple[list[float], dict[str, float]]:
    """Returns the vector and the weighted terms of a query."""
    return numbers(query.vector), term_weights(query.terms.tolist(), query.weights)
