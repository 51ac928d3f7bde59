"""Reads an experiment's file: its grid, and the checked configuration of every cell."""

import copy
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pydantic

from pipeline.config import RunConfig
from pipeline.config_file import check_config
from pipeline.input_faults import domains_in
from pipeline.input_files import is_remote, resolve_digests
from pipeline.layout import CELLS
from pipeline.output_folder import output_fault
from pipeline.presets import changed_preset_fault
from pipeline.settings_file import (
    Locations,
    describe_fault,
    location_of,
    read_settings_file,
    resolve_paths,
    without_empty_sections,
)
from schemas.errors import ConfigError
from schemas.settings import expand_kinds, path_settings
from schemas.wording import first_bytes
from smooth_clir.experiments.report.published import Published, read_published
from smooth_clir.experiments.settings import HELD_OUT, OLD_SETTINGS, VARIANT, ExperimentSettings

_LONGEST_NAME = 100


@dataclass(frozen=True)
class PlannedCell:
    """A cell of a grid before its run.

    Attributes:
      name: name of its folder; depends only on the settings, so that a cell keeps it when the grid changes.
      settings: the varying settings to their values.
      config: the resolved configuration; None if the settings are impossible.
      fault: the fault of impossible settings, or None.
    """

    name: str
    settings: dict[str, Any]
    config: RunConfig | None
    fault: str | None


@dataclass(frozen=True)
class Grid:
    """A checked experiment file.

    Attributes:
      settings: the file's settings, with absolute paths.
      collection: name of the folder of the input files.
      domains: names of the collection's domains; empty if it has none, or if its files are remote.
      cells: the cells in the order of the grid.
      text: the text of the file.
      published: the published numbers that the file names, or None.
    """

    settings: ExperimentSettings
    collection: str
    domains: tuple[str, ...]
    cells: tuple[PlannedCell, ...]
    text: str
    published: Published | None

    @property
    def output(self) -> Path:
        """The experiment's folder."""
        return Path(self.settings.output)


def load_grid(path: str, has_files: bool = True) -> Grid:
    """Reads and checks an experiment and the run that it varies.

    Args:
      path: a YAML file. Relative paths in it are relative to its folder.
      has_files: whether to look at the files that the run names, for their digests and for the domains.

    Raises:
      ConfigError: the file has faults: all of them, each with its location. A fault of a single cell is not an error,
        see `PlannedCell.fault`.
    """
    content, locations, faults = read_settings_file(path, ExperimentSettings)

    def located(fault: str, *keys: str) -> str:
        return f"{location_of(keys, locations, path)}: {'.'.join(keys)}: {fault}"

    output, published = content.get("output"), None
    for setting in OLD_SETTINGS.keys() & content.keys():
        content.pop(setting)
        faults.append(located(f"is called published now; write `published: {OLD_SETTINGS[setting]}`.", setting))
    if has_files and isinstance(output, str) and output and (fault := output_fault(output, "experiment")):
        faults.append(located(fault, "output"))
    try:
        settings = ExperimentSettings.model_validate(content)
        faults += [located(fault, *keys) for keys, fault in settings.faults()]
        published = read_published(settings.published, Path(path).parent) if settings.published else None
        if published and published.held_out and HELD_OUT not in settings.grid:
            fault = f"must be null without {HELD_OUT} in the grid; got {settings.published!r}"
            faults.append(located(fault, "published"))
        names = [_cell_name(cell) for cell in settings.combinations()]
        if twice := {name for name in names if names.count(name) > 1}:
            key = VARIANT + "s" if settings.variants else "grid"
            faults.append(located(f"two cells would be called {min(twice)}", key))
    except pydantic.ValidationError as errors:
        faults += [describe_fault(error, locations, path, ExperimentSettings) for error in errors.errors()]
    except ConfigError as error:
        faults += error.faults
    try:
        run = _read_run(content.get("run"), output, locations, path, has_files)
    except ConfigError as error:
        faults += error.faults
    if faults:
        raise ConfigError([*dict.fromkeys(faults)])  # the output's are those of a run in the file, too
    domains = run.content["data"].get("domains")
    return Grid(
        settings=settings,
        collection=_collection_of(run.content["data"]),
        domains=tuple(sorted(domains_in(domains))) if has_files and domains and not is_remote(domains) else (),
        cells=tuple(
            PlannedCell(
                name,
                cell,
                *run.vary(
                    settings.adjusted(cell),
                    _locations_of(cell, settings, locations, path),
                    f"{settings.output}/{CELLS}/{name}",
                ),
            )
            for name, cell in zip(names, settings.combinations(), strict=True)
        ),
        text=Path(path).read_text(encoding="utf-8"),
        published=published,
    )


def _collection_of(data: Mapping[str, Any]) -> str:
    """Returns the name of a run's collection: the folder of its queries, or of its dumps."""
    path = data.get("queries") or data["wikipedia"]["wikis"][data["query_language"]]["pages"]
    return Path(path).parent.name


class _Run(NamedTuple):
    """The run that the grid varies: raw settings with the preset's name and the inputs' digests, and their locations.

    The preset's values are left out, because they depend on a cell's own settings.
    """

    content: dict[str, Any]
    locations: Locations
    path: str

    def vary(
        self, settings: Mapping[str, Any], varied: Mapping[str, str], output: str
    ) -> tuple[RunConfig | None, str | None]:
        """Returns the configuration with other settings, or their fault.

        Args:
          settings: dotted settings to their values.
          varied: locations of the settings that are not in the run.
          output: the cell's folder.
        """
        content = copy.deepcopy({**self.content, "output": output})
        if "preset" in settings and (fault := changed_preset_fault(content, settings["preset"])):
            return None, f"{varied.get('preset', self.path)}: preset: {fault}"
        for key, value in settings.items():
            *above, name = key.split(".")
            target: dict[str, Any] = content
            for section in above:
                target[section] = target.get(section) or {}
                target = target[section]
            target[name] = copy.deepcopy(value)
            content = expand_kinds(RunConfig, content)
        if new := {*_inputs(content)} - {*_inputs(self.content)}:
            return None, f"{self.path}: {min(new)}: must not vary: cells share inputs"
        try:
            return RunConfig.model_validate(content), None
        except pydantic.ValidationError as errors:
            sections: Locations = {(key.partition(".")[0],): location for key, location in varied.items()}
            keys: Locations = {tuple(key.split(".")): location for key, location in varied.items()}
            locations = {**sections, **self.locations, **keys}
            return None, "\n".join(describe_fault(error, locations, self.path, RunConfig) for error in errors.errors())


def _read_run(run: Any, output: Any, locations: Locations, path: str, has_files: bool) -> _Run:
    """Reads and checks the run that the grid varies."""
    if isinstance(run, dict):
        faults: list[str] = []
        content = expand_kinds(RunConfig, without_empty_sections({**run, "output": output}, RunConfig))
        resolve_paths(content, RunConfig, Path(path).parent)
        inner = {keys[1:]: location for keys, location in locations.items() if keys[0] == "run" and len(keys) > 1}
        inner["output",] = location_of(("output",), locations, path)
        locations, path = inner, location_of(("run",), locations, path)
    elif isinstance(run, str) and run:
        path = os.path.relpath(Path(path).parent / os.path.expanduser(run))
        content, locations, faults = read_settings_file(path, RunConfig)
    else:
        raise ConfigError([])  # the fault of the field itself
    if output is not None:
        content["output"] = output
    config = check_config(content, locations, path, faults, kind="experiment", has_files=has_files)
    if has_files:
        config = resolve_digests(config)
    content["preset"] = config.preset
    resolved = config.model_dump()
    for keys in (("data",), ("embeddings",), ("channels", "lexicon"), ("channels", "encoder")):
        section, values = content, resolved
        for key in keys:
            section, values = section.get(key) or {}, values[key] or {}
        if any(values.get("sha256", {}).values()):
            section["sha256"] = values["sha256"]
    return _Run(content, locations, path)


def _inputs(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields the name and the path of each input of raw settings."""
    yield from ((setting.name, setting.path) for setting in path_settings(RunConfig, content) if setting.form)


def _locations_of(cell: Mapping[str, Any], settings: ExperimentSettings, file: Locations, path: str) -> dict[str, str]:
    """Returns the locations of a cell's dotted settings in the grid, or in its variant."""
    variant = cell.get(VARIANT, "")
    return {
        **{key: location_of(("grid", key), file, path) for key in settings.grid},
        **{key: location_of(("variants", variant, key), file, path) for key in settings.variants.get(variant, {})},
    }


def _cell_name(settings: Mapping[str, Any]) -> str:
    """Returns the name of a cell's folder.

    Example:
      >>> _cell_name({"loss.kind": "mse", "loss.theta": [0.2, 0.7], "training.seed": 1})
      'mse-theta0.2_0.7-seed1'
    """
    parts = []
    for key, value in settings.items():
        text = re.sub(r"[^\w.+-]+", "_", json.dumps(value, ensure_ascii=False)).strip("_")
        needs_no_name = isinstance(value, str) and text[:1].isalnum()
        parts.append(text if needs_no_name else key.rpartition(".")[2] + text)
    return first_bytes("-".join(parts), _LONGEST_NAME)
