"""Collections in several languages, joined: all texts, or each document in one language."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from schemas.wikiclir import CANDIDATES_FILE
from tools.joined_languages import language_of, main
from tools.linked_documents import read_rows

CODES = ("de", "es")
IDS = [f"d{number}" for number in range(20)]


@pytest.fixture
def collections(tmp_path: Path) -> list[str]:
    for code in CODES:
        folder = tmp_path / code
        folder.mkdir()
        contents = {
            "wiki_en.queries": "q1\ttitle\ta wolf\n",
            f"wiki_{code}.documents": "".join(f"{doc_id}\ttitle\t{code} {doc_id}\n" for doc_id in IDS),
            f"en2{code}.rel": "q1\td1\t2\n",
            CANDIDATES_FILE: "q1\td1\t2\ttest\nq1\td2\t0\ttest\n",
        }
        for name, content in contents.items():
            (folder / name).write_text(content)
    return [f"{code}={tmp_path / code}" for code in CODES]


def test_each_query_asks_for_the_documents_of_a_language_which_is_its_domain(
    tmp_path: Path, collections: list[str]
) -> None:
    done = CliRunner().invoke(main, [str(tmp_path / "out"), *collections])
    assert done.exit_code == 0, done.output
    rows = {path.name: [*read_rows(path)] for path in (tmp_path / "out").iterdir()}
    assert [row[0] for row in rows["queries.tsv"]] == ["q1.de", "q1.es"]
    assert rows["domains.tsv"] == [["q1.de", "de"], ["q1.es", "es"]]
    header, *documents = rows["documents.tsv"]
    assert header[-1] == "lang" and ["d1.es", "title", "es d1", "es"] in documents and len(documents) == 40
    assert rows[CANDIDATES_FILE][1] == ["q1.de", "d2.de", "0", "test"]
    assert rows["judgments.tsv"] == [["q1.de", "d1.de", "2"], ["q1.es", "d1.es", "2"]]


def test_each_document_is_in_the_language_that_its_id_chooses(tmp_path: Path, collections: list[str]) -> None:
    done = CliRunner().invoke(main, ["--mixed", str(tmp_path / "out"), *collections])
    assert done.exit_code == 0, done.output
    _, *documents = read_rows(tmp_path / "out" / "documents.tsv")
    assert [(doc_id, text, code) for doc_id, _, text, code in documents] == [
        (doc_id, f"{code} {doc_id}", code) for doc_id in IDS for code in [language_of(doc_id, CODES)]
    ]
    assert {code for *_, code in documents} == {*CODES}


@pytest.mark.parametrize("arguments", [["de"], ["de=a", "de=b"]])
def test_each_argument_names_a_code_and_a_folder(tmp_path: Path, arguments: list[str]) -> None:
    done = CliRunner().invoke(main, [str(tmp_path / "out"), *arguments])
    assert done.exit_code == 2 and "must be CODE=FOLDER" in done.output


def test_collections_with_other_queries_are_refused(tmp_path: Path, collections: list[str]) -> None:
    (tmp_path / "es" / "wiki_en.queries").write_text("q1\ttitle\ta fox\n")
    done = CliRunner().invoke(main, [str(tmp_path / "out"), *collections])
    assert done.exit_code == 1 and "must have the same queries and lists" in done.output
