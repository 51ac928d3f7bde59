"""The compiled specification, executed: each task's own command in dependency order gives what the local run gives."""

import json
from pathlib import Path

import pytest

from tests.e2e.kubeflow_cluster import LOGS, ROOT, Cluster
from tests.e2e.process import forked

pytestmark = pytest.mark.long

SETTINGS = ("--set=evaluation.baselines=[]", "--set=search.index=true")
"""Those of `demo_output`."""


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in place of the cluster's volume, which holds models, indices and unfinished trainings."""
    return tmp_path_factory.mktemp("volume") / "out"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, output: Path) -> Cluster:
    """A run of the sample with other epochs than it was compiled with."""
    spec = tmp_path_factory.mktemp("spec") / "pipeline.yaml"
    image = ("--image", "clir:1", "--set", f"output={output}", "--set", "training.epochs=1")
    compiled = forked("compile", "configs/sample.yaml", "--output", spec, *image, *SETTINGS)
    assert compiled.code == 0, compiled.err
    cluster = Cluster(spec, tmp_path_factory.mktemp("cluster"), {"training_epochs": 12})
    cluster.run()
    return cluster


def test_the_outputs_are_the_local_run_s_to_the_last_byte(cluster: Cluster, demo_output: Path) -> None:
    artifacts = {"Evaluator": "evaluation", "SearchEvaluator": "search_evaluation"}
    files = {path.name: path for task, key in artifacts.items() for path in cluster.artifact(task, key).iterdir()}
    assert files.keys() >= {"metrics.json", "per_query.tsv", "run.trec", "search.json", "search_run.trec"}
    for name, path in files.items():
        assert path.read_bytes() == (demo_output / "evaluation" / name).read_bytes(), name
    report = cluster.artifact("WikiClirExampleGen", "report") / "report.json"
    assert report.read_bytes() == (demo_output / "data" / "report.json").read_bytes()
    verdict = json.loads((cluster.artifact("Gate", "blessing") / "verdict.json").read_text())
    local_verdict = json.loads((demo_output / "evaluation" / "verdict.json").read_text())
    assert {**verdict, "reason": ""} == {**local_verdict, "reason": ""}  # perhaps of a later run, which compares more
    training, published = cluster.artifact("TrainingReport", "report") / "training", demo_output / "training"
    assert (
        json.loads((training / "training.json").read_text()).keys()
        == json.loads((published / "training.json").read_text()).keys()
    )


def test_the_model_and_its_index_alone_are_on_the_volume(cluster: Cluster, output: Path) -> None:
    (version,) = (output / "serving").iterdir()
    assert {"saved_model.pb", "MODEL_CARD.md"} <= {path.name for path in version.iterdir()}
    assert "12 epochs over" in (version / "MODEL_CARD.md").read_text()
    assert [path.name for path in (output / "index").glob("[0-9]*")] == ["1"]
    # No unfinished training, and no log of Kubeflow's own.
    assert {path.name for path in output.iterdir()} == {"serving", "index"}
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
    assert "those of CollectionGen differ" in log
    assert "Traceback" not in log
