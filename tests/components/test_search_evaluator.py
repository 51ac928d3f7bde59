"""SearchEvaluator: the files that it writes."""

import shutil
from pathlib import Path

import pytest

from models.texts.tokens import ALL_WORDS
from schemas.evaluation import EvaluationReport, QueryMetrics
from schemas.index_manifest import SEGMENTS
from schemas.search_report import SearchReport
from schemas.trec import parse_run
from schemas.wikiclir import Text
from smooth_clir.retrieval.assemble_index import assemble_index
from smooth_clir.retrieval.segment import encode_documents
from tests.models.loaded_once import loaded_once, model_with_words

pytestmark = pytest.mark.stages

COLLECTION = {"d1": "chat blanc", "d2": "chien", "d3": "ararat", "d4": "chat"}
LISTS = {
    "q2": ("white cat", {"d1": (COLLECTION["d1"], 2), "d4": (COLLECTION["d4"], 1), "d2": (COLLECTION["d2"], 0)}),
    "q1": ("ararat", {"d3": (COLLECTION["d3"], 2), "d2": (COLLECTION["d2"], 0)}),
}


def evaluation() -> EvaluationReport:
    return EvaluationReport(
        split="test", queries=2, queries_without_relevant_document=0, paper_names={}, metrics={"ndcg_5": 0.5},
        reachable={}, baselines={"random": {}},
    )  # fmt: skip


def test_the_files_hold_the_report_the_queries_and_the_run(tmp_path, make_artifact, make_collection, make_examples):
    from components.search_evaluator import SearchEvaluator

    names = {"model": "Model", "index": "CorpusIndex", "evaluation": "ModelEvaluation"}
    inputs = {key: make_artifact(name, tmp_path) for key, name in names.items()}
    model, index, report = (Path(artifact.uri) for artifact in inputs.values())
    shutil.copytree(model_with_words().path, model / "Format-Serving")
    (index / SEGMENTS).mkdir()
    texts = [Text(doc_id, "a title", text, 1) for doc_id, text in COLLECTION.items()]
    records = list(encode_documents(model_with_words(), texts, str(index / SEGMENTS), 0))
    assemble_index(str(index), "0a", records, len(records))
    (report / "metrics.json").write_text(evaluation().to_json())
    lines = "".join(f"{doc_id}\ta title\t{text}\n" for doc_id, text in COLLECTION.items())
    inputs["collection"] = make_collection(tmp_path, {"documents": f"broken\n{lines}".encode()})
    inputs["examples"] = make_examples(tmp_path, LISTS)
    made = make_artifact("SearchEvaluation", tmp_path)
    with loaded_once():
        SearchEvaluator.test_call(**inputs, search_evaluation=made, top_grade=2, rules=ALL_WORDS)

    folder = Path(made.uri)
    assert {path.name for path in folder.iterdir()} == {"search.json", "search_per_query.tsv", "search_run.trec"}
    report = SearchReport.from_json((folder / "search.json").read_text())
    assert (report.queries, report.documents, report.sampled.metrics) == (2, 4, {"ndcg_5": 0.5})
    assert report.baselines["bm25"]["recall_10"] == 1 / 2  # ararat alone is the same in both languages
    values = QueryMetrics.from_tsv((folder / "search_per_query.tsv").read_text())
    assert values.query_ids == ["q1", "q2"]
    assert {key: sum(query_values) / 2 for key, query_values in values.values.items()} == pytest.approx(report.metrics)
    with (folder / "search_run.trec").open() as run:
        assert {*parse_run(run, "search_run.trec").scores["q2"]} == {*COLLECTION}
