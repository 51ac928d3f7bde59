"""`cli/documents.py`: the documents that `clir rank` reads."""

import gzip
from pathlib import Path

import pytest

from cli.documents import read_documents
from schemas.errors import DataError


def test_documents_are_read_plain_or_gzipped(tmp_path: Path) -> None:
    file = tmp_path / "wiki.documents"
    for content in (text := b"d1\tLoup\tvit en meute\nd2\t\tgarde les maisons\n", gzip.compress(text)):
        file.write_bytes(content)
        documents, lines = read_documents(str(file))
        assert [document[:3] for document in documents] == [
            ("d1", "Loup", "vit en meute"),
            ("d2", "", "garde les maisons"),
        ]
        assert lines == []


def test_what_is_left_out_is_reported_once_a_reason_with_its_first_line(tmp_path: Path) -> None:
    file = tmp_path / "wiki.documents"
    file.write_text("no tab\nd1\tLoup\tvit en meute\nd1\tLoup\tagain\ntwo\ttabs\n")
    documents, (fields, ids) = read_documents(str(file))
    assert [document.text for document in documents] == ["vit en meute"]
    assert fields.startswith(f"{file}: left out 2 x ") and fields.endswith(" line 1: no tab")
    assert ids.startswith(f"{file}: left out 1 x ") and ids.endswith(" line 3: d1 | Loup | again")


def test_a_file_without_a_line_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "wiki.documents"
    file.touch()
    with pytest.raises(DataError, match=f"^{file}"):
        read_documents(str(file))
