"""The whole pipeline on the sample: what a run leaves, what it repeats, and how it fails."""

import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytrec_eval
import tensorflow as tf
import tensorflow_text  # noqa: F401  its ops are in the model
import yaml
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from models.evaluation.list_metrics import list_metrics, means
from models.evaluation.metrics import METRICS
from models.evaluation.score_lists import score_lists
from models.lists.ranking_lists import read_lists
from models.rankers.ranker import SCORES
from tests.e2e.process import DECIDES, SAMPLE, STAGES, SampleRun, tree
from tests.reference import TREC_METRICS

pytestmark = pytest.mark.runs


@pytest.fixture
def own_output(sample_run: SampleRun, tmp_path: Path) -> Iterator[Path]:
    """The run's own folder, to change and run in: the metadata and cache keys name it, so a copy would not do.

    Afterwards it is as it was.
    """
    kept = shutil.copytree(sample_run.output, tmp_path / "kept", symlinks=True)
    yield sample_run.output
    shutil.rmtree(sample_run.output)
    shutil.move(kept, sample_run.output)


def read_json(*parts: str | Path) -> Any:
    return json.loads(Path(*parts).read_text())


# What a run leaves


def test_the_layout_under_output(sample_run: SampleRun) -> None:
    folders = {"evaluation", "data", "training", "tensorboard", "serving", "artifacts"}
    expected = {"config.yaml", "metadata.sqlite"} | folders
    assert {path.name for path in sample_run.output.iterdir()} == expected | {".lock", ".clir.json"}
    assert tree(sample_run.output / "evaluation").keys() == {
        "metrics.json", "per_query.tsv", "per_query_baselines.tsv", "per_query_channels.tsv", "verdict.json",
        "run.trec", "qrels.trec",
    }  # fmt: skip
    assert tree(sample_run.output / "data").keys() == {"report.json"}
    assert tree(sample_run.output / "training").keys() == {"training.json", "stability.json", "stability.md"}
    (version,) = sample_run.versions
    assert version.name.isdigit()
    assert {"saved_model.pb", "variables/variables.index"} <= tree(version).keys()


def test_stdout_is_the_report_as_json(sample_run: SampleRun) -> None:
    printed = json.loads(sample_run.out)
    assert printed.pop("data") == read_json(sample_run.output, "data", "report.json")
    assert [printed.pop("pushed")] == [printed.pop("newest")] == [str(version) for version in sample_run.versions]
    assert printed.pop("verdict") == sample_run.verdict
    assert {stage["name"] for stage in printed.pop("summary")["stages"]} == set(STAGES)
    assert printed == sample_run.report


def test_stderr_has_a_line_for_every_stage_and_no_library_s_log(sample_run: SampleRun) -> None:
    assert sample_run.stages == dict.fromkeys(STAGES, False)
    assert "training on CPU:0" in sample_run.err
    assert not re.search("WARNING|Traceback|Exception|cannot be reached", sample_run.err)


def test_the_resolved_configuration_is_written_with_absolute_paths_and_digests(sample_run: SampleRun) -> None:
    config = yaml.safe_load((sample_run.output / "config.yaml").read_text())
    assert config["training"]["epochs"] == 12
    assert config["data"]["queries"] == str(sample_run.output.parent / "data" / "wiki_en.queries")
    assert all(len(config["data"]["sha256"][role]) == 64 for role in ("queries", "documents", "judgments"))


def test_the_model_ranks_three_times_better_than_random_order_and_no_better_than_can_be(sample_run: SampleRun) -> None:
    report = sample_run.report
    assert report["baselines"].keys() == {"random", "bm25"}
    assert report["metrics"]["ndcg_5"] >= 3 * report["baselines"]["random"]["ndcg_5"]
    for values in (report["metrics"], report["reachable"], *report["baselines"].values()):
        assert list(values) == list(METRICS)
        assert all(0 <= values[key] <= report["reachable"][key] <= 1 for key in METRICS)
    # Every page has sentences in the train split.
    assert (report["seen"]["metrics"], report["cold"]["queries"]) == (report["metrics"], 0)
    assert "warning: most test documents also occur in training" in sample_run.err
    assert (sample_run.verdict["blessed"], sample_run.verdict["comparison"]) == (True, None)


def test_the_metrics_equal_pytrec_eval_s_on_the_written_files(sample_run: SampleRun) -> None:
    folder = sample_run.output / "evaluation"
    run = pytrec_eval.parse_run((folder / "run.trec").read_text().splitlines())
    qrels = pytrec_eval.parse_qrel((folder / "qrels.trec").read_text().splitlines())
    for ours, (name, relevance_level) in TREC_METRICS.items():
        values = pytrec_eval.RelevanceEvaluator(qrels, {name}, relevance_level=relevance_level).evaluate(run)
        mean = sum(query_values[name] for query_values in values.values()) / sample_run.report["queries"]
        assert sample_run.report["metrics"][ours] == pytest.approx(mean, abs=1e-6)


def test_the_lists_hold_the_judged_documents_and_40_others_under_their_real_ids(sample_run: SampleRun) -> None:
    judged: dict[str, dict[str, str]] = {}
    for line in (SAMPLE / "en2fr.rel").read_text().splitlines():
        query_id, doc_id, grade = line.split("\t")
        judged.setdefault(query_id, {})[doc_id] = grade
    lists: dict[str, dict[str, str]] = {}
    for line in (sample_run.output / "evaluation" / "qrels.trec").read_text().splitlines():
        query_id, _, doc_id, grade = line.split()
        lists.setdefault(query_id, {})[doc_id] = grade
    doc_ids = {line.split("\t")[0] for line in (SAMPLE / "wiki_fr.documents").read_text().splitlines()}
    for query_id, grades in lists.items():
        assert {doc_id: grade for doc_id, grade in grades.items() if grade != "0"} == judged[query_id]
        assert Counter(grades.values())["0"] == 40
        assert grades.keys() <= doc_ids


def test_tensorboard_reads_the_losses_the_gradient_norms_and_the_eval_metrics(sample_run: SampleRun) -> None:
    (folder,) = (sample_run.output / "tensorboard").iterdir()
    events = EventAccumulator(str(folder), size_guidance={"tensors": 0})
    events.Reload()
    tags = {"train/loss", "train/gradient_norm_mean", "train/gradient_norm_max"}
    tags |= {"score_gradient/max", "score_gradient/plain_cosine_max", "score_gradient/bound"}
    tags |= {*(f"scores/{grade}" for grade in ("MR", "SR", "NR")), *(f"eval/{key}" for key in METRICS)}
    assert tags <= set(events.Tags()["tensors"])
    for tag in tags:
        assert [event.step for event in events.Tensors(tag)] == list(range(1, 13))


def test_tensorboard_shows_where_the_model_puts_the_words_of_both_languages(
    sample_run: SampleRun, model_path: str
) -> None:
    (folder,) = (sample_run.output / "tensorboard").iterdir()
    config = (folder / "projector_config.pbtxt").read_text()
    assert all(f'"{name}"' in config for name in ("word_vectors.tsv", "words.tsv"))
    head, *lines = (folder / "words.tsv").read_text().splitlines()
    assert (head, Counter(line.split("\t")[1] for line in lines)) == ("word\tside", {"query": 2000, "document": 2000})
    vectors = np.loadtxt(folder / "word_vectors.tsv", delimiter="\t", dtype=np.float32)
    model = tf.saved_model.load(model_path)
    for word, side in (("water", "query"), ("eau", "document")):
        encoded = model.signatures[f"encode_{side}"](**{side: tf.constant([word])})["vector"]
        assert vectors[lines.index(f"{word}\t{side}")] == pytest.approx(encoded.numpy()[0], abs=1e-4)


def test_the_exported_model_scores_the_eval_split_as_training_did(sample_run: SampleRun, model_path: str) -> None:
    training = read_json(sample_run.output, "training", "training.json")
    best = training["history"][training["best_epoch"] - 1]
    lists = read_lists(map(str, sample_run.output.glob("artifacts/WikiClirExampleGen/examples/*/Split-eval/*")))
    metrics = means(list_metrics(lists, score_lists(model_path, lists)[SCORES], top_grade=2))
    assert metrics == pytest.approx({key: best[f"eval/{key}"] for key in METRICS}, abs=1e-6)
    assert best["eval/ndcg_5"] == max(epoch["eval/ndcg_5"] for epoch in training["history"])


def test_the_stability_of_the_run_stands_beside_its_history(sample_run: SampleRun) -> None:
    training, stability, data = (
        read_json(sample_run.output, name)
        for name in ("training/training.json", "training/stability.json", "data/report.json")
    )
    assert training["train_pairs"] == data["pairs"]["train"]
    assert training["steps"] == 12 * (data["lists"]["train"] // 16)
    assert stability["largest_score_gradient"] == max(row["score_gradient/max"] for row in training["history"])
    assert stability["largest_score_gradient"] <= stability["gradient_bound"] == 1
    assert stability["theorem_3"]["pairs"] == training["train_pairs"]


# What a run repeats


def test_an_identical_run_on_touched_files_comes_from_the_cache_and_pushes_nothing(sample_run: SampleRun) -> None:
    served, evaluated = tree(sample_run.output / "serving"), tree(sample_run.output / "evaluation")
    for path in (sample_run.output.parent / "data").iterdir():
        os.utime(path)
    again = SampleRun(sample_run.output, sample_run.output / "config.yaml")
    assert again.code == 0
    assert again.stages == {name: name not in DECIDES for name in STAGES}
    assert "every stage came from the cache" in again.err
    assert tree(sample_run.output / "serving") == served
    left = tree(sample_run.output / "evaluation")
    assert {name for name in left if left[name] != evaluated[name]} == {"verdict.json"}
    (version,) = sample_run.versions
    assert again.verdict["reason"].endswith(f"not compared with version {version.name}, which is this very model")
    assert f"was already pushed as the newest version, {version}" in again.err
    printed, expected = json.loads(again.out), json.loads(sample_run.out)
    assert printed.pop("summary").keys() == expected.pop("summary").keys()
    assert printed | {"verdict": None} == expected | {"verdict": None}


def test_another_seed_trains_and_evaluates_anew_and_a_model_below_its_minimums_is_not_pushed(
    sample_run: SampleRun, own_output: Path
) -> None:
    (version,), report = sample_run.versions, sample_run.report
    settings = ("--set=training.seed=2", "--set=evaluation.minimums={ndcg_5: 0.99}")
    again = SampleRun(own_output, own_output / "config.yaml", *settings)
    assert again.ran == {"Trainer", "TrainingReport", "Evaluator"}
    assert again.report["metrics"] != report["metrics"]
    assert again.report["baselines"] == report["baselines"]
    comparison, reached = again.verdict["comparison"], again.report["metrics"]["ndcg_5"]
    assert (comparison["version"], comparison["value"]) == (version.name, reached)
    assert comparison["last_value"] == pytest.approx(report["metrics"]["ndcg_5"])
    assert not again.verdict["blessed"]
    assert f"ndcg_5 must reach 0.9900; got {reached:.4f}" in again.verdict["reason"]
    assert again.code == 1
    (line,) = (line for line in again.err.splitlines() if again.verdict["reason"] in line)
    assert line.startswith("clir: ")
    assert str(version) in line
    assert "Traceback" not in again.err
    assert again.versions == [version]
    assert json.loads(again.out)["pushed"] is None


def test_lost_files_are_restored_and_what_killed_runs_left_is_removed(sample_run: SampleRun, own_output: Path) -> None:
    (version,) = sample_run.versions

    def kept() -> dict[str, bytes]:
        """The files that must come back; the gate's decision is new on every run."""
        files = {
            f"{folder}/{name}": content
            for folder in ("serving", "evaluation", "data", "training", "artifacts")
            for name, content in tree(own_output / folder).items()
        }
        decided = ("evaluation/verdict.json", *(f"artifacts/{name}/" for name in DECIDES))
        return {name: content for name, content in files.items() if not name.startswith(decided)}

    before = kept()
    for lost in (version, own_output / "evaluation", own_output / "data", own_output / "training"):
        shutil.rmtree(lost)
    for file in own_output.glob("artifacts/Evaluator/evaluation/[0-9]*/*"):
        file.unlink()
    left = own_output / "artifacts" / "Trainer" / "model" / "999"
    left.mkdir()
    (left / "half").write_text("a model")
    restoring = SampleRun(own_output, own_output / "config.yaml")
    assert restoring.code == 0, restoring.err
    assert restoring.ran == restoring.restored == {"Evaluator"}
    # The version, too: it is pushed again, under its own number.
    assert kept() == before
