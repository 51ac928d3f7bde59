"""The application package, the feed and the query of a Vespa whose rank expression is the model's score."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from models.exported.model import LoadedModel
from schemas.errors import DataError
from smooth_clir.retrieval.corpus_index import CorpusIndex
from smooth_clir.retrieval.exports.json_lines import JsonLinesWriter, numbers, query_parts, term_weights, write_json
from smooth_clir.retrieval.search_index import DEPTH

WEIGHT_UNIT: Final = 100_000
"""Vespa's `wand`, which brings the candidates of the words, has whole weights; their score has the exact ones."""

_NO_TEXT: Final = re.compile(
    "[^\t\n\r\u0020-\ufdcf\ufde0-\ufffd\U00010000-\U0010ffff]|["
    + "".join(chr(plane << 16 | last) for plane in range(1, 17) for last in (0xFFFE, 0xFFFF))
    + "]"
)
"""The characters that no string of Vespa may hold: controls and noncharacters."""

_SCHEMA: Final = """\
# Made for the model {model}.
schema clir {{
    document clir {{
        field doc_id type string {{
            indexing: summary | attribute
        }}
        field title type string {{
            indexing: summary
        }}
        field text type string {{
            indexing: summary
        }}
        field vector type tensor<float>(x[{dimension}]) {{
            indexing: attribute | index
            attribute {{
                distance-metric: dotproduct
            }}
        }}
        field words type tensor<float>(term{{}}) {{
            indexing: attribute
        }}
        # What `words` holds times {unit}, as whole numbers: the candidates of the words come from here.
        field terms type weightedset<string> {{
            indexing: attribute
            attribute: fast-search
        }}
    }}
    rank-profile score {{
        inputs {{
            query(vector) tensor<float>(x[{dimension}])
            query(words) tensor<float>(term{{}})
        }}
        function dense() {{
            expression: sum(query(vector) * attribute(vector))
        }}
        function matching() {{
            expression: sum(query(words) * attribute(words))
        }}
        first-phase {{
            expression: dense + matching
        }}
        match-features: dense matching
    }}
}}
"""
_SERVICES: Final = """\
<?xml version="1.0" encoding="utf-8" ?>
<services version="1.0">
  <container id="default" version="1.0">
    <search/>
    <document-api/>
  </container>
  <content id="documents" version="1.0">
    <min-redundancy>1</min-redundancy>
    <documents>
      <document type="clir" mode="index"/>
    </documents>
    <nodes>
      <node hostalias="node1" distribution-key="0"/>
    </nodes>
  </content>
</services>
"""


def write_vespa(
    index: CorpusIndex, folder: Path, model: LoadedModel, query: str | None, on_progress: Callable[[int], None]
) -> list[str]:
    """Writes an application package (`application/`), the feed, and the query; see `docs/search.md`.

    Raises:
      DataError: an id holds a character that no string of Vespa may hold.
    """
    schemas = folder / "application" / "schemas"
    schemas.mkdir(parents=True)
    (folder / "application" / "services.xml").write_text(_SERVICES, encoding="utf-8")
    schema = _SCHEMA.format(model=index.manifest.model, dimension=index.manifest.dimension, unit=WEIGHT_UNIT)
    (schemas / "clir.sd").write_text(schema, encoding="utf-8")
    changed = 0
    with JsonLinesWriter(folder) as writer:
        for number, one in enumerate(index.encoded_documents(), 1):
            (title, of_title), (text, of_text) = (_NO_TEXT.subn("\ufffd", part) for part in one.text[1:3])
            changed += bool(of_title or of_text)
            doc_id = one.text.id
            if _NO_TEXT.search(doc_id):
                raise DataError(f"an id must hold no control character for Vespa; got {doc_id[:40]!r}.")
            words = term_weights(one.terms, one.weights)
            writer.write(
                {
                    "put": f"id:clir:clir::{doc_id}",
                    "fields": {
                        "doc_id": doc_id,
                        "title": title,
                        "text": text,
                        "vector": {"values": numbers(one.vector)},
                        "words": {"cells": words},
                        "terms": _whole(words),
                    },
                }
            )
            on_progress(number)
    template = _query("VECTOR", "WORDS", f"WORDS TIMES {WEIGHT_UNIT}, ROUNDED, AT LEAST 1")
    write_json(folder / "query_template.json", template)
    if query is not None:
        vector, words = query_parts(model.encode_query(query))
        write_json(folder / "query.json", _query(vector if any(vector) else None, words, _whole(words)))
    return [f"documents with characters that Vespa refuses, U+FFFD now: {changed:,}"] * bool(changed)


def _whole(words: dict[str, float]) -> dict[str, int]:
    return {term: max(1, round(weight * WEIGHT_UNIT)) for term, weight in words.items()}


def _query(vector: Any, words: Any, whole: Any) -> dict[str, Any]:
    """A request to Vespa's `/search/`; a channel without a value brings no candidates."""
    inline = json.dumps(whole, ensure_ascii=False) if isinstance(whole, dict) else whole
    channels = []
    if vector:
        channels.append(f"({{targetHits: {DEPTH}}}nearestNeighbor(vector, vector))")
    if words:
        channels.append(f"({{targetHits: {DEPTH}}}wand(terms, {inline}))")
    return {
        "yql": f"select doc_id, title from clir where {' or '.join(channels) or 'false'}",
        "ranking": "score",
        "hits": 10,
        **({"input.query(vector)": vector} if vector else {}),
        **({"input.query(words)": words} if words else {}),
    }
