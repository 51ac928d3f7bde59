"""Reads the folder that `clir experiment` writes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import mean
from typing import Any

from models.evaluation.metrics import METRICS
from pipeline.layout import CELL_RESULTS, CELLS, CONFIG_FILE, EXPERIMENT_FILE
from pipeline.output_folder import check_unchanged
from pipeline.settings_file import NotYamlError, load_yaml
from schemas.errors import DataError
from schemas.evaluation import METRICS_FILE, EvaluationReport
from schemas.json_files import parse_json
from schemas.json_record import JsonRecord
from schemas.provenance import PROVENANCE_FILE, Provenance, ReportProvenance
from schemas.search_report import SEARCH_FILE, SearchReport
from schemas.stability import STABILITY_FILE, Stability
from schemas.training_history import HISTORY_FILE, TrainingHistory
from smooth_clir.experiments.cell import RUN_AGAIN, Cell
from smooth_clir.experiments.report.names import settings_label
from smooth_clir.experiments.report.published import Published
from smooth_clir.experiments.settings import OLD_SETTINGS, SEED, Claim


@dataclass(frozen=True)
class Row:
    """The cells that differ only in their seed."""

    settings: Mapping[str, Any]
    """The grid's values, without the seed."""
    cells: tuple[Cell, ...]

    @property
    def label(self) -> str:
        """The row's name in tables and pictures."""
        return settings_label(self.settings) or "all cells"

    @property
    def done(self) -> tuple[Cell, ...]:
        return tuple(cell for cell in self.cells if cell.status == "done")

    @property
    def trainings(self) -> tuple[TrainingHistory, ...]:
        """The trainings of the finished cells."""
        return tuple(cell.training for cell in self.done if cell.training)

    @property
    def data(self) -> dict[str, Any]:
        """The settings of the data; rows that differ in them rank different lists and are not compared."""
        return {key: value for key, value in self.settings.items() if key.startswith("data.")}

    def mean(self, metric: str) -> float:
        """Returns the mean of a metric over the finished cells, of which there must be at least one."""
        return mean(cell.metrics[metric] for cell in self.done)

    def setting(self, key: str) -> Any:
        """Returns a setting's value, from the grid or the first finished cell; None if neither has it."""
        if key in self.settings:
            return self.settings[key]
        return self.done[0].setting(key) if self.done else None


@dataclass(frozen=True)
class Experiment:
    """The content of an experiment's folder.

    Attributes:
      published: the published numbers to compare with, or None.
      domains: names of the collection's domains; empty if it has none, or if they are unknown.
      grid: dotted settings to the values that were combined.
      claims: the claims of the experiment.
      file: the text of the experiment file.
    """

    title: str
    collection: str
    grid: Mapping[str, list[Any]]
    cells: tuple[Cell, ...]
    file: str
    claims: tuple[Claim, ...] = ()
    published: Published | None = None
    domains: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[Row, ...]:
        """The cells by their settings without the seed, in the grid's order."""
        rows: dict[str, tuple[dict[str, Any], list[Cell]]] = {}
        for cell in self.cells:
            settings = {key: value for key, value in cell.settings.items() if key != SEED}
            rows.setdefault(json.dumps(settings), (settings, []))[1].append(cell)
        return tuple(Row(settings, tuple(cells)) for settings, cells in rows.values())

    @property
    def provenance(self) -> ReportProvenance | None:
        """The provenance of the finished cells; None before the first has finished, or if a record is missing."""
        records = {cell.name: cell.provenance for cell in self.cells if cell.status == "done"}
        known = {name: record for name, record in records.items() if record}
        return ReportProvenance.from_cells(known) if known and len(known) == len(records) else None

    def to_json(self) -> str:
        """Returns the text of `experiment.json`, which names the cells."""
        content = {field.name: getattr(self, field.name) for field in fields(self)}
        claims = [claim.model_dump(mode="json") for claim in self.claims]
        published = self.published and self.published.model_dump(mode="json", exclude_defaults=True)
        content |= {"claims": claims, "cells": [cell.name for cell in self.cells], "published": published}
        return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def read_experiment(folder: Path) -> Experiment:
    """Reads an experiment's folder.

    Raises:
      DataError: the folder is not an experiment's, or a file of a finished cell is missing or damaged.
    """
    path = folder / EXPERIMENT_FILE
    if not path.is_file():
        raise DataError(f"{folder} has no {EXPERIMENT_FILE}; give the output folder of a `clir experiment`.")
    check_unchanged(folder, [EXPERIMENT_FILE], RUN_AGAIN)
    content = _read(path)
    cells = tuple(_read_cell(folder / CELLS / name) for name in content.pop("cells"))
    try:
        claims = tuple(Claim.model_validate(claim) for claim in content.pop("claims", ()))
        published = (shown := content.pop("published", None)) and Published.model_validate(shown)
    except ValueError as error:
        raise _unreadable(path, error) from None
    domains = tuple(content.pop("domains", ()))
    for setting in OLD_SETTINGS:  # in folders of older versions
        content.pop(setting, None)
    return Experiment(**content, cells=cells, claims=claims, domains=domains, published=published)


def _read_cell(folder: Path) -> Cell:
    content = _read(folder / "cell.json")
    files: dict[str, Any] = {}
    if content["status"] == "done":
        check_unchanged(folder, CELL_RESULTS, RUN_AGAIN)
        files = {
            "config": _read(folder / CONFIG_FILE),
            "evaluation": _read_evaluation(folder / METRICS_FILE),
        }
        records: dict[str, tuple[str, type[JsonRecord]]] = {
            "search": (SEARCH_FILE, SearchReport),
            "training": (HISTORY_FILE, TrainingHistory),
            "stability": (STABILITY_FILE, Stability),
            "provenance": (PROVENANCE_FILE, Provenance),
        }
        # Not every cell searches, and an archive of cells lacks the other files.
        for name, (file, record) in records.items():
            if (folder / file).exists():
                files[name] = record.read(folder / file, RUN_AGAIN)
    return Cell(folder=folder, **content, **files)


def _read_evaluation(path: Path) -> EvaluationReport:
    """Reads the evaluation's report, which must hold every metric."""
    report = EvaluationReport.read(path, RUN_AGAIN)
    if lacking := METRICS.keys() - report.metrics.keys():
        raise DataError(f"{path} lacks {', '.join(sorted(lacking))}; {RUN_AGAIN}.")
    return report


def _unreadable(path: Path, error: Exception) -> DataError:
    fault = " ".join(str(error).split())
    return DataError(f"Cannot read {path} ({fault}); {RUN_AGAIN}.")


def _read(path: Path) -> dict[str, Any]:
    """Reads a JSON or YAML file that holds an object."""
    try:
        text = path.read_text(encoding="utf-8")
        content = load_yaml(text)[1] if path.suffix == ".yaml" else parse_json(text)
    except (OSError, ValueError, NotYamlError) as error:
        raise _unreadable(path, error) from None
    if not isinstance(content, dict):
        raise DataError(f"{path} must hold an object; got {type(content).__name__}; {RUN_AGAIN}.")
    return content
