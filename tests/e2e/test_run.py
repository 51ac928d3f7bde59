"""The whole pipeline on the sample: what a run leaves, what it repeats, and how it fails."""

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
import tensorflow as tf
import tensorflow_text  # noqa: F401  its ops are in the model
import yaml
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from models.evaluation.metrics import METRICS, mean_metrics
from models.evaluation.score_lists import score_lists
from models.lists.ranking_lists import read_lists
from models.rankers.ranker import SCORES
from models.retrieval.ranking import ranked_grades
from tests.e2e.process import DECIDES, SAMPLE, SampleRun
from tests.reference import TREC_METRICS

pytestmark = pytest.mark.runs

STAGES = """
    CollectionGen ImportSchemaGen WikiClirExampleGen LexicalBaseline StatisticsGen ExampleValidator Transform Trainer
    Evaluator TrainingReport Gate Pusher
""".split()


def tree(folder: Path) -> dict[str, bytes]:
    """Every file under a folder, with its content."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def own_output(sample_run: SampleRun, tmp_path: Path) -> Iterator[Path]:
    """The run's own folder, to change and run in: the metadata and cache keys name it, so a copy would not do.

    Afterwards it is as it was.
    """
    kept = shutil.copytree(sample_run.output, tmp_path / "kept", symlinks=True)
    yield sample_run.output
    shutil.rmtree(sample_run.output)
    shutil.move(kept, sample_run.output)


# What a run leaves


def test_the_layout_under_output(sample_run: SampleRun) -> None:
    folders = {"evaluation", "data", "training", "tensorboard", "serving", "artifacts"}
    expected = {"config.yaml", "metadata.sqlite"} | folders
    assert {path.name for path in sample_run.output.iterdir()} == expected | {".lock", ".clir.json"}
    assert tree(sample_run.output / "evaluation").keys() == {
        "metrics.json", "per_query.tsv", "per_query_baselines.tsv", "verdict.json", "run.trec", "qrels.trec",
    }  # fmt: skip
    assert tree(sample_run.output / "data").keys() == {"report.json"}
    assert tree(sample_run.output / "training").keys() == {"training.json", "stability.json", "stability.md"}
    (version,) = sample_run.versions
    assert version.name.isdigit()
    assert {"saved_model.pb", "variables/variables.index"} <= tree(version).keys()


def test_stdout_is_the_report_as_json(sample_run: SampleRun) -> None:
    printed = json.loads(sample_run.out)
    assert printed.pop("data") == json.loads((sample_run.output / "data" / "report.json").read_text())
    assert [printed.pop("pushed")] == [printed.pop("newest")] == [str(version) for version in sample_run.versions]
    assert printed.pop("verdict") == sample_run.verdict
    assert {stage["name"] for stage in printed.pop("summary")["stages"]} == set(STAGES)
    assert printed == sample_run.report


def test_stderr_tells_of_every_stage_and_holds_no_library_s_log(sample_run: SampleRun) -> None:
    assert sample_run.stages == dict.fromkeys(STAGES, False)
    assert "training on CPU:0" in sample_run.err
    assert not re.search("WARNING|Traceback|Exception", sample_run.err)


def test_the_resolved_configuration_is_written_with_absolute_paths_and_digests(sample_run: SampleRun) -> None:
    config = yaml.safe_load((sample_run.output / "config.yaml").read_text())
    assert config["training"]["epochs"] == 12
    assert config["data"]["queries"] == str(SAMPLE / "wiki_en.queries")
    assert all(len(config["data"]["sha256"][role]) == 64 for role in ("queries", "documents", "judgments"))


def test_the_model_ranks_three_times_better_than_random_order(sample_run: SampleRun) -> None:
    assert sample_run.report["metrics"]["ndcg_5"] >= 3 * sample_run.report["baselines"]["random"]["ndcg_5"]


def test_every_metric_stands_beside_the_baselines_and_what_is_reachable(sample_run: SampleRun) -> None:
    report = sample_run.report
    for values in (report["metrics"], report["reachable"], *report["baselines"].values()):
        assert list(values) == list(METRICS)
        assert all(0 <= values[key] <= report["reachable"][key] <= 1 for key in METRICS)
    assert report["baselines"].keys() == {"random", "bm25"}
    # Every page has sentences in the train split.
    assert (report["seen"]["metrics"], report["cold"]["queries"]) == (report["metrics"], 0)
    assert "warning: most test documents also occur in training" in sample_run.err


def test_the_first_model_is_blessed_without_a_comparison(sample_run: SampleRun) -> None:
    verdict = sample_run.verdict
    assert (verdict["blessed"], verdict["comparison"]) == (True, None)
    assert verdict["reason"] == "all metrics are above those of random order; no model was pushed before"


def test_the_metrics_equal_pytrec_eval_s_on_the_written_files(sample_run: SampleRun) -> None:
    with (sample_run.output / "evaluation" / "run.trec").open() as lines:
        run = pytrec_eval.parse_run(lines)
    with (sample_run.output / "evaluation" / "qrels.trec").open() as lines:
        qrels = pytrec_eval.parse_qrel(lines)
    for ours, (name, relevance_level) in TREC_METRICS.items():
        values = pytrec_eval.RelevanceEvaluator(qrels, {name}, relevance_level=relevance_level).evaluate(run)
        mean = sum(one[name] for one in values.values()) / len(qrels)
        assert sample_run.report["metrics"][ours] == pytest.approx(mean, abs=1e-6)
    assert len(qrels) == sample_run.report["queries"]


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
    tags = {
        "train/loss",
        "train/gradient_norm_mean",
        "train/gradient_norm_max",
        "score_gradient/max",
        "score_gradient/plain_cosine_max",
        "score_gradient/bound",
    }
    tags |= {*(f"scores/{grade}" for grade in ("MR", "SR", "NR")), *(f"eval/{key}" for key in METRICS)}
    assert tags <= set(events.Tags()["tensors"])
    for tag in tags:
        assert [event.step for event in events.Tensors(tag)] == list(range(1, 13))


def test_tensorboard_shows_where_the_model_puts_the_words_of_both_languages(sample_run: SampleRun) -> None:
    (folder,) = (sample_run.output / "tensorboard").iterdir()
    config = (folder / "projector_config.pbtxt").read_text()
    assert all(f'"{name}"' in config for name in ("word_vectors.tsv", "words.tsv"))
    head, *lines = (folder / "words.tsv").read_text().splitlines()
    words = dict(enumerate(tuple(line.split("\t")) for line in lines))
    assert (head, Counter(place[1:] for place in words.values())) == (
        "word\tside",
        {("query",): 2000, ("document",): 2000},
    )
    vectors = np.loadtxt(folder / "word_vectors.tsv", delimiter="\t", dtype=np.float32)
    model = tf.saved_model.load(str(sample_run.versions[0]))
    for word, side in (("water", "query"), ("eau", "document")):
        (place,) = (number for number, one in words.items() if one == (word, side))
        encoded = model.signatures[f"encode_{side}"](**{side: tf.constant([word])})["vector"]
        assert vectors[place] == pytest.approx(encoded.numpy()[0], abs=1e-4)


def test_the_exported_model_scores_the_eval_split_as_training_did(sample_run: SampleRun, model_path: str) -> None:
    training = json.loads((sample_run.output / "training" / "training.json").read_text())
    best = training["history"][training["best_epoch"] - 1]
    lists = read_lists(map(str, sample_run.output.glob("artifacts/WikiClirExampleGen/examples/*/Split-eval/*")))
    ranked = ranked_grades(lists.query_ids, lists.doc_ids, score_lists(model_path, lists)[SCORES], lists.grades)
    assert mean_metrics(ranked, top_grade=2) == pytest.approx({key: best[f"eval/{key}"] for key in METRICS}, abs=1e-6)
    assert best["eval/ndcg_5"] == max(epoch["eval/ndcg_5"] for epoch in training["history"])


def test_the_stability_of_the_run_stands_beside_its_history(sample_run: SampleRun) -> None:
    training, stability = (
        json.loads((sample_run.output / "training" / f"{name}.json").read_text()) for name in ("training", "stability")
    )
    data = json.loads((sample_run.output / "data" / "report.json").read_text())
    assert training["train_pairs"] == data["pairs"]["train"]
    assert training["steps"] == 12 * (data["lists"]["train"] // 16)
    assert stability["largest_score_gradient"] == max(row["score_gradient/max"] for row in training["history"])
    assert stability["largest_score_gradient"] <= stability["gradient_bound"] == 1
    assert stability["theorem_3"]["pairs"] == training["train_pairs"]
    assert "cannot be reached" not in sample_run.err


@pytest.mark.long
def test_a_grade_that_no_score_can_satisfy_is_a_warning(sample_run: SampleRun, own_output: Path) -> None:
    again = SampleRun(
        own_output, own_output / "config.yaml", "--set", "loss.name=three_part_l2", "--set", "loss.theta=null",
        "--set", "training.epochs=1", "--set", "evaluation.minimums={}", "--set", "evaluation.significance=0.0001",
    )  # fmt: skip
    sentence = (
        "with embedding_dim 64 and epsilon 1 no score exceeds 0.790; three_part_l2 aims at 0.9 or more for grade 2"
    )
    assert again.err.count(f"warning: {sentence}, which cannot be reached\n") == 1
    assert f"- {sentence}" in (own_output / "training" / "stability.md").read_text()


# What a run repeats


def test_an_identical_run_comes_from_the_cache_and_pushes_nothing(sample_run: SampleRun) -> None:
    served, evaluated = tree(sample_run.output / "serving"), tree(sample_run.output / "evaluation")
    again = SampleRun(sample_run.output, sample_run.output / "config.yaml")
    assert again.code == 0
    assert again.stages == {name: name not in DECIDES for name in STAGES}
    assert "every stage came from the cache" in again.err
    assert tree(sample_run.output / "serving") == served
    left = tree(sample_run.output / "evaluation")
    assert {name for name in left if left[name] != evaluated[name]} == {"verdict.json"}
    (version,) = sample_run.versions
    assert again.verdict["reason"].endswith(f"not compared with version {version.name}, which is this very model")
    assert f"is pushed already as the newest version, {version}" in again.err
    printed, expected = json.loads(again.out), json.loads(sample_run.out)
    assert printed.pop("summary").keys() == expected.pop("summary").keys()
    assert printed | {"verdict": None} == expected | {"verdict": None}


def test_another_training_seed_runs_the_trainer_and_what_follows(sample_run: SampleRun, own_output: Path) -> None:
    (first,), report = sample_run.versions, sample_run.report
    again = SampleRun(own_output, own_output / "config.yaml", "--set", "training.seed=2")
    assert again.code == 0
    assert again.ran == {"Trainer", "TrainingReport", "Evaluator"}
    assert again.report["metrics"] != report["metrics"]
    assert again.report["baselines"] == report["baselines"]
    assert len(again.versions) == 2
    comparison = again.verdict["comparison"]
    assert comparison["version"] == first.name == again.versions[0].name
    assert comparison["last_value"] == pytest.approx(report["metrics"]["ndcg_5"])
    assert comparison["value"] == again.report["metrics"]["ndcg_5"]
    assert f"not significantly worse than version {first.name}" in again.verdict["reason"]


def test_lost_files_are_restored_and_what_killed_runs_left_is_removed(sample_run: SampleRun, own_output: Path) -> None:
    (version,) = sample_run.versions

    def kept() -> list[dict[str, bytes]]:
        """The files that must come back; the gate's decision is new on every run."""
        folders = [own_output / name for name in ("serving", "evaluation", "data", "training", "artifacts")]
        decided = ("verdict.json", *(f"{name}/" for name in DECIDES))
        return [
            {name: content for name, content in tree(folder).items() if not name.startswith(decided)}
            for folder in folders
        ]

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
    assert not left.exists()
    # The version, too: it is pushed again, under its own number.
    assert kept() == before


@pytest.mark.long
def test_the_resolved_configuration_gives_the_same_numbers_in_a_fresh_folder(
    sample_run: SampleRun, tmp_path: Path
) -> None:
    other = SampleRun(tmp_path / "other", sample_run.output / "config.yaml")
    assert other.code == 0
    assert other.ran == {*STAGES} - DECIDES
    made, expected = (tree(run.output / "evaluation") for run in (other, sample_run))
    for files in (made, expected):
        del files["verdict.json"]  # on the model before, which other tests may have pushed
    assert made == expected


# Pre-trained vectors


@pytest.mark.long
def test_a_word_that_the_train_split_lacks_keeps_its_vector_in_the_exported_model(
    sample_run: SampleRun, own_output: Path, tmp_path: Path
) -> None:
    table = tmp_path / "en.vec"
    table.write_text("4 3\nzorilla 1 -2 0.5\nwater 1 0 0\nwater 0 1 0\n<UNK> 0 0 1\n")
    settings = ("training.epochs=1", "model.embedding_dim=3", f"embeddings.query={table}", "evaluation.start_anew=true")
    again = SampleRun(own_output, own_output / "config.yaml", *(part for one in settings for part in ("--set", one)))
    assert again.ran == {"Transform", "Trainer", "TrainingReport", "Evaluator"}, again.err
    assert "query word vectors: 4 read, 2 used; left out: 1 mark in angle brackets" in again.err
    table.unlink()
    model = max(own_output.glob("artifacts/Trainer/model/*/Format-Serving"), key=lambda path: int(path.parent.name))
    encode = tf.saved_model.load(str(model)).signatures["encode_query"]
    vector = np.tanh([1, -2, 0.5])
    expected = vector / (np.linalg.norm(vector) + 1.0)
    np.testing.assert_allclose(encode(query=tf.constant(["Zorilla!"]))["vector"][0], expected, atol=1e-6)
    (written,) = own_output.glob("tensorboard/*/embeddings.json")
    report = json.loads(written.read_text())["query"]
    assert (report["read"], report["used"], sum(drop["count"] for drop in report["drops"])) == (4, 2, 2)
    assert report["distinct_words"]["found"] == 1 < report["distinct_words"]["all"]


# How a run fails


def test_a_model_below_its_minimums_is_not_pushed_and_the_reason_is_reported(
    sample_run: SampleRun, own_output: Path
) -> None:
    reached, versions = sample_run.report["metrics"]["ndcg_5"], sample_run.versions
    again = SampleRun(own_output, own_output / "config.yaml", "--set", "evaluation.minimums={ndcg_5: 0.99}")
    reason = f"ndcg_5 must reach 0.9900; got {reached:.4f}"
    assert again.code == 1
    assert f"clir: the model was not pushed: {reason}. As before, the newest version is {versions[-1]}.\n" in again.err
    assert "Traceback" not in again.err
    assert again.ran == set()
    assert again.versions == versions
    assert (again.verdict["blessed"], again.verdict["reason"]) == (False, reason)
    assert again.report["metrics"] == sample_run.report["metrics"]
    assert json.loads(again.out)["pushed"] is None
