"""A run with an index: the test queries search the whole collection, and what they find is evaluated."""

import json
from pathlib import Path

import numpy as np
import pytest

from components.index_pusher.index_versions import IndexVersions
from models.evaluation.search_metrics import ranks_of, search_metrics
from models.exported.model import LoadedModel
from models.retrieval.index_files import check_version
from models.retrieval.ranking import rank
from pipeline.output_folder import OutputFolder
from schemas.evaluation import EVALUATION_FILES, QueryMetrics
from schemas.search_report import SearchReport
from schemas.trec import parse_run
from tests.e2e.process import SAMPLE, SampleRun

pytestmark = pytest.mark.runs

DOCUMENTS = [line.split("\t") for line in (SAMPLE / "wiki_fr.documents").read_text().splitlines()]
HANDFUL = 12


@pytest.fixture(scope="module")
def report(search_run: SampleRun) -> SearchReport:
    return SearchReport.from_json((search_run.output / "evaluation" / "search.json").read_text())


def per_query(run: SampleRun) -> QueryMetrics:
    return QueryMetrics.from_tsv((run.output / "evaluation" / "search_per_query.tsv").read_text())


def test_the_metrics_are_those_of_scoring_every_document(search_run: SampleRun) -> None:
    (model,) = search_run.versions
    exported = LoadedModel(str(model))
    ids = [doc_id.encode() for doc_id, _, _ in DOCUMENTS]
    texts = dict(line.split("\t")[::2] for line in (SAMPLE / "wiki_en.queries").read_text().splitlines())
    judgments: dict[str, dict[bytes, int]] = {}
    for line in (search_run.output / "evaluation" / "qrels.trec").read_text().splitlines():
        query_id, _, doc_id, grade = line.split()
        judgments.setdefault(query_id, {})[doc_id.encode()] = int(grade)
    found = per_query(search_run)
    queries = found.query_ids[::-1][:HANDFUL]
    grades, ranks = [], []
    for query_id in queries:
        scores = np.array(exported.score(texts[query_id], [text for _, _, text in DOCUMENTS])["scores"])
        ranked = [ids[place] for place in rank(scores, ids)]
        grades.append(np.array([*judgments[query_id].values()]))
        ranks.append(ranks_of([*judgments[query_id]], ranked))
    for key, values in search_metrics(grades, ranks, 2).items():
        of_query = dict(zip(found.query_ids, found.values[key], strict=True))
        assert values == pytest.approx([of_query[query_id] for query_id in queries]), key


def test_the_report_stands_beside_the_lists(search_run: SampleRun, report: SearchReport) -> None:
    lists = search_run.report
    assert report.queries == lists["queries"]
    assert report.documents == len(DOCUMENTS)
    assert report.channels.keys() == report.sampled.channels.keys() == {"dense", "lexicon"}
    assert report.sampled.metrics["ndcg_5"] == lists["metrics"]["ndcg_5"]
    assert report.sampled.channels["dense"]["mrr_mr"] == lists["channels"]["smooth_cosine"]["mrr_mr"]
    assert report.sampled.baselines["bm25"]["p_mr_1"] == lists["baselines"]["bm25"]["p_mr_1"]
    assert report.approximation.overlap_10 == 1
    values = per_query(search_run).values
    assert report.metrics == pytest.approx({key: float(np.mean(values[key])) for key in values})


def test_recall_grows_with_the_depth_and_reaches_all_where_all_are_found(report: SearchReport) -> None:
    for metrics in (report.metrics, *report.channels.values(), *report.baselines.values()):
        assert metrics["recall_10"] <= metrics["recall_100"] <= metrics["recall_1000"]
    # The collection is smaller than the depth.
    assert report.metrics["recall_1000"] == report.channels["dense"]["recall_1000"] == 1


def test_the_run_file_ranks_every_document_for_every_query(search_run: SampleRun) -> None:
    lines = (search_run.output / "evaluation" / "search_run.trec").read_text().splitlines()
    run = parse_run(lines, "search_run.trec")
    assert [*run.scores] == per_query(search_run).query_ids
    for scores in run.scores.values():
        ids = [doc_id.encode() for doc_id in scores]
        assert {*ids} == {doc_id.encode() for doc_id, _, _ in DOCUMENTS}
        assert rank(np.array([*scores.values()], np.float32), ids).tolist() == list(range(len(ids)))
    assert [line.split()[3] for line in lines[: len(DOCUMENTS)]] == [str(1 + place) for place in range(len(DOCUMENTS))]


def test_the_run_tells_of_the_search(search_run: SampleRun, report: SearchReport) -> None:
    assert json.loads(search_run.out)["search"] == report.model_dump(mode="json")
    assert f'clir search {search_run.output} "..."' in search_run.err
    assert "index/        versions of the index: 1" in search_run.err


def test_the_pushed_index_is_whole_and_that_of_the_run(search_run: SampleRun) -> None:
    found = check_version(str(search_run.output / "index" / "1"))
    assert found.faults == {}
    assert found.manifest and found.manifest.of_run
    assert found.manifest.origin


def test_a_second_run_takes_the_evaluation_from_the_cache(search_run: SampleRun) -> None:
    files = {path: path.read_bytes() for path in evaluation_files(search_run.output)}
    again = SampleRun(search_run.output, search_run.output / "config.yaml")
    assert again.code == 0, again.err
    assert again.ran == {"IndexPusher"}
    assert {path: path.read_bytes() for path in evaluation_files(search_run.output)} == files


def evaluation_files(output: Path) -> list[Path]:
    names = [*EVALUATION_FILES, *(path.name for path in (output / "evaluation").glob("search*"))]
    return [output / "evaluation" / name for name in names]


def test_an_index_that_is_being_written_is_refused_before_any_stage(tmp_path: Path) -> None:
    OutputFolder(tmp_path, "run")
    with IndexVersions(tmp_path / "index").writing():
        run = SampleRun(tmp_path, "configs/sample.yaml", "--set", "search.index=true")
    assert run.code == 1
    assert "is being written by another process; wait until it is done, and try again" in run.err
    assert run.stages == {}


def test_a_folder_of_somebody_else_where_the_index_goes_is_refused_before_any_stage(tmp_path: Path) -> None:
    OutputFolder(tmp_path, "run")
    photo = tmp_path / "index" / "2021" / "beach.jpg"
    photo.parent.mkdir(parents=True)
    photo.write_text("")
    run = SampleRun(tmp_path, "configs/sample.yaml", "--set", "search.index=true")
    assert run.code == 1
    assert "must be a folder for an index alone; it holds 2021; choose another" in run.err
    assert run.stages == {}
    assert photo.exists()
