"""The configuration of a run: one YAML file, checked whole before anything heavy is imported."""

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
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
from schemas.did_you_mean import did_you_mean
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
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError([f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}."]) from None
    content, places, faults = _parse(text, path)
    _resolve_paths(content, file.parent)
    for override in overrides:
        faults += _override(content, places, override)
    data = content.get("data")
    given = data if isinstance(data, dict) else {}
    files = {role: given[role] for role in INPUT_FILES if isinstance(given.get(role), str) and given[role]}
    try:
        config = RunConfig.model_validate(content)
    except pydantic.ValidationError as errors:
        faults += [_describe(error, places, path) for error in errors.errors()]
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


_YAML_ERRORS = (yaml.YAMLError, ValueError, RecursionError)
"""What a text that is no YAML raises; the last two for a date that is none and for thousands of brackets."""

Places = dict[tuple[str, ...], str]
"""Where a key stands: path of keys to `file:line`, or to the override."""


def _parse(text: str, path: str) -> tuple[dict[str, Any], Places, list[str]]:
    """YAML to plain values, with the place of every key; a key given twice is a fault."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        content = yaml.safe_load(text)
    except _YAML_ERRORS as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path}:{mark.line + 1}" if mark else path
        raise ConfigError([f"{place}: must be YAML: {getattr(error, 'problem', None) or error}."]) from None
    if not isinstance(content, dict):
        came = "nothing" if content is None else type(content).__name__
        raise ConfigError([f"{path}: must hold sections such as data and output; got {came}."])
    # A section without keys is YAML's null; it keeps its defaults.
    content = {key: value for key, value in content.items() if value is not None or key not in RunConfig.model_fields}
    places: Places = {}
    faults = []
    for keys, node in _walk(root, ()):
        place = f"{path}:{node.start_mark.line + 1}"
        if keys in places:
            faults.append(f"{place}: {'.'.join(keys)}: is given twice; first at {places[keys]}; keep one.")
        places[keys] = place
    return content, places, faults


def _walk(
    node: yaml.Node | None, prefix: tuple[str, ...], above: tuple[yaml.Node, ...] = ()
) -> Iterator[tuple[tuple[str, ...], yaml.Node]]:
    """Every key of a mapping and of those within it; an alias within itself is not entered."""
    if isinstance(node, yaml.MappingNode) and node not in above:
        for key, value in node.value:
            keys = (*prefix, str(key.value))
            yield keys, key
            yield from _walk(value, keys, (*above, node))


def _resolve_paths(content: dict[str, Any], folder: Path) -> None:
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
    except _YAML_ERRORS:
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
    _resolve_paths(nested, Path.cwd())
    for section in sections:
        nested = nested[section]
    target[key] = nested[key]
    return []


def _describe(error: Mapping[str, Any], places: Places, path: str) -> str:
    """One fault of pydantic's in our words: place, key, what must hold, what came."""
    keys = tuple(str(key) for key in error["loc"])
    place = next((places[keys[:n]] for n in range(len(keys), 0, -1) if keys[:n] in places), path)
    name = ".".join(keys)
    if error["type"] == "extra_forbidden":
        if name in known_keys():
            section, _, key = name.rpartition(".")
            return f"{place}: {name}: only --set takes dotted keys; in a file, write {key} in the section {section}."
        hint = did_you_mean(name, [*RunConfig.model_fields, *known_keys()]) or f"; known: {', '.join(known_keys())}."
        return f"{place}: {name}: unknown key{hint}"
    if error["type"] == "missing":
        return f"{place}: {name}: must be given."
    message = re.sub("^(Input|String) should", "must", str(error["msg"]).removeprefix("Value error, "))
    got = "" if error["type"] == "value_error" else f"; got {error['input']!r}"
    if error["type"] == "literal_error":
        got += did_you_mean(str(error["input"]), re.findall(r"'(\w+)'", error["ctx"]["expected"]))
    return f"{place}: {name}: {message}{got}"


def known_keys() -> list[str]:
    """Every key of a configuration, dotted."""
    return [name for name, _ in settings_fields(RunConfig)]


def settings_fields(settings: type[Settings], prefix: str = "") -> Iterator[tuple[str, pydantic.fields.FieldInfo]]:
    """Every field of a settings class and of the sections in it: (dotted name, field)."""
    for name, field in settings.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Settings):
            yield from settings_fields(field.annotation, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field
