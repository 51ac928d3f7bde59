"""`clir experiment`: runs a grid of settings on the same prepared data."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from models.evaluation.metrics import METRICS
from pipeline.layout import CELLS, REPORT_FILE
from pipeline.output_folder import run_lock
from pipeline.output_path import local_output
from schemas.errors import DataError
from smooth_clir.cli.arguments import allow_commands_option
from smooth_clir.cli.imports import check_extra, heavy_imports
from smooth_clir.cli.terminal import StageView, short, show, show_json
from smooth_clir.cli.users_error import users_error

if TYPE_CHECKING:
    from smooth_clir.experiments.cell import Cell


@click.command()
@click.argument("paths", metavar="FILE | --stale [FOLDER]...", type=click.Path(), nargs=-1)
@click.option("--stale", is_flag=True, help="Only list the reports that a rerun might change. Exits 1 if any.")
@allow_commands_option
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def experiment(paths: tuple[str, ...], stale: bool, as_json: bool) -> None:
    """Run every cell of the grid that FILE describes, and report on them.

    All cells share the same prepared data. A failed cell does not stop the others; repeat the command to run the cells
    that are not done.

    With --stale nothing runs. It lists the published reports, or the FOLDERs, whose code, settings, data or libraries
    have changed since they were measured, with the changes.

    Example: clir experiment configs/experiments/sample.yaml
    """
    if stale:
        list_stale([Path(path) for path in paths], as_json)
    elif len(paths) != 1:
        raise click.UsageError(f"must have one FILE, or --stale; got {len(paths)} files.")
    else:
        run_file(paths[0], as_json)


def list_stale(folders: Sequence[Path], as_json: bool) -> None:
    """Lists the reports that are stale.

    Args:
      folders: the reports' folders; empty for all published reports.
      as_json: whether to print all reports as JSON.

    Raises:
      DataError: a report is stale; a script that publishes figures then stops.
    """
    with heavy_imports():
        from smooth_clir.experiments.stale import compare_report, published_reports
    compared = [compare_report(folder) for folder in folders or published_reports()]
    stale = [report for report in compared if report.changes]
    if as_json:
        show_json([report._asdict() for report in compared])
    else:
        for report in compared:
            not_here = f"; not compared, because missing: {', '.join(report.data_not_here)}"
            if report.changes or report.data_not_here:
                changes = "; ".join(report.changes) or "no change of code, settings and libraries"
                show(f"{report.report}: {changes}{not_here if report.data_not_here else ''}")
    if stale:
        raise DataError(f"{len(stale)} of {len(compared)} reports are stale; run their experiments again.")


def run_file(file: str, as_json: bool) -> None:
    """Runs an experiment and reports on it.

    Args:
      file: the path of the experiment file.
      as_json: whether to print the results as JSON.

    Raises:
      DataError: a cell failed.
    """
    check_extra("pipeline")
    from smooth_clir.experiments.cell import CellFolder
    from smooth_clir.experiments.grid import load_grid

    loaded = load_grid(file)
    with run_lock(local_output(loaded.settings.output)):
        from pipeline.quiet import quieten
        from smooth_clir.experiments.run import run_experiment

        quieten(verbose=False)
        with StageView() as view:
            states = run_experiment(loaded, view, partial(users_error, has_stages=True))
            view.start(0, 0, "writing the report")
            with heavy_imports():
                from smooth_clir.experiments.report.write_report import write_report

            write_report(loaded.output)
        metrics = {
            state.name: CellFolder(loaded.output, cell).metrics()
            for cell, state in zip(loaded.cells, states, strict=True)
            if state.status == "done"
        }
    report = str(loaded.output / REPORT_FILE)
    if as_json:
        cells = [{**state.content(), "metrics": metrics.get(state.name)} for state in states]
        show_json({"title": loaded.settings.title, "report": report, "cells": cells})
    else:
        show(f"{results_table(states, metrics)}\nreport: {short(report)}")
    if failed := [state for state in states if state.status == "failed"]:
        raise DataError(
            f"{len(failed)} of {len(states)} cells failed; cell.json and log.txt in "
            f"{short(str(loaded.output / CELLS))} say why. Repeat the command to run them again."
        )


def results_table(states: "Sequence[Cell]", metrics: Mapping[str, Mapping[str, float]]) -> str:
    """Returns a table with a line for each cell: its settings, and its test metrics or the reason why it has none.

    Args:
      states: all cells.
      metrics: name of each finished cell to its metrics.
    """
    keys = list(states[0].settings)
    columns = [
        [key.removesuffix(".kind").rpartition(".")[2], *(_value_text(state.settings[key]) for state in states)]
        for key in keys
    ]
    widths = [max(map(len, column)) for column in columns]
    settings = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in zip(*columns, strict=True)
    ]
    metric_widths = {key: max(13, len(key) + 2) for key in METRICS}
    results = [
        "".join(f"{metrics[state.name][key]:{width}.4f}" for key, width in metric_widths.items())
        if state.name in metrics
        else f"  {state.status}: {(state.reason or '').splitlines()[0]}"
        for state in states
    ]
    head = "".join(f"{key:>{width}}" for key, width in metric_widths.items())
    return "\n".join(left + right for left, right in zip(settings, [head, *results], strict=True))


def _value_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
