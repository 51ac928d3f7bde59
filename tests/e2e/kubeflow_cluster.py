"""A stand-in for a cluster with Kubeflow Pipelines: runs the tasks of a compiled specification by their own commands.

What Kubeflow's driver and launcher do around a task is done here, as their sources have it: the driver fills the
ExecutorInput in; the launcher brings the input artifacts from the store to this disk, and takes the output artifacts
back. A task finds no file but the artifacts that it names as its inputs. Its process has the imports already, unless it
is one of `FRESH`.
"""

import copy
import json
import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import yaml
from google.protobuf import json_format
from kfp.pipeline_spec import pipeline_spec_pb2

from tests.e2e.forked import CONTEXT

ROOT = "minio://mlpipeline/v2/artifacts"
"""The place where Kubeflow puts artifacts by default."""
LOGS = "executor-logs"
"""The output that Kubeflow adds to every task."""

FRESH = {"Trainer"}
"""The tasks whose command is started as a container starts it, which takes seconds for imports."""

Json = dict[str, Any]


class TaskError(Exception):
    """A task ended with another code than 0."""


class Cluster:
    """Runs a specification.

    Args:
      spec: the file.
      folder: an empty one, for the store and for the tasks' own disks.
      parameters: those of the run that are not to have their defaults.
    """

    def __init__(self, spec: Path, folder: Path, parameters: Mapping[str, Any] = {}) -> None:  # noqa: B006  not written
        self.spec: Json = next(yaml.safe_load_all(spec.read_text(encoding="utf-8")))
        self.folder = folder
        defined = self.spec["root"]["inputDefinitions"]["parameters"]
        self._parameters = {name: parameter["defaultValue"] for name, parameter in defined.items()} | dict(parameters)
        self._made: dict[tuple[str, str], Json] = {}

    def run(self, processes: int = 2) -> None:
        """Runs all tasks, each as soon as those are done that it depends on."""
        waiting = dict(self.spec["root"]["dag"]["tasks"])
        done: set[str] = set()
        running: dict[Future[None], str] = {}
        with ThreadPoolExecutor(processes) as pool:
            while waiting or running:
                for name in [name for name, task in waiting.items() if done.issuperset(task.get("dependentTasks", []))]:
                    running[pool.submit(self.run_task, name, waiting.pop(name))] = name
                ended, _ = wait(running, return_when=FIRST_COMPLETED)
                for task in ended:
                    task.result()
                    done.add(running.pop(task))

    def run_task(self, name: str, task: Json) -> None:
        """Runs one task."""
        component = self.spec["components"][task["componentRef"]["name"]]
        container = self.spec["deploymentSpec"]["executors"][component["executorLabel"]]["container"]
        disk = self.folder / "disks" / name
        executor_input = self._executor_input(name, task, component, disk)
        for artifacts in executor_input["inputs"]["artifacts"].values():
            for artifact in artifacts["artifacts"]:
                shutil.copytree(self._stored(artifact["uri"]), self._local(disk, artifact["uri"]))
        (disk / "outputs").mkdir(parents=True)
        command = [
            part.replace("{{$}}", json.dumps(executor_input)) for part in container["command"] + container["args"]
        ]
        if code := (_start if name in FRESH else _fork)(command, disk):
            raise TaskError(f"{name} ended with {code}:\n{(disk / 'log').read_text()[-4000:]}")
        written = (disk / "outputs" / "output.json").read_text()
        output = json_format.MessageToDict(json_format.Parse(written, pipeline_spec_pb2.ExecutorOutput()))
        for key, artifacts in executor_input["outputs"]["artifacts"].items():
            (artifact,) = artifacts["artifacts"]
            (reported,) = output["artifacts"].get(key, {"artifacts": [{}]})["artifacts"]
            self._made[name, key] = artifact | reported
            if key != LOGS and self._local(disk, artifact["uri"]).exists():
                shutil.copytree(self._local(disk, artifact["uri"]), self._stored(artifact["uri"]))

    def again(self, name: str, **parameters: Any) -> str:
        """Runs a task once more, as a new run would, with other values of its own parameters; returns what it says."""
        for part in ("store/mlpipeline/v2/artifacts/run", "disks"):
            shutil.rmtree(self.folder / part / name)
        task = copy.deepcopy(self.spec["root"]["dag"]["tasks"][name])
        for key, value in parameters.items():
            task["inputs"]["parameters"][key] = {"runtimeValue": {"constant": value}}
        try:
            self.run_task(name, task)
        except TaskError as error:
            return str(error)
        return (self.folder / "disks" / name / "log").read_text()

    def artifact(self, task: str, key: str) -> Path:
        """The files of an output artifact, in the store."""
        return self._stored(self._made[task, key]["uri"])

    def _executor_input(self, name: str, task: Json, component: Json, disk: Path) -> Json:
        inputs = task.get("inputs", {})
        parameters = {
            key: parameter["runtimeValue"]["constant"]
            if "runtimeValue" in parameter
            else self._parameters[parameter["componentInputParameter"]]
            for key, parameter in inputs.get("parameters", {}).items()
        }
        produced = {
            key: self._made[edge["taskOutputArtifact"]["producerTask"], edge["taskOutputArtifact"]["outputArtifactKey"]]
            for key, edge in inputs.get("artifacts", {}).items()
        }
        kinds = {key: artifact["artifactType"] for key, artifact in component["outputDefinitions"]["artifacts"].items()}
        outputs = {
            key: {"artifacts": [{"name": key, "uri": f"{ROOT}/run/{name}/{key}", "type": kind, "metadata": {}}]}
            for key, kind in {**kinds, LOGS: {"schemaTitle": "system.Artifact", "schemaVersion": "0.0.1"}}.items()
        }
        message = {
            "inputs": {
                "parameterValues": parameters,
                "artifacts": {key: {"artifacts": [artifact]} for key, artifact in produced.items()},
            },
            "outputs": {"artifacts": outputs, "outputFile": str(disk / "outputs" / "output.json")},
        }
        json_format.ParseDict(message, pipeline_spec_pb2.ExecutorInput())  # strictly
        return message

    def _stored(self, uri: str) -> Path:
        return self.folder / "store" / uri.removeprefix("minio://")

    @staticmethod
    def _local(disk: Path, uri: str) -> Path:
        return disk / "minio" / uri.removeprefix("minio://")


def _start(command: list[str], disk: Path) -> int:
    """Runs a task's command; its exit code."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "ARTIFACT_LOCAL_PATH": str(disk)}
    with (disk / "log").open("w") as log:
        return subprocess.run(command, cwd=disk, env=environment, stdout=log, stderr=log, check=False).returncode


def _fork(command: list[str], disk: Path) -> int | None:
    """Runs the same in a process that has the imports."""
    process = CONTEXT.Process(target=_run_module, args=(command, disk))
    process.start()
    process.join()
    return process.exitcode


def _run_module(command: list[str], disk: Path) -> None:
    python, flag, module, *arguments = command
    assert (python, flag) == ("python", "-m")
    with (disk / "log").open("w") as log:
        for descriptor in (1, 2):
            os.dup2(log.fileno(), descriptor)
    os.chdir(disk)
    os.environ["ARTIFACT_LOCAL_PATH"] = str(disk)
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
