"""A whole run on documents in several languages: half of the sample's French documents count as Catalan."""

import json

import pytest

from schemas.splits import stable_hash
from tests.cli.command import Clir
from tests.e2e.process import SAMPLE, SampleRun

pytestmark = pytest.mark.long

OTHER = "de"
"""The language of the first document, which the run does not name."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> SampleRun:
    folder = tmp_path_factory.mktemp("languages")
    documents = folder / "documents.jsonl"
    with documents.open("w") as file:
        for number, line in enumerate((SAMPLE / "wiki_fr.documents").read_text().splitlines()):
            doc_id, title, text = line.split("\t")
            lang = OTHER if number == 0 else "fr" if stable_hash("lang", doc_id) % 2 else "ca"
            file.write(json.dumps({"id": doc_id, "title": title, "text": text, "lang": lang}) + "\n")
    settings = (
        "preset=best",
        "channels.encoder=null",
        "training.epochs=2",
        f"data.documents={documents}",
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
    assert "Ranks Catalan and French documents (`ca+fr`) for English queries" in card
    assert "| `ca` |" in card
    assert card.startswith("---\nlanguage:\n- en\n- ca\n- fr\n")


def test_a_document_in_another_language_is_left_out_and_counted(run: SampleRun) -> None:
    report = json.loads((run.output / "data" / "report.json").read_text())
    drops = {drop["reason"]: drop["count"] for drop in report["files"]["documents"]["drops"]}
    assert drops["other_language"] == 1


def test_results_say_their_language_and_are_filtered_by_it(run: SampleRun, clir: Clir) -> None:
    found = clir("search", str(run.output), "molten rock", "-k", "3", "--where", "lang=ca", "--json")
    results = json.loads(found.out)["results"]
    assert len(results) == 3
    assert all(hit["fields"] == {"lang": "ca"} for hit in results)
    assert "(lang " in clir("search", str(run.output), "molten rock", "-k", "1").out
