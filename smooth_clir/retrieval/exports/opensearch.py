"""The mapping, the bulk requests and the query of an OpenSearch whose score is the model's, plus a constant."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from models.exported.model import LoadedModel
from schemas.errors import DataError
from smooth_clir.retrieval.corpus_index import CorpusIndex
from smooth_clir.retrieval.exports.json_lines import JsonLinesWriter, numbers, query_parts, term_weights, write_json
from smooth_clir.retrieval.search_index import DEPTH

MOST_ID_BYTES: Final = 512


def write_opensearch(
    index: CorpusIndex, folder: Path, model: LoadedModel, query: str | None, on_progress: Callable[[int], None]
) -> list[str]:
    """Writes the mapping (`index.json`), bulk requests, and the query; see `docs/search.md`.

    Raises:
      DataError: an id is longer than OpenSearch takes.
    """
    longest = 0.0
    with JsonLinesWriter(folder) as writer:
        for number, one in enumerate(index.encoded_documents(), 1):
            if (size := len(one.text.id.encode())) > MOST_ID_BYTES:
                raise DataError(
                    f"an id must have at most {MOST_ID_BYTES} bytes for OpenSearch; {one.text.id[:40]!r}… has {size}."
                )
            longest = max(longest, float(np.linalg.norm(one.vector)))
            content: dict[str, Any] = {"title": one.text.title, "text": one.text.text}
            if one.vector.any():  # Lucene and Faiss have no use for the zero vector; its part of the score is 0
                content["vector"] = numbers(one.vector)
            if words := term_weights(one.terms, one.weights):
                content["words"] = words
            writer.write({"index": {"_id": one.text.id}}, content)
            on_progress(number)
    write_json(folder / "index.json", _mapping(index))
    write_json(folder / "query_template.json", _query("VECTOR", "WORDS", f"LENGTH OF VECTOR, TIMES {longest:.6g}"))
    if query is not None:
        encoded = model.encode_query(query)
        vector, words = query_parts(encoded)
        offset = longest * float(np.linalg.norm(encoded.vector))
        write_json(folder / "query.json", _query(vector if any(vector) else None, words, offset))
    return []


def _mapping(index: CorpusIndex) -> dict[str, Any]:
    vector = {
        "type": "knn_vector",
        "dimension": index.manifest.dimension,
        "space_type": "innerproduct",
        "method": {"name": "hnsw", "engine": "faiss"},
    }
    stored = {"type": "text", "index": False}
    return {
        "settings": {"index": {"knn": True}},
        "mappings": {
            "_meta": {"model": index.manifest.model},
            "dynamic": "strict",
            "properties": {"title": stored, "text": stored, "vector": vector, "words": {"type": "rank_features"}},
        },
    }


def _query(vector: Any, words: Any, offset: Any) -> dict[str, Any]:
    """A request to `_search`; a channel without a value brings no candidates.

    The vectors' own score is no inner product but a function of it, so that a script adds the product. No script may
    give a score below 0: `offset` is the longest document's vector times the query's.
    """
    channels: list[dict[str, Any]] = []
    if vector:
        near = {"knn": {"vector": {"vector": vector, "k": DEPTH}}}
        channels.append({"constant_score": {"filter": near, "boost": 0}})
    if words:
        channels.append({"neural_sparse": {"words": {"query_tokens": words}}})
    script: dict[str, Any] = {"source": "_score"}
    if vector:
        source = "params.offset + _score + (doc['vector'].size() == 0 ? 0 : innerProduct(params.vector, doc['vector']))"
        script = {"source": source, "params": {"vector": vector, "offset": offset}}
    query = {"bool": {"should": channels}} if channels else {"match_none": {}}
    return {"size": 10, "_source": ["title"], "query": {"script_score": {"query": query, "script": script}}}
