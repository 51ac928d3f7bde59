"""The compiled specification, executed: each task's own command in dependency order gives what the local run gives."""

import json
from pathlib import Path

import pytest

from tests.e2e.kubeflow_cluster import LOGS, ROOT, Cluster
from tests.e2e.process import SampleRun, forked

pytestmark = pytest.mark.long

SETTINGS = ("--set", "search.index=true", "--set", "data.max_queries=300")
CONFIG = "configs/sample.yaml"


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in place of the cluster's volume, which holds models, indices and unfinished trainings."""
    return tmp_path_factory.mktemp("volume") / "out"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, output: Path) -> Cluster:
    """A run of the sample with other epochs than it was compiled with."""
    spec = tmp_path_factory.mktemp("spec") / "pipeline.yaml"
    image = ("--image", "clir:1", "--set", f"output={output}")
    compiled = forked("compile", CONFIG, "--output", spec, *image, *SETTINGS, "--set", "training.epochs=1")
    assert compiled.code == 0, compiled.err
    cluster = Cluster(spec, tmp_path_factory.mktemp("cluster"), {"training_epochs": 3})
    cluster.run()
    return cluster


@pytest.fixture(scope="module")
def local_run(tmp_path_factory: pytest.TempPathFactory) -> SampleRun:
    run = SampleRun(tmp_path_factory.mktemp("local") / "out", CONFIG, *SETTINGS, "--set", "training.epochs=3")
    assert run.code == 0, run.err
    return run


def test_the_metrics_are_the_local_run_s_to_the_last_byte(cluster: Cluster, local_run: SampleRun) -> None:
    places = {"Evaluator": "evaluation", "SearchEvaluator": "search_evaluation"}
    files = {path.name: path for task, key in places.items() for path in cluster.artifact(task, key).iterdir()}
    assert files.keys() >= {"metrics.json", "per_query.tsv", "run.trec", "search.json", "search_run.trec"}
    for name, path in files.items():
        assert path.read_bytes() == (local_run.output / "evaluation" / name).read_bytes(), name
    verdict = json.loads((cluster.artifact("Gate", "blessing") / "verdict.json").read_text())
    assert verdict == local_run.verdict


def test_what_the_local_run_publishes_are_artifacts(cluster: Cluster, local_run: SampleRun) -> None:
    report = cluster.artifact("TrainingReport", "report")
    published = json.loads((local_run.output / "training" / "training.json").read_text())
    assert json.loads((report / "training" / "training.json").read_text()).keys() == published.keys()
    data = cluster.artifact("WikiClirExampleGen", "report") / "report.json"
    assert data.read_bytes() == (local_run.output / "data" / "report.json").read_bytes()


def test_the_model_and_its_index_are_pushed_to_the_volume(cluster: Cluster, output: Path) -> None:
    (version,) = (output / "serving").iterdir()
    assert {"saved_model.pb", "MODEL_CARD.md"} <= {path.name for path in version.iterdir()}
    assert "3 epochs over" in (version / "MODEL_CARD.md").read_text()
    assert [path.name for path in (output / "index").glob("[0-9]*")] == ["1"]


def test_nothing_of_a_training_is_left_unfinished(cluster: Cluster, output: Path) -> None:
    assert {path.name for path in output.iterdir()} == {"serving", "index"}


def test_no_task_writes_the_log_that_kubeflow_writes_itself(cluster: Cluster) -> None:
    assert not list((cluster.folder / "store").rglob(LOGS))
    assert ROOT.startswith("minio://")


def test_a_second_run_finds_the_last_pushed_model_and_does_not_push_it_again(cluster: Cluster, output: Path) -> None:
    versions = [path.name for path in (output / "serving").iterdir()]
    for name in ("Gate", "Pusher"):
        cluster.again(name)
    verdict = json.loads((cluster.artifact("Gate", "blessing") / "verdict.json").read_text())
    assert verdict["reason"].endswith(f"not compared with version {versions[0]}, which is this very model")
    assert [path.name for path in (output / "serving").iterdir()] == versions


def test_a_task_of_an_image_with_other_code_ends_with_a_sentence(cluster: Cluster) -> None:
    log = cluster.again("CollectionGen", identity="of another image")
    assert "the image must hold the code, the Python and the libraries that the pipeline was compiled from" in log
    assert "Traceback" not in log
