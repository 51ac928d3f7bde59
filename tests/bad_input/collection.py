"""A small good collection and further files that a configuration may name, to be spoilt."""

import io
from pathlib import Path
from typing import Final

import numpy as np

CONFIG: Final = """\
data:
  queries: wiki.queries
  documents: wiki.documents
  judgments: en2fr.rel
  query_language: en
  document_language: fr
output: out
"""
QUERIES: Final = [f"q{i}" for i in range(1, 6)]
DOCUMENTS: Final = [f"d{i}" for i in range(1, 7)]
SPLITS: Final = {"q4": "eval", "q5": "test"}
"""The splits of the queries in `candidates`; the others are in the train split."""


def write_collection(folder: Path) -> Path:
    """Writes five queries, six documents, and a configuration of seven lines; returns the configuration's path."""
    lines = {
        "wiki.queries": [f"{query}\tWolf {query[1]}\tlives in packs" for query in QUERIES],
        "wiki.documents": [f"{document}\tLoup {document[1]}\tvit en meute" for document in DOCUMENTS],
        "en2fr.rel": [f"q{i}\td{i + lower}\t{2 - lower}" for i in range(1, 6) for lower in (0, 1)],
        "candidates": [
            f"q{i}\td{j}\t{2 if j == i else int(j == i + 1)}\t{SPLITS.get(f'q{i}', 'train')}"
            for i in range(1, 6)
            for j in range(1, 7)
        ],
        "domains.tsv": [f"{query}\t{'news' if query < 'q4' else 'health'}" for query in QUERIES],
    }
    for name, rows in lines.items():
        (folder / name).write_text("".join(f"{row}\n" for row in rows))
    (folder / "run.yaml").write_text(CONFIG)
    return folder / "run.yaml"


def write_vectors(folder: Path, ids: dict[str, list[str]]) -> None:
    """Writes a vector for each id, in an .npy file beside the ids, by the file's name."""
    for name, rows in ids.items():
        (folder / f"{name}.npy").write_bytes(npy([[1.0, number, 2.0] for number in range(len(rows))]))
        (folder / f"{name}.ids").write_text("".join(f"{row}\n" for row in rows))


def npy(rows: list[list[float]]) -> bytes:
    """An .npy file."""
    stream = io.BytesIO()
    np.save(stream, np.array(rows, np.float32))
    return stream.getvalue()
