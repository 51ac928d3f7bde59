"""The file of a configuration: read with its overrides, checked with the files that it names, and written."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pydantic
import yaml

from components.settings import SearchSettings
from models.rankers.settings import ScorerSettings
from pipeline.config import RunConfig, SourceSettings
from pipeline.input_faults import check_inputs, domains_in
from pipeline.input_files import file_fault, files_of, is_remote
from pipeline.kubeflow.settings import KubeflowSettings
from pipeline.output_folder import Kind, output_fault
from pipeline.presets import changed_preset_fault, missing_preset_fault, with_preset
from pipeline.renamed_settings import renamed_faults, without_renamed
from pipeline.settings_file import Locations, apply_override, describe_fault, location_of, read_settings_file
from schemas.columns import fields_of_roles
from schemas.domains import TrainedDomains, held_out_fault
from schemas.errors import ConfigError
from schemas.settings import path_settings


def load_config(
    path: str, overrides: Sequence[str] = (), for_cluster: bool = False, origin: str | None = None
) -> RunConfig:
    """Reads and checks a configuration, and the form of the files that it names.

    Args:
      path: a YAML file. Relative paths in it are relative to its folder.
      overrides: `section.key=value`, the value in YAML. Relative paths in them are relative to the current folder.
      for_cluster: see `check_config`.
      origin: the location of the overrides, if they are no `--set` of the command line.

    Returns:
      the configuration, with absolute paths.

    Raises:
      ConfigError: with every fault, each with its location.
    """
    content, locations, faults = read_settings_file(path, RunConfig)
    for override in overrides:
        faults += apply_override(content, locations, override, RunConfig, changed_preset_fault, origin)
    return check_config(content, locations, path, faults, for_cluster=for_cluster)


def check_config(
    content: Mapping[str, Any],
    locations: Locations,
    path: str,
    faults: Sequence[str] = (),
    kind: Kind = "run",
    for_cluster: bool = False,
    has_files: bool = True,
) -> RunConfig:
    """Checks raw settings, and the form of the files that they name.

    Args:
      content: with absolute paths.
      locations: of the keys.
      path: the location of keys that are not in the file.
      faults: earlier faults, which are reported, too.
      kind: what writes the output.
      for_cluster: whether the run is in a cluster: its output, and files in `kubeflow.volumes`, are not checked here.
      has_files: False checks neither files nor the output.

    Raises:
      ConfigError: with every fault, each with its location.
    """
    faults = [*faults, *renamed_faults(content, locations, path)]

    def report(keys: tuple[str, ...], fault: str) -> None:
        faults.append(f"{location_of(keys, locations, path)}: {'.'.join(keys)}: {fault}")

    content = without_renamed(content)
    if fault := missing_preset_fault(content):
        report(("preset",), fault)
    content = with_preset(content, RunConfig)
    try:
        config = RunConfig.model_validate(content)
    except pydantic.ValidationError as errors:
        faults += [describe_fault(error, locations, path, RunConfig) for error in errors.errors()]
    else:
        for name, fault in _domain_faults(config) if has_files else ():
            report(("data", name), fault)
    if has_files:
        kubeflow = _kubeflow_in(content) if for_cluster else KubeflowSettings()
        settings = path_settings(RunConfig, content)
        inputs = [setting for setting in settings if setting.form and not kubeflow.is_elsewhere(setting.path)]
        for setting, fault in check_inputs(inputs, _width_in(content), _fields_in(content)):
            report(setting.keys, fault)
        output = content.get("output")
        if output and isinstance(output, str) and (fault := output_fault(output, None if for_cluster else kind)):
            report(("output",), fault)
    if faults:
        raise ConfigError(faults)
    return config


def dump_config(config: RunConfig, searched: Mapping[str, Any] | None = None) -> str:
    """The configuration as YAML that `load_config` reads back to the same.

    Args:
      config: resolved.
      searched: dotted settings to the values that the run's search chose, for a comment: a rerun searches again.
    """
    header = "# The resolved configuration of this run: `clir run` on this file gives the same numbers.\n"
    if searched:
        header += f"# Its search found, and the model was trained with: {json.dumps(dict(searched))}\n"
    content = config.model_dump(mode="json")
    text, escaped = (yaml.safe_dump(content, sort_keys=False, allow_unicode=allowed) for allowed in (True, False))
    # PyYAML writes the line breaks that only Unicode has (U+0085, in a path) so that they are read as spaces.
    return header + (text if yaml.safe_load(text) == content else escaped)


def _domain_faults(config: RunConfig) -> Iterator[tuple[str, str]]:
    """Yields each faulty setting of `data` and its fault, by the domains that readable local files name."""
    path, held_out, needed = config.data.domains, config.data.held_out, config.trained_domains
    if not path or (not held_out and needed == TrainedDomains()):
        return
    if is_remote(path) or any(map(file_fault, files_of(path))):
        return
    domains = domains_in(path)
    if domains and (fault := held_out_fault(held_out, domains)):
        yield "held_out", fault
    elif domains and (fault := needed.fault(domains.difference(held_out))):
        yield "domains", fault


def _kubeflow_in(content: Mapping[str, Any]) -> KubeflowSettings:
    """The settings of Kubeflow Pipelines; the defaults if they have faults, which `check_config` reports."""
    try:
        return KubeflowSettings.model_validate(content.get("kubeflow") or {})
    except pydantic.ValidationError:
        return KubeflowSettings()


def _fields_in(content: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The fields of queries and of documents; `check_config` reports the faults of their settings."""
    fields: tuple[str, ...] = ()
    in_languages: dict[str, list[str]] = {}
    with suppress(pydantic.ValidationError):
        fields = SearchSettings.model_validate(content.get("search") or {}).fields
    with suppress(pydantic.ValidationError):
        in_languages = SourceSettings.model_validate(content.get("data")).languages_by_role
    return fields_of_roles(in_languages, fields)


def _width_in(content: Mapping[str, Any]) -> int | None:
    """The width of word vectors; None if there are none, or if the towers' settings have faults."""
    channels = content.get("channels")
    towers = channels.get("towers") if isinstance(channels, Mapping) else {}
    kind = ScorerSettings.kind_of(towers)
    dim = {key: towers[key] for key in ("embedding_dim",) if isinstance(towers, Mapping) and key in towers}
    try:
        width: int | None = kind.model_validate(dim).word_width if kind else None
    except pydantic.ValidationError:
        return None
    return width
