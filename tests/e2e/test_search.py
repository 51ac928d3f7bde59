"""A run with an index: the test queries search the whole collection, and the search is evaluated."""

import json
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from models.evaluation.search_metrics import ranks_of, search_metrics
from models.exported.model import LoadedModel
from models.lists.feedback import similarity_of
from models.lists.ranking import rank
from pipeline.output_folder import OutputFolder
from schemas.evaluation import QueryMetrics
from schemas.search_report import SearchReport
from schemas.trec import parse_run
from smooth_clir.retrieval.index_files import check_version
from smooth_clir.retrieval.index_versions import IndexVersions
from tests.cli.command import Clir
from tests.e2e.process import SAMPLE, SampleRun, forked, tree

pytestmark = pytest.mark.runs

DOCUMENTS = [line.split("\t") for line in (SAMPLE / "wiki_fr.documents").read_text().splitlines()]
HANDFUL = 6


@pytest.fixture(scope="module")
def report(search_run: SampleRun) -> SearchReport:
    return SearchReport.from_json((search_run.output / "evaluation" / "search.json").read_text())


def per_query(run: SampleRun) -> QueryMetrics:
    return QueryMetrics.from_tsv((run.output / "evaluation" / "search_per_query.tsv").read_text())


def test_the_metrics_are_those_of_scoring_every_document(search_run: SampleRun) -> None:
    (model,) = search_run.versions
    exported = LoadedModel(str(model))
    ids = [doc_id.encode() for doc_id, _, _ in DOCUMENTS]
    _, vectors = exported.own_vectors([text for _, _, text in DOCUMENTS])
    texts = dict(line.split("\t")[::2] for line in (SAMPLE / "wiki_en.queries").read_text().splitlines())
    judgments: dict[str, dict[bytes, int]] = {}
    for line in (search_run.output / "evaluation" / "qrels.trec").read_text().splitlines():
        query_id, _, doc_id, grade = line.split()
        judgments.setdefault(query_id, {})[doc_id.encode()] = int(grade)
    published = per_query(search_run)
    queries = published.query_ids[::-1][:HANDFUL]
    grades, ranks = [], []
    for query_id in queries:
        scores = np.array(exported.score(texts[query_id], [text for _, _, text in DOCUMENTS])["scores"], np.float32)
        scores += exported.feedback.added(scores, rank(scores, ids), similarity_of(vectors))
        ranked = [ids[position] for position in rank(scores, ids)]
        grades.append(np.array([*judgments[query_id].values()]))
        ranks.append(ranks_of([*judgments[query_id]], ranked))
    for key, values in search_metrics(grades, ranks, 2).items():
        published_values = dict(zip(published.query_ids, published.values[key], strict=True))
        assert values == pytest.approx([published_values[query_id] for query_id in queries]), key


def test_the_report_stands_beside_the_lists(search_run: SampleRun, report: SearchReport) -> None:
    lists = search_run.report
    assert (report.queries, report.documents) == (lists["queries"], len(DOCUMENTS))
    assert report.channels.keys() == {"dense", "lexicon"}
    assert report.sampled.metrics["ndcg_5"] == lists["metrics"]["ndcg_5"]
    assert report.sampled.baselines["bm25"]["p_mr_1"] == lists["baselines"]["bm25"]["p_mr_1"]
    assert report.approximation.overlap_10 == 1
    # The collection is smaller than the depth.
    assert report.metrics["recall_1000"] == report.channels["dense"]["recall_1000"] == 1
    values = per_query(search_run).values
    assert report.metrics == pytest.approx({key: float(np.mean(values[key])) for key in values})


def test_the_run_file_ranks_every_document_for_every_query(search_run: SampleRun) -> None:
    lines = (search_run.output / "evaluation" / "search_run.trec").read_text().splitlines()
    run = parse_run(lines, "search_run.trec")
    assert [*run.scores] == per_query(search_run).query_ids
    assert all({*scores} == {doc_id for doc_id, _, _ in DOCUMENTS} for scores in run.scores.values())


def test_the_search_is_printed_and_the_pushed_index_is_whole_and_that_of_the_run(
    search_run: SampleRun, report: SearchReport
) -> None:
    assert json.loads(search_run.out)["search"] == report.model_dump(mode="json")
    assert f'clir search {search_run.output} "..."' in search_run.err
    assert "index/        versions of the index: 1" in search_run.err
    version = check_version(str(search_run.output / "index" / "1"))
    assert version.faults == {}
    assert version.manifest and version.manifest.of_run and version.manifest.origin


def test_after_an_edit_only_the_stages_that_run_the_code_are_not_from_the_cache(search_run: SampleRun) -> None:
    code = search_run.output.parent / "code"
    path = code / "models" / "theory" / "theorem_3.py"
    content, before = path.read_bytes(), tree(search_run.output / "evaluation")
    path.write_bytes(content + b"\nEDITED = 1\n")
    again = SampleRun(search_run.output, search_run.output / "config.yaml", start=partial(forked, code=code))
    path.write_bytes(content)
    assert again.code == 0, again.err
    assert again.ran == {"TrainingReport", "IndexPusher"}
    after = tree(search_run.output / "evaluation")
    assert {name for name in before | after if before.get(name) != after.get(name)} <= {"verdict.json"}
    assert [path.name for path in (search_run.output / "index").glob("[0-9]*")] == ["1"]


# Refusals before any stage


def test_an_index_that_is_being_written_or_is_somebody_else_s_folder_is_refused_before_any_stage(
    clir: Clir, tmp_path: Path
) -> None:
    OutputFolder(tmp_path, "run")
    command = ("run", "configs/sample.yaml", f"--set=output={tmp_path}", "--set=search.index=true")
    with IndexVersions(tmp_path / "index").writing():
        locked = clir(*command)
    shutil.rmtree(tmp_path / "index")
    photo = tmp_path / "index" / "2021" / "beach.jpg"
    photo.parent.mkdir(parents=True)
    photo.touch()
    foreign = clir(*command)
    for refused, reason in ((locked, str(tmp_path / "index")), (foreign, "2021")):
        assert refused.code == 1
        assert reason in refused.err
        assert "[ 1/" not in refused.err
    assert photo.exists()
    assert not (tmp_path / "artifacts").exists()
