"""The provenance of a run's figures: the code and the settings of each stage, the data, and the libraries."""

import hashlib
import json
from pathlib import Path
from typing import Final

from pipeline.config import RunConfig
from pipeline.identity import IDENTITY_FORM, code_of, commit, library_versions
from pipeline.input_files import digests_of
from pipeline.kubeflow.settings import KubeflowSettings
from pipeline.pipeline import create_pipeline
from schemas.provenance import Provenance
from schemas.settings import path_settings

_PROJECT: Final = str(Path(__file__).parents[1])
_LENGTH: Final = 12
"""The hexadecimal digits of a digest that are kept: enough to see a change."""


def provenance(config: RunConfig) -> Provenance:
    """The provenance of a run; importing this file imports TFX.

    Args:
      config: the configuration; without the digests of its inputs, `data` is empty.
    """
    code, settings = {}, {}
    pipeline = create_pipeline(_without_machine(config), "", "", "", cell="cell", checkpoints_path="")
    for stage in pipeline.components:
        wiring = {
            name: f"{channel.producer_component_id}.{channel.output_key}" for name, channel in stage.inputs.items()
        }
        # The properties hold the stage's identity; a training's settings also that of the modules that they name.
        content = json.dumps([dict(stage.exec_properties), wiring], sort_keys=True).replace(_PROJECT, "")
        code[stage.id] = code_of(*IDENTITY_FORM.findall(content))[:_LENGTH]
        settings[stage.id] = hashlib.sha256(IDENTITY_FORM.sub("", content).encode()).hexdigest()[:_LENGTH]
    return Provenance(
        commit=commit(),
        libraries=library_versions(),
        data=_digests(config),
        code=code,
        settings=settings,
    )


def _digests(config: RunConfig) -> dict[str, str]:
    """The digests that a resolved configuration gives, by the dotted settings of the inputs."""
    content = config.model_dump(mode="json")
    digests = {}
    for path in path_settings(RunConfig, content):
        if path.form:
            _, table, key = digests_of(content, path)
            if table.get(key):
                digests[path.name] = str(table[key])
    return digests


def _without_machine(config: RunConfig) -> RunConfig:
    """The configuration with the name of its setting in place of each path, and without digests and fingerprints."""
    content = config.model_copy(update={"kubeflow": KubeflowSettings()}).model_dump(mode="json")
    for path in path_settings(RunConfig, content):
        path.section[path.keys[-1]] = path.name
    for section in (*content.values(), *content["channels"].values()):
        if isinstance(section, dict):
            section.pop("sha256", None)
            section.pop("probes", None)
    return RunConfig.model_validate(content)
