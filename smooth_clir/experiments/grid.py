"""Reads an experiment's file: its grid, and the checked configuration of every cell."""

import copy
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pydantic

from pipeline.config import RunConfig, check_config
from pipeline.input_files import domains_in, is_remote, resolve_digests
from pipeline.layout import CELLS
from pipeline.output_folder import output_fault
from pipeline.presets import fault_of_another_preset
from pipeline.settings_file import (
    Locations,
    describe_fault,
    location_of,
    read_settings_file,
    resolve_paths,
    without_empty_sections,
)
from schemas.errors import ConfigError
from schemas.wording import first_bytes
from smooth_clir.experiments.settings import VARIANT, ExperimentSettings

_LONGEST_NAME = 100


@dataclass(frozen=True)
class PlannedCell:
    """A cell of a grid before its run.

    Attributes:
      name: of its folder; it follows from the settings alone, so that a cell keeps it when others come or go.
      settings: the varying settings to their values.
      config: resolved; None where the settings are impossible.
      fault: of impossible settings, or None.
    """

    name: str
    settings: dict[str, Any]
    config: RunConfig | None
    fault: str | None


@dataclass(frozen=True)
class Grid:
    """A checked experiment file.

    Attributes:
      settings: with absolute paths.
      collection: name of the folder of the input files.
      domains: names of the collection's domains; empty where it has none, or its files are remote.
      cells: in the order of the grid.
      text: of the file.
    """

    settings: ExperimentSettings
    collection: str
    domains: tuple[str, ...]
    cells: tuple[PlannedCell, ...]
    text: str

    @property
    def output(self) -> Path:
        """The experiment's folder."""
        return Path(self.settings.output)


def load_grid(path: str, has_files: bool = True) -> Grid:
    """Reads and checks an experiment and the run that it varies.

    Args:
      path: a YAML file. Relative paths in it are relative to its folder.
      has_files: False looks at no file that the run names, and has neither the inputs' digests nor the domains.

    Raises:
      ConfigError: with every fault, each with its place. A fault of a single cell is no error: see
        `PlannedCell.fault`.
    """
    content, places, faults = read_settings_file(path, ExperimentSettings)
    output = content.get("output")
    if has_files and isinstance(output, str) and output and (fault := output_fault(output, "experiment")):
        faults.append(f"{location_of(('output',), places, path)}: output: {fault}")
    try:
        settings = ExperimentSettings.model_validate(content)
        faults += [f"{location_of(keys, places, path)}: {'.'.join(keys)}: {fault}" for keys, fault in settings.faults()]
        names = [_cell_name(cell) for cell in settings.combinations()]
        if twice := {name for name in names if names.count(name) > 1}:
            key = VARIANT + "s" if settings.variants else "grid"
            faults.append(f"{location_of((key,), places, path)}: {key}: two cells would be called {min(twice)}")
    except pydantic.ValidationError as errors:
        faults += [describe_fault(error, places, path, ExperimentSettings) for error in errors.errors()]
    try:
        run = _read_run(content.get("run"), output, places, path, has_files)
    except ConfigError as error:
        faults += error.faults
    if faults:
        raise ConfigError([*dict.fromkeys(faults)])  # the output's are those of a run that stands in the file, too
    return Grid(
        settings=settings,
        collection=_collection_of(run.content["data"]),
        domains=_domains_of(run.content["data"].get("domains")) if has_files else (),
        cells=tuple(
            PlannedCell(
                name,
                cell,
                *run.vary(
                    settings.adjusted(cell),
                    _places_of(cell, settings, places, path),
                    f"{settings.output}/{CELLS}/{name}",
                ),
            )
            for name, cell in zip(names, settings.combinations(), strict=True)
        ),
        text=Path(path).read_text(encoding="utf-8"),
    )


def _collection_of(data: Mapping[str, Any]) -> str:
    """The name of a run's collection: the folder of its queries, or of the dumps that it is made of."""
    path = data.get("queries") or data["wikipedia"]["wikis"][data["query_language"]]["pages"]
    return Path(path).parent.name


class _Run(NamedTuple):
    """The run that is varied: its raw settings, with its preset's name and the digests of its inputs, and their places.

    The values of the preset are not among them: they follow from a cell's own settings.
    """

    content: dict[str, Any]
    places: Locations
    path: str

    def vary(
        self, settings: Mapping[str, Any], stands: Mapping[str, str], output: str
    ) -> tuple[RunConfig | None, str | None]:
        """The configuration with other settings, or their fault; `stands` places those that are not in the run."""
        content = copy.deepcopy({**self.content, "output": output})
        if "preset" in settings and (fault := fault_of_another_preset(content, settings["preset"])):
            return None, f"{stands.get('preset', self.path)}: preset: {fault}"
        for key, value in settings.items():
            *above, name = key.split(".")
            target: dict[str, Any] = content
            for section in above:
                target = target.setdefault(section, {})
            target[name] = copy.deepcopy(value)
        try:
            return RunConfig.model_validate(content), None
        except pydantic.ValidationError as errors:
            sections: Locations = {(key.partition(".")[0],): place for key, place in stands.items()}
            keys: Locations = {tuple(key.split(".")): place for key, place in stands.items()}
            places = {**sections, **self.places, **keys}
            return None, "\n".join(describe_fault(error, places, self.path, RunConfig) for error in errors.errors())


def _read_run(run: Any, output: Any, places: Locations, path: str, has_files: bool) -> _Run:
    """Reads and checks the run that is varied."""
    if isinstance(run, dict):
        faults: list[str] = []
        content = without_empty_sections({**run, "output": output}, RunConfig)
        resolve_paths(content, RunConfig, Path(path).parent)
        inner = {keys[1:]: place for keys, place in places.items() if keys[0] == "run" and len(keys) > 1}
        inner["output",] = location_of(("output",), places, path)
        places, path = inner, location_of(("run",), places, path)
    elif isinstance(run, str) and run:
        path = os.path.relpath(Path(path).parent / os.path.expanduser(run))
        content, places, faults = read_settings_file(path, RunConfig)
    else:
        raise ConfigError([])  # the fault of the field itself
    if output is not None:
        content["output"] = output
    config = check_config(content, places, path, faults, kind="experiment", has_files=has_files)
    if has_files:
        config = resolve_digests(config)
    content["preset"] = config.preset
    for section in ("data", "embeddings", "lexicon", "encoder"):
        content.setdefault(section, {})["sha256"] = getattr(config, section).sha256.model_dump()
    return _Run(content, places, path)


def _domains_of(path: str | None) -> tuple[str, ...]:
    """The names of the domains in local files."""
    return () if path is None or is_remote(path) else tuple(sorted(domains_in(path)))


def _places_of(cell: Mapping[str, Any], settings: ExperimentSettings, places: Locations, path: str) -> dict[str, str]:
    """The places of a cell's dotted settings in the grid, or in its variant."""
    variant = cell.get(VARIANT, "")
    return {
        **{key: location_of(("grid", key), places, path) for key in settings.grid},
        **{key: location_of(("variants", variant, key), places, path) for key in settings.variants.get(variant, {})},
    }


def _cell_name(settings: Mapping[str, Any]) -> str:
    """The name of a cell's folder.

    Example:
      >>> _cell_name({"loss.name": "mse", "model.epsilon": 0.25, "loss.theta": [0.2, 0.7], "training.seed": 1})
      'mse-epsilon0.25-theta0.2_0.7-seed1'
    """
    parts = []
    for key, value in settings.items():
        text = re.sub(r"[^\w.+-]+", "_", json.dumps(value, ensure_ascii=False)).strip("_")
        needs_no_name = isinstance(value, str) and text[:1].isalnum()
        parts.append(text if needs_no_name else key.rpartition(".")[2] + text)
    return first_bytes("-".join(parts), _LONGEST_NAME)
