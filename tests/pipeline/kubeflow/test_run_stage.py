"""Kubeflow's ExecutorInput on its way to TFX, and what TFX wrote on its way back."""

from pathlib import Path

import pytest

from pipeline.kubeflow.run_stage import ExecutorInput, local_path

COLLECTION = {"instanceSchema": "title: clir.Collection\ntype: object\n"}


def message(root="minio://bucket/run"):
    """The message of a task with one input and one output, and the output that Kubeflow adds."""
    logs = {"name": "executor-logs", "uri": f"{root}/executor-logs", "type": {"schemaTitle": "system.Artifact"}}
    return {
        "inputs": {
            "parameterValues": {"top_grade": 2.0},
            "artifacts": {"collection": {"artifacts": [{"uri": f"{root}/collection", "type": COLLECTION}]}},
        },
        "outputs": {
            "artifacts": {
                "examples": {
                    "artifacts": [{"uri": f"{root}/examples", "type": {"instanceSchema": "title: tfx.Examples"}}]
                },
                "executor-logs": {"artifacts": [logs]},
            },
            "outputFile": "/tmp/outputs/output.json",
        },
    }


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("gs://bucket/a/b", "/gcs/bucket/a/b"),
        ("s3://bucket/a", "/s3/bucket/a"),
        ("minio://mlpipeline/v2/artifacts", "/minio/mlpipeline/v2/artifacts"),
        ("/mnt/volume/a", "/mnt/volume/a"),
    ],
)
def test_an_artifact_lies_where_kubeflow_s_launcher_puts_it(uri, path, monkeypatch):
    monkeypatch.delenv("ARTIFACT_LOCAL_PATH", raising=False)
    assert local_path(uri) == path
    monkeypatch.setenv("ARTIFACT_LOCAL_PATH", "/disk")
    assert local_path(uri) == (path if "://" not in uri else f"/disk{path}")


def test_tfx_gets_paths_of_this_disk_other_parameters_and_no_output_that_it_does_not_know():
    content = message()
    converted = ExecutorInput(content).for_tfx({"top_grade": 3})
    assert content == message()  # it is not written to
    assert converted["inputs"]["parameterValues"] == {"top_grade": 3}
    assert converted["inputs"]["artifacts"]["collection"]["artifacts"][0]["uri"] == "/minio/bucket/run/collection"
    assert converted["outputs"]["artifacts"].keys() == {"examples"}
    assert converted["outputs"]["outputFile"] == "/tmp/outputs/output.json"


def test_kubeflow_gets_its_own_addresses_back_with_what_tfx_says_of_the_artifacts():
    written = {
        "artifacts": {"examples": {"artifacts": [{"uri": "/minio/bucket/run/examples", "metadata": {"span": 0}}]}}
    }
    reported = ExecutorInput(message()).from_tfx(written)
    assert reported == {
        "artifacts": {"examples": {"artifacts": [{"uri": "minio://bucket/run/examples", "metadata": {"span": 0}}]}}
    }


def test_a_task_without_inputs_has_none():
    task = ExecutorInput({"outputs": {"outputFile": "/tmp/out"}})
    assert (task.parameters, task.for_tfx({})["inputs"]["artifacts"]) == ({}, {})


def test_the_folders_of_the_outputs_are_made(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("ARTIFACT_LOCAL_PATH", str(tmp_path))
    ExecutorInput(message()).make_output_folders()
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if not any(path.iterdir())] == [
        "minio/bucket/run/examples"
    ]
