"""The collection of messages: its documents are whole dialogs in pieces, and its lists hold what they promise."""

from collections import Counter

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from click.testing import CliRunner

from pipeline.config import DataSettings
from tools.linked_documents import read_rows
from tools.message_collection import main

TEXT = "Shows or hides the field number"


@pytest.fixture
def folder(tmp_path):
    """Catalogues of 30 dialogs with five messages each, of a dialog with three, and of short texts."""
    catalogue = Catalog("th")
    for dialog in range(30):
        for field in range(5):
            text = f"{TEXT} {field} of ~dialog {dialog}"
            catalogue.add(text, f"{dialog} แสดง {field}", context=f"dialog{dialog:02}|extended_tip|{field}")
    for field in range(3):
        catalogue.add(f"{TEXT} {field} of a small dialog", f"เล็ก {field}", context=f"small|extended_tip|{field}")
    catalogue.add("Save", "บันทึก", context="dialog00|button|ok")
    catalogue.add(f"{TEXT} that nobody translated", f"{TEXT} that nobody translated", context="dialog00|label|x")
    (tmp_path / "messages/th").mkdir(parents=True)
    with (tmp_path / "messages/th/sw.mo").open("wb") as file:
        write_mo(file, catalogue)
    return tmp_path


def test_its_queries_documents_and_lists_fit_together(folder):
    result = CliRunner().invoke(main, [str(folder / "messages"), "en", "th", str(folder / "out")])
    assert result.output.endswith("150 queries, 60 documents\n"), result.output
    queries = {number: text for number, _, text in read_rows(folder / "out/wiki_en.queries")}
    documents = {number: text for number, _, text in read_rows(folder / "out/wiki_th.documents")}
    assert f"{TEXT} 4 of dialog 7" in queries.values() and "small" not in " ".join(queries.values())
    lists = {}
    for query, document, grade, split in read_rows(folder / "out/candidates.tsv"):
        lists.setdefault(query, []).append((document, grade, split))
    assert {split for rows in lists.values() for *_, split in rows} == {"train", "eval", "test"}
    for query, rows in lists.items():
        *_, field, _, _, dialog = queries[query].split()
        assert Counter(grade for _, grade, _ in rows) == {"2": 1, "1": 1, "0": 40}
        texts = {grade: documents[document] for document, grade, _ in rows}
        assert f"{dialog} แสดง {field}" in texts["2"]
        assert texts["1"].startswith(f"{dialog} ") and not texts["0"].startswith(f"{dialog} ")
    roles = {"queries": "wiki_en.queries", "documents": "wiki_th.documents", "judgments": "en2th.rel"}
    paths = {role: str(folder / "out" / name) for role, name in {**roles, "candidates": "candidates.tsv"}.items()}
    DataSettings(query_language="en", document_language="th", **paths)
    # A folder without catalogues is an error that names it.
    result = CliRunner().invoke(main, [str(folder / "out"), "en", "th", str(folder / "other")])
    assert result.exit_code == 1 and f"{folder / 'out'}: " in result.output
