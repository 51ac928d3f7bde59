"""The configuration of a run: one YAML file, checked whole before anything heavy is imported."""

import hashlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import pydantic
import yaml
from pydantic import Field, ValidationInfo, field_validator

from components.evaluator.settings import EvaluationSettings
from components.wikiclir_example_gen.settings import DataSettings
from models.settings import LossSettings, ModelSettings, TrainingSettings
from models.tuning_settings import TuningSettings
from pipeline.input_files import check_input_files
from pipeline.settings_file import YAML_ERRORS, Places, describe_fault, read_settings_file
from schemas.errors import ConfigError
from schemas.settings import Settings

INPUT_FILES = ("queries", "documents", "judgments", "candidates")
"""The keys of `data` that name files."""


class RunConfig(Settings):
    """Everything that decides a run."""

    data: DataSettings
    """The collection."""
    model: ModelSettings = ModelSettings()
    """The ranker."""
    loss: LossSettings = LossSettings()
    """The training loss."""
    training: TrainingSettings = TrainingSettings()
    """The optimisation."""
    tuning: TuningSettings = TuningSettings()
    """The search for epsilon and theta."""
    evaluation: EvaluationSettings = EvaluationSettings()
    """The gate."""
    output: Annotated[str, Field(min_length=1)]
    """Folder of everything the run writes."""

    @field_validator("loss")
    @classmethod
    def _loss_fits_the_grades(cls, loss: LossSettings, info: ValidationInfo) -> LossSettings:
        data = info.data.get("data")
        if data and (fault := loss.fault_for(data.top_grade)):
            raise ValueError(fault)
        return loss

    @field_validator("training")
    @classmethod
    def _nulls_are_the_encoders_own(cls, training: TrainingSettings, info: ValidationInfo) -> TrainingSettings:
        model = info.data.get("model")
        return training.for_encoder(model.encoder) if model else training

    @field_validator("tuning")
    @classmethod
    def _thresholds_are_those_of_the_loss(cls, tuning: TuningSettings, info: ValidationInfo) -> TuningSettings:
        loss = info.data.get("loss")
        if loss and (fault := tuning.fault_for(loss)):
            raise ValueError(fault)
        return tuning

    def input_paths(self) -> dict[str, str]:
        """The input file of each role that is set."""
        paths = {role: getattr(self.data, role) for role in INPUT_FILES}
        return {role: path for role, path in paths.items() if path is not None}


def load_config(path: str, overrides: Sequence[str] = ()) -> RunConfig:
    """Reads and checks a configuration, and the form of the files it names.

    Args:
      path: a YAML file. Relative paths in it are relative to its folder.
      overrides: `section.key=value`, the value in YAML. Relative paths in them are relative to the current folder.

    Returns:
      the configuration, with absolute paths.

    Raises:
      ConfigError: with every fault, each with its place.
    """
    content, places, faults = read_run_settings(path)
    for override in overrides:
        faults += _override(content, places, override)
    return check_config(content, places, path, faults)


def read_run_settings(path: str) -> tuple[dict[str, Any], Places, list[str]]:
    """A run's settings as its file gives them, with absolute paths (see `read_settings_file`)."""
    content, places, faults = read_settings_file(path, RunConfig)
    resolve_paths(content, Path(path).parent)
    return content, places, faults


def check_config(content: Mapping[str, Any], places: Places, path: str, faults: Sequence[str] = ()) -> RunConfig:
    """Checks raw settings, and the form of the files that they name.

    Args:
      content: with absolute paths.
      places: of its keys.
      path: the place of a key that stands nowhere.
      faults: those found before.

    Raises:
      ConfigError: with every fault, each with its place.
    """
    faults = list(faults)
    data = content.get("data")
    given = data if isinstance(data, dict) else {}
    files = {role: given[role] for role in INPUT_FILES if isinstance(given.get(role), str) and given[role]}
    try:
        config = RunConfig.model_validate(content)
    except pydantic.ValidationError as errors:
        faults += [describe_fault(error, places, path, RunConfig) for error in errors.errors()]
    faults += [f"{places.get(('data', role), path)}: data.{role}: {fault}" for role, fault in check_input_files(files)]
    if isinstance(content.get("output"), str) and (fault := output_fault(Path(content["output"]))):
        faults.append(f"{places.get(('output',), path)}: output: {fault}")
    if faults:
        raise ConfigError(faults)
    return config


def resolve_digests(config: RunConfig) -> RunConfig:
    """The configuration with the SHA-256 of every input file.

    Raises:
      ConfigError: a file does not have the digest that the configuration gives.
    """
    digests, faults = {}, []
    for role, path in config.input_paths().items():
        digests[role] = sha256_of_file(path)
        expected = getattr(config.data.sha256, role)
        if expected not in (None, digests[role]):
            faults.append(
                f"data.{role}: {path} must have the SHA-256 {expected}; got {digests[role]}. "
                "The file has changed: restore it, or remove data.sha256 from the configuration."
            )
    if faults:
        raise ConfigError(faults)
    sha256 = config.data.sha256.model_copy(update=digests)
    return config.model_copy(update={"data": config.data.model_copy(update={"sha256": sha256})})


def output_fault(output: Path) -> str | None:
    """Why a folder cannot be written, if so. It is tried: permissions alone do not tell."""
    try:
        existing = next(folder for folder in (output, *output.parents) if folder.exists())
        if not existing.is_dir():
            return f"must be a folder, but {existing} is a file."
        tempfile.TemporaryFile(dir=existing).close()
    except OSError as error:
        return f"must be a folder that can be written; {output} cannot: {error.strerror}."
    return None


def sha256_of_file(path: str) -> str:
    """SHA-256 of a file's content, in hexadecimal."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def dump_config(config: RunConfig) -> str:
    """The configuration as YAML that `load_config` reads back to the same."""
    header = "# The resolved configuration of this run: `clir run` on this file gives the same numbers.\n"
    return header + yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


def resolve_paths(content: dict[str, Any], folder: Path) -> None:
    """Makes the paths in a raw configuration absolute."""
    data = content.get("data")
    for section, keys in ((data, INPUT_FILES), (content, ("output",))):
        if isinstance(section, dict):
            for key in keys:
                if isinstance(section.get(key), str) and section[key]:
                    section[key] = os.path.realpath(folder / os.path.expanduser(section[key]))


def _override(content: dict[str, Any], places: Places, override: str) -> list[str]:
    """Applies one `section.key=value`."""
    place = f"--set {override}"
    name, equals, text = override.partition("=")
    if not equals or not all(name.split(".")):
        return [f"{place}: must have the form section.key=value."]
    try:
        value = yaml.safe_load(text)
    except YAML_ERRORS:
        return [f"{place}: the value must be YAML; got {text!r}."]
    *sections, key = keys = name.split(".")
    for length in range(1, len(keys) + 1):
        places.setdefault(tuple(keys[:length]), place)
    target = content
    for section in sections:
        target = target.setdefault(section, {})
        if not isinstance(target, dict):
            return [f"{place}: {section} is no section."]
    target[key] = value
    places[tuple(keys)] = place
    nested: dict[str, Any] = {key: value}
    for section in reversed(sections):
        nested = {section: nested}
    resolve_paths(nested, Path.cwd())
    for section in sections:
        nested = nested[section]
    target[key] = nested[key]
    return []
