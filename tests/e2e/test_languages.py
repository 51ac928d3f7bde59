"""A whole run on texts in several languages: half of the sample's French documents count as Catalan, and half of its
English queries as Italian."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from schemas.splits import stable_hash
from tests.cli.command import Clir
from tests.e2e.process import SAMPLE, SampleRun

pytestmark = pytest.mark.long

OTHER = "de"
"""The language of the first document, which the run does not name."""


def write_texts(source: Path, target: Path, codes: Sequence[str]) -> None:
    """Writes texts as JSON lines, each with one of two languages."""
    with target.open("w") as file:
        for number, line in enumerate(source.read_text().splitlines()):
            identifier, title, text = line.split("\t")
            lang = OTHER if number == 0 and "fr" in codes else codes[stable_hash("lang", identifier) % 2]
            file.write(json.dumps({"id": identifier, "title": title, "text": text, "lang": lang}) + "\n")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> SampleRun:
    folder = tmp_path_factory.mktemp("languages")
    documents, queries = folder / "documents.jsonl", folder / "queries.jsonl"
    write_texts(SAMPLE / "wiki_fr.documents", documents, ("ca", "fr"))
    write_texts(SAMPLE / "wiki_en.queries", queries, ("en", "it"))
    settings = (
        "preset=best",
        "channels.encoder=null",
        "training.epochs=2",
        f"data.documents={documents}",
        f"data.queries={queries}",
        "data.query_language=[en, it]",
        "data.document_language=[fr, ca]",
        "evaluation.baselines=[]",
        "search.index=true",
    )
    run = SampleRun(folder / "out", "configs/sample.yaml", *(f"--set={setting}" for setting in settings))
    assert run.code == 0, run.err
    return run


def test_metrics_and_shares_are_reported_by_language(run: SampleRun) -> None:
    languages = run.report["languages"]
    assert [*languages] == ["ca", "fr"]
    for share in ("relevant_share", "first_share"):
        assert sum(part[share] for part in languages.values()) == pytest.approx(1)
    assert sum(part["queries"] for part in languages.values()) >= run.report["queries"]
    assert "first_share" in run.out
    (version,) = run.versions
    card = (version / "MODEL_CARD.md").read_text()
    assert "Ranks Catalan and French documents (`ca+fr`) for English and Italian queries" in card
    assert "| `ca` |" in card
    assert card.startswith("---\nlanguage:\n- en\n- it\n- ca\n- fr\n")
    queries = run.report["query_languages"]
    assert [*queries] == ["en", "it"]
    assert sum(part["queries"] for part in queries.values()) == run.report["queries"]


def test_a_document_in_another_language_is_left_out_and_counted(run: SampleRun) -> None:
    report = json.loads((run.output / "data" / "report.json").read_text())
    drops = {drop["reason"]: drop["count"] for drop in report["files"]["documents"]["drops"]}
    assert drops["other_language"] == 1


def test_results_say_their_language_and_are_filtered_by_it(run: SampleRun, clir: Clir) -> None:
    answer = clir("search", str(run.output), "molten rock", "-k", "3", "--where", "lang=ca", "--json")
    results = json.loads(answer.out)["results"]
    assert len(results) == 3
    assert all(hit["fields"] == {"lang": "ca"} for hit in results)
    assert "(lang " in clir("search", str(run.output), "molten rock", "-k", "1").out
