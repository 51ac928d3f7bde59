"""A pipeline of four tiny stages, run as the real one is: with its launcher, cache, recovery and output folder."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from ml_metadata import MetadataStore
from ml_metadata.proto.metadata_store_pb2 import Artifact, Execution
from tfx.orchestration import pipeline
from tfx.types.standard_artifacts import Model, ModelEvaluation, ModelRun, PushedModel

from components.artifact_files import read_text, serving_model, write_text
from components.collection_gen.component import CollectionGen
from components.pusher.push_version import push_version
from components.stage import Input, Output, stage
from models.exported.versions import model_fingerprint, whole_versions
from pipeline import local_runner
from pipeline.config import RunConfig
from pipeline.config_file import load_config
from pipeline.input_files import files_of, resolve_digests
from pipeline.layout import ARTIFACTS, METADATA_FILE, SERVING
from pipeline.output_folder import run_lock
from pipeline.stages import How, StageEnd
from pipeline.tfx_interfaces import opened, sqlite_connection
from schemas.artifacts import Collection
from schemas.served_versions import newest_version

STAGES: Final = ("CollectionGen", "Trainer", "Evaluator", "Pusher")
"""The names of real stages: recovery knows no others. The first is the real one, and the Pusher runs on every run."""
GRAPH: Final = "Format-Serving/saved_model.pb"
FILES: Final = {
    "queries": "q1\tWolf\tlives in packs\n",
    "documents": "d1\tLoup\tvit en meute\nd2\tChien\tgarde les maisons\n",
    "judgments": "q1\td1\t2\nq1\td2\t1\n",
}
METADATA_CALLS: Final = [(MetadataStore, name) for name in dir(MetadataStore) if name.startswith("put_")]


@stage
def Trainer(collection: Input[Collection], model: Output[Model], model_run: Output[ModelRun], seed: int) -> None:
    """The "model" is the seed and the collection's text."""
    texts = [path.read_text() for path in sorted(Path(collection.uri).glob("*-00000.tsv"))]
    write_text(model, GRAPH, f"seed {seed}\n{''.join(texts)}")
    write_text(model, "Format-Serving/variables/variables.index", "tables")
    write_text(model_run, "events", "losses")


@stage
def Evaluator(model: Input[Model], evaluation: Output[ModelEvaluation]) -> None:
    """The "metrics" are the model's text."""
    write_text(evaluation, "metrics.json", read_text(model, GRAPH))
    write_text(evaluation, "run.trec", "q1 Q0 d1 1 0.5 clir\n")


@stage
def Pusher(
    model: Input[Model], evaluation: Input[ModelEvaluation], pushed_model: Output[PushedModel], serving: str
) -> None:
    """Pushes the model unless it is the newest version."""
    newest, path = newest_version(whole_versions(serving)), serving_model(model)
    if newest is None or model_fingerprint(os.path.join(serving, newest)) != model_fingerprint(path):
        push_version(path, serving, newest, {})


def create_toy_pipeline(
    config: RunConfig, pipeline_root: str, serving_path: str, index_path: str, cell: str | None, **arguments: Any
) -> pipeline.Pipeline:
    """Wires the stages; in place of `pipeline.pipeline.create_pipeline`."""
    data = config.data
    paths = {role: files_of(path) for role, path in data.inputs().items()}
    digests = data.sha256.model_dump(exclude_none=True, exclude={"wikipedia"})
    collection_gen = CollectionGen(paths=paths, digests=digests, top_grade=data.top_grade)
    trainer = Trainer(collection=collection_gen.outputs["collection"], seed=config.training.seed)
    model = trainer.outputs["model"]
    evaluator = Evaluator(model=model)
    pusher = Pusher(model=model, evaluation=evaluator.outputs["evaluation"], serving=serving_path)
    stages = [collection_gen, trainer, evaluator, pusher]
    return pipeline.Pipeline("toy", pipeline_root=pipeline_root, components=stages, **arguments)


def run(
    config: RunConfig, create_pipeline: Callable[..., pipeline.Pipeline], on_end: Callable[[StageEnd], None]
) -> None:
    """Runs another pipeline than the real one, as `clir run` does."""
    # There is no report to read, and no device to set up.
    replaced = {"_result": lambda *_: None, "configure_devices": lambda *_: None, "create_pipeline": create_pipeline}
    with patch.multiple(local_runner, **replaced), run_lock(Path(config.output)):
        local_runner.run_locally(config, lambda *_: None, on_end)


class Toy:
    """Runs of the toy pipeline.

    Args:
      folder: of the input files and of the output.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.output = folder, folder / "out"
        for role, text in FILES.items():
            (folder / role).write_text(text)
        self.done: list[str] = []
        """The stages of the last run that were done."""

    def config(self, *overrides: str) -> RunConfig:
        """The resolved configuration, with the digests of the files as they are now."""
        settings = [f"data.{role}={self.folder / role}" for role in FILES]
        (self.folder / "run.yaml").write_text("data: {query_language: en, document_language: fr}\n")
        return resolve_digests(
            load_config(str(self.folder / "run.yaml"), [*settings, f"output={self.output}", *overrides])
        )

    def run(
        self, *overrides: str, config: RunConfig | None = None, after: Callable[[str], object] = lambda name: None
    ) -> dict[str, How]:
        """Runs to the end.

        Args:
          overrides: of the configuration.
          config: in place of the configuration that these give.
          after: called with the name of each stage that is done.

        Returns:
          how each stage came by its outputs.
        """
        hows: dict[str, How] = {}
        self.done.clear()

        def end(stage_end: StageEnd) -> None:
            hows[stage_end.name] = stage_end.how
            self.done.append(stage_end.name)
            after(stage_end.name)

        run(config or self.config(*overrides), create_toy_pipeline, end)
        return hows

    def artifact(self, stage_name: str, output: str = "*") -> Path:
        """The newest folder of a stage's output."""
        return max((self.output / ARTIFACTS / stage_name).glob(f"{output}/[0-9]*"), key=lambda path: int(path.name))

    def versions(self) -> list[str]:
        """The pushed versions."""
        return sorted(os.listdir(self.output / SERVING))

    def results(self) -> list[tuple[str, bytes]]:
        """Everything under the output with its content, but the metadata; N stands for numbers of executions and
        versions.

        Raises:
          AssertionError: the metadata hold an execution for alive, or do not know the artifacts as they are.
        """
        files = []
        for path in self.output.rglob("*"):
            name = str(path.relative_to(self.output))
            if not name.startswith(METADATA_FILE) and "/.system" not in name:  # TFX's, which the next run removes
                content = path.read_bytes() if path.is_file() else b"folder"
                files.append((re.sub(r"(?<=[/-])\d+(?=/|$)", "N", name), content))
        with opened(sqlite_connection(self.output / METADATA_FILE)) as store:
            states = {execution.last_known_state for execution in store.get_executions()}
            assert not states & {Execution.NEW, Execution.RUNNING}
            living = {artifact.uri for artifact in store.get_artifacts() if artifact.state == Artifact.LIVE}
            assert living == {str(path) for path in self.output.glob(f"{ARTIFACTS}/[A-Z]*/[a-z]*/[0-9]*")}
        return sorted(files)
