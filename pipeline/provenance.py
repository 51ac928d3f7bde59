"""What a run's figures follow from: the code and the settings of each stage, the data, and the libraries."""

import hashlib
import json
from typing import Any

from components.stage import IDENTITY
from pipeline.config import RunConfig
from pipeline.identity import code_of, commit, library_versions
from pipeline.kubeflow.settings import KubeflowSettings
from pipeline.pipeline import create_pipeline
from schemas.provenance import Provenance
from schemas.settings import given_paths

_LENGTH = 12
"""The hexadecimal digits of a digest that are kept: enough to see a change."""


def provenance(config: RunConfig) -> Provenance:
    """The provenance of a run; importing this file imports TFX.

    Args:
      config: with the digests of its inputs, or without, where they are not here: then `data` is empty.
    """
    inputs = [path for path in given_paths(RunConfig, config.model_dump(mode="json")) if path.form]
    digests = {path.name: _digest_in(config, path.keys) for path in inputs}
    code, settings = {}, {}
    pipeline = create_pipeline(_without_machine(config), "", "", "", cell="cell", checkpoints_path="")
    for stage in pipeline.components:
        properties = dict(stage.exec_properties)
        identities = [properties.pop(IDENTITY)]
        if "job" in properties:  # a training's settings name modules, whose identity stands among them
            properties["job"] = json.loads(properties["job"])
            identities.append(properties["job"].pop("identity"))
        wiring = {
            name: f"{channel.producer_component_id}.{channel.output_key}" for name, channel in stage.inputs.items()
        }
        code[stage.id] = code_of(*identities)[:_LENGTH]
        content = json.dumps([properties, wiring], sort_keys=True)
        settings[stage.id] = hashlib.sha256(content.encode()).hexdigest()[:_LENGTH]
    return Provenance(
        commit=commit(),
        libraries=library_versions(),
        data={name: digest for name, digest in digests.items() if digest},
        code=code,
        settings=settings,
    )


def _digest_in(config: RunConfig, keys: tuple[str, ...]) -> str | None:
    """The digest that a resolved configuration gives for an input."""
    section, *below = keys
    digests: Any = getattr(config, section).sha256.model_dump()
    return digests.get(below[0], {}).get(".".join(below[1:])) if below[1:] else digests.get(below[0])


def _without_machine(config: RunConfig) -> RunConfig:
    """The configuration with the name of its setting in place of each path, and without digests and fingerprints."""
    content = config.model_copy(update={"kubeflow": KubeflowSettings()}).model_dump(mode="json")
    for path in given_paths(RunConfig, content):
        path.section[path.keys[-1]] = path.name
    for section in content.values():
        if isinstance(section, dict):
            section.pop("sha256", None)
    content["encoder"].pop("probes", None)
    return RunConfig.model_validate(content)
