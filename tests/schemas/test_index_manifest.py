"""The manifest of an index: what is read is what was written; the drift, and the bound at which to train again."""

import contextlib
import json

import pytest

from schemas.index_manifest import (
    MAX_DIVERGENCE,
    MAX_LENGTH_RATIO,
    MAX_UNKNOWN,
    MIN_DOCUMENTS,
    Drift,
    FileRecord,
    IndexManifest,
    SegmentRecord,
)

NONE = Drift(
    documents=MIN_DOCUMENTS, model_documents=MIN_DOCUMENTS, mean_length=2, model_mean_length=2, unknown_share=0,
    divergence=0,
)  # fmt: skip


@pytest.mark.parametrize(
    ("bound", "beyond", "words"),
    [
        ({"mean_length": 2 * MAX_LENGTH_RATIO}, {"mean_length": 2 * MAX_LENGTH_RATIO + 0.1}, "1.55"),
        ({"mean_length": 1.5}, {"mean_length": 1.0}, "0.50"),
        ({"unknown_share": MAX_UNKNOWN}, {"unknown_share": MAX_UNKNOWN + 0.01}, "11.0 %"),
        ({"divergence": MAX_DIVERGENCE}, {"divergence": MAX_DIVERGENCE + 0.1}, "diverge"),
    ],
)
def test_a_bound_warns_beyond_it_alone(bound: dict[str, float], beyond: dict[str, float], words: str) -> None:
    assert list(NONE.model_copy(update=bound).warnings()) == []
    (sentence,) = NONE.model_copy(update=beyond).warnings()
    assert words in sentence


def test_a_line_has_the_values_that_are_known() -> None:
    line = NONE.model_copy(update={"documents": 1200, "mean_length": 2.5, "unknown_share": 0.025}).describe()
    assert all(value in line for value in ("1,200", "(250)", "2.5 terms (2.0)", "2.5 %", "0.000"))
    unknown = Drift(documents=3, unknown_share=0.5, mean_length=1, reason="there is no lexicon")
    assert "divergence" not in unknown.describe() and unknown.describe().endswith("there is no lexicon")
    assert unknown.length_ratio is None


def test_neither_few_documents_nor_unknown_values_give_a_warning() -> None:
    for few in ("documents", "model_documents"):
        assert list(NONE.model_copy(update={few: MIN_DOCUMENTS - 1, "divergence": 1.0}).warnings()) == []
    assert list(Drift(documents=5).warnings()) == []


MANIFEST = IndexManifest(
    model="0a",
    dimension=8,
    documents=3,
    segments=(
        SegmentRecord(number=0, documents=4, removed=1, postings=9, files={"a.npy": FileRecord(bytes=7, sha256="1b")}),
    ),
    next_number=1,
    files={"removed/0.npy": FileRecord(bytes=132, sha256="2c")},
    drift=NONE,
)


def test_every_changed_byte_of_a_manifest_is_refused_or_changes_nothing() -> None:
    text = MANIFEST.to_json()
    assert IndexManifest.from_json(text) == MANIFEST
    for position in range(len(text)):
        for sign in ("0", " ", chr(ord(text[position]) ^ 1)):
            with contextlib.suppress(ValueError):
                assert IndexManifest.from_json(text[:position] + sign + text[position + 1 :]) == MANIFEST


def test_its_identity_covers_the_removed_rows_and_not_its_place() -> None:
    changed = MANIFEST.model_copy(update={"files": {"removed/0.npy": FileRecord(bytes=132, sha256="2d")}})
    assert changed.identity != MANIFEST.identity == IndexManifest.from_json(MANIFEST.to_json()).identity


def test_a_manifest_of_an_earlier_version_of_the_project_is_read() -> None:
    content = {key: value for key, value in json.loads(MANIFEST.to_json()).items() if key not in ("files", "sha256")}
    older = IndexManifest.from_json(json.dumps({**content, "vectors_sha256": "3d"}))
    assert older == MANIFEST.model_copy(update={"files": None})
