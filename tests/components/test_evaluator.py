"""Evaluator: the files that it writes, for machines and for trec_eval."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from models.evaluation.metrics import METRICS
from models.lists.feedback import Feedback
from schemas.errors import DataError
from schemas.evaluation import EVALUATION_FILES, QueryMetrics
from schemas.trec import parse_run

pytestmark = pytest.mark.stages

LISTS = {f"q{number}": ("fox", {"d1": ("renard", 2), "d2": ("loup", 1), "d3": ("ours", 0)}) for number in range(6)}
TRAIN = {f"t{number}": ("fox", {"d1": ("renard", number), "d2": ("loup", 2)}) for number in range(2)}
"""Document d1, the MR document of every test list, is relevant to one of the train queries."""
SCORES = [3, 2, 1]
"""The model's scores of the three documents of a list."""
RUNS = ("bm25_run", "paper_run")
"""The inputs of the baselines."""


def write_run(folder, tag, lists):
    """Writes a run that gives all documents of lists one score."""
    rows = [f"{query_id} Q0 {doc_id} 1 0 {tag}\n" for query_id, (_, documents) in lists.items() for doc_id in documents]
    (folder / "run.trec").write_text("".join(rows))


@pytest.fixture
def evaluated(tmp_path, make_artifact, make_examples):
    """Evaluates a folder as a model, beside runs with some tags; returns the evaluation's folder and report."""
    from components.evaluator import Evaluator

    def evaluated(*tags, lists=LISTS, train=TRAIN, **properties):
        examples = make_examples(tmp_path, lists, train)
        runs = [make_artifact("RankingRun", tmp_path / f"baseline_{number}") for number, _ in enumerate(tags)]
        for run, tag in zip(runs, tags, strict=True):
            write_run(Path(run.uri), tag, lists)
        beside = dict(zip(RUNS, runs, strict=False))
        model, evaluation = make_artifact("Model", tmp_path), make_artifact("ModelEvaluation", tmp_path)
        (Path(model.uri) / "Format-Serving").mkdir()
        Evaluator.test_call(examples, model, evaluation, top_grade=2, **beside, **properties)
        return Path(evaluation.uri), json.loads((Path(evaluation.uri) / "metrics.json").read_text())

    return evaluated


@pytest.fixture
def scored(monkeypatch):
    """The models that were asked for scores, each with the second pass that its report names; none is loaded."""
    from components import evaluator

    paths = []

    def score_lists(path, lists, encoder):
        assert encoder is None
        paths.append(path)
        return {"scores": [np.asarray(SCORES, np.float32)] * len(lists)}

    monkeypatch.setattr(evaluator, "score_lists", score_lists)
    monkeypatch.setattr(evaluator, "LoadedModel", lambda path: SimpleNamespace(feedback=Feedback(4.0, 3)))
    return paths


def test_the_evaluation_is_written_for_machines_and_for_trec_eval(evaluated, scored, tmp_path):
    folder, report = evaluated("dense", "bm25")
    assert {path.name for path in folder.iterdir()} == {*EVALUATION_FILES}
    assert (report["split"], report["queries"], report["metrics"]["p_mr_1"]) == ("test", len(LISTS), 1)
    assert (report["feedback"], report["feedback_documents"]) == (4, 3)
    assert [*report["baselines"]] == ["random", "bm25", "dense"]
    assert (report["seen"]["queries"], report["cold"]["queries"], report["domains"]) == (len(LISTS), 0, {})
    with (folder / "run.trec").open() as run:
        written = parse_run(run, "run.trec")
    assert written == ("smooth_clir", {query_id: {"d1": 3, "d2": 2, "d3": 1} for query_id in LISTS})
    expected_precision = {"p_r_5": "0.4000000059604645", "p_r_10": "0.20000000298023224"}
    assert (folder / "per_query.tsv").read_text().splitlines()[:2] == [
        "\t".join(["query_id", *METRICS]),
        "\t".join(["q0", *(expected_precision.get(key, "1.0") for key in METRICS)]),
    ]
    baseline_metrics = QueryMetrics.from_tsv((folder / "per_query_baselines.tsv").read_text())
    assert baseline_metrics.query_ids == [*LISTS]
    assert np.mean(baseline_metrics.values["bm25/map"]) == pytest.approx(report["baselines"]["bm25"]["map"])
    assert (folder / "qrels.trec").read_text().startswith("q0 0 d1 2\nq0 0 d2 1\nq0 0 d3 0\nq1 0 d1 2\n")
    assert scored == [str(tmp_path / "Model" / "Format-Serving")]


def test_a_model_that_cannot_be_loaded_is_named(evaluated, tmp_path):
    with pytest.raises(DataError, match=f"^{tmp_path}/Model/Format-Serving "):
        evaluated()


def test_two_baselines_of_one_name_end_the_stage(evaluated, scored):
    with pytest.raises(DataError, match="bm25"):
        evaluated("bm25", "bm25")


# Domains

OF_DOMAINS = {
    f"{name}/{number}": documents for name in ("health", "news") for number, documents in enumerate(LISTS.values())
}
SEEN = {"health/t": ("fox", {"d1": ("renard", 2)}), "news/t": ("fox", {"d2": ("loup", 2)})}


def test_each_domain_has_a_part_of_the_report_with_the_means_of_its_queries(evaluated, scored):
    folder, report = evaluated("bm25", lists=OF_DOMAINS, train=SEEN)
    assert {name: part["queries"] for name, part in report["domains"].items()} == {"health": 6, "news": 6}
    per_query = QueryMetrics.from_tsv((folder / "per_query.tsv").read_text())
    for name, part in report["domains"].items():
        own = [row for row, query_id in enumerate(per_query.query_ids) if query_id.startswith(name)]
        assert part["metrics"] == pytest.approx(
            {key: np.mean([values[row] for row in own]) for key, values in per_query.values.items()}
        )
        assert part["baselines"].keys() == {"random", "bm25"}


def test_only_queries_of_held_out_domains_are_evaluated_and_no_train_query_of_theirs_is_seen(evaluated, scored):
    folder, report = evaluated("bm25", lists=OF_DOMAINS, train=SEEN, held_out=("health",))
    assert (report["queries"], [*report["domains"]]) == (6, ["health"])
    assert QueryMetrics.from_tsv((folder / "per_query.tsv").read_text()).query_ids == [
        query_id for query_id in OF_DOMAINS if query_id.startswith("health")
    ]
    # Of the trained domain d2 alone is seen, and the lists' MR document is d1.
    assert (report["seen"]["queries"], report["cold"]["queries"]) == (0, 6)


# In a pipeline


@pytest.mark.parametrize("tags", [[], ["dense", "bm25"]])
def test_a_pipeline_hands_over_the_runs_of_any_number_of_stages_and_caches_them(
    tmp_path, make_artifact, make_examples, scored, tags
):
    from tfx.orchestration import pipeline as tfx_pipeline
    from tfx.orchestration.metadata import sqlite_metadata_connection_config
    from tfx.types import standard_artifacts

    from components.evaluator import Evaluator
    from pipeline.launching import launch
    from schemas.artifacts import RankingRun
    from tests.components.source import Source

    examples, model = make_examples(tmp_path, LISTS), make_artifact("Model", tmp_path)
    (Path(model.uri) / "Format-Serving").mkdir()
    (Path(model.uri) / "Format-Serving" / "saved_model.pb").touch()
    for tag in tags:
        (tmp_path / tag).mkdir()
        write_run(tmp_path / tag, tag, LISTS)

    def run():
        """Runs the stages; returns how each of them came by its output, and the baselines."""
        lists = Source(standard_artifacts.Examples, examples.uri, examples.split_names).with_id("Lists")
        exported = Source(standard_artifacts.Model, model.uri).with_id("Exported")
        runs = [Source(RankingRun, str(tmp_path / tag)).with_id(tag) for tag in tags]
        evaluator = Evaluator(
            examples=lists.outputs["made"],
            model=exported.outputs["made"],
            top_grade=2,
            **{key: run.outputs["made"] for key, run in zip(RUNS, runs, strict=False)},
        )
        connection = sqlite_metadata_connection_config(str(tmp_path / "metadata.sqlite"))
        pipeline = tfx_pipeline.Pipeline(
            pipeline_name="baselines",
            pipeline_root=str(tmp_path / "artifacts"),
            components=[lists, exported, *runs, evaluator],
            metadata_connection_config=connection,
            enable_cache=True,
        )
        ends = {end.name: (end.how, outputs) for end, outputs in launch(pipeline, connection, lambda *_: None)}
        (evaluation,) = ends["Evaluator"][1]["evaluation"]
        report = json.loads((Path(evaluation.uri) / "metrics.json").read_text())
        return {name: how for name, (how, _) in ends.items()}, [*report["baselines"]]

    baselines = ["random", *sorted(tags)]
    stages = ["Lists", "Exported", *tags, "Evaluator"]
    assert run() == (dict.fromkeys(stages, "run"), baselines)
    assert run() == (dict.fromkeys(stages, "cached"), baselines)
    assert len(scored) == 1
