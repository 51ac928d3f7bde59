"""`cli/documents.py`: the documents that `clir rank` reads."""

import gzip
from pathlib import Path

import pytest

from pipeline.input_faults import check_collection
from schemas.drops import Drop
from schemas.errors import DataError
from smooth_clir.cli.documents import DocumentFiles, read_documents, read_ids, read_texts


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


FORMS = [
    "d1\tun loup\nd2\tdeux loups\n",
    "id\ttext\turl\nd1\tun loup\tx\nd2\tdeux loups\ty\n",
    'text,id\nun loup,d1\n"deux loups",d2\n',
    '{"_id": "d1", "text": null, "contents": "un loup"}\n{"_id": "d2", "text": "deux loups"}\n',
    '[{"docid": "d1", "text": "un loup"},\n {"docid": "d2", "text": "deux loups"}]',
]


@pytest.mark.parametrize("content", FORMS)
def test_every_command_reads_every_form(tmp_path: Path, content: str) -> None:
    file = tmp_path / "file"
    file.write_text(content)
    texts = [("d1", "", "un loup"), ("d2", "", "deux loups")]
    for items in (read_documents(str(file))[0], read_texts("queries", str(file)), DocumentFiles([str(file)]).texts()):
        assert [item[:3] for item in items if not isinstance(item, Drop)] == texts
    assert read_ids(str(file)) == ["d1", "d2"]
    (tmp_path / "qrels").write_text("d1 0 d2 1.0\n")
    assert check_collection({"queries": str(file), "documents": str(file), "judgments": str(tmp_path / "qrels")}) == []


def test_a_header_that_lacks_a_column_and_a_line_without_an_id_are_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("doc_id\ttitre\nd1\tLoup\n")
    for read in (read_documents, lambda path: [*DocumentFiles([path]).texts()]):
        with pytest.raises(DataError, match=r"(?s)doc_id \| titre; expected the names id"):
            read(str(file))
    file.write_text("d1\nd 2\n")
    with pytest.raises(DataError, match=f"^{file}:2: .* an id"):
        read_ids(str(file))
