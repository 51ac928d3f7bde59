"""`clir experiment`: a grid of settings over one prepared data set."""

import click

from cli.imports import heavy_imports
from cli.terminal import say, short, show, show_json
from cli.users_error import users_error
from pipeline.layout import CELLS, HTML_FILE
from pipeline.output_folder import local_output
from pipeline.run_lock import run_lock
from schemas.errors import DataError


@click.command()
@click.argument("file", type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def experiment(file: str, as_json: bool) -> None:
    """Run every cell of the grid that FILE describes, and report on them.

    All cells share one prepared data set. A cell that fails fails alone; the same command again runs those that are
    not done.

    Example: clir experiment configs/experiments/sample.yaml
    """
    from experiments.grid import load_grid

    loaded = load_grid(file, say)
    with run_lock(local_output(loaded.settings.output)):
        from cli.terminal import StageView
        from experiments.cell_folder import CellFolder
        from experiments.run import run_experiment
        from experiments.table import results_table
        from pipeline.quiet import quieten

        quieten(verbose=False)
        with StageView() as view:
            states = run_experiment(loaded, view, users_error)
            view.start(0, 0, "writing the report")
            with heavy_imports():
                from experiments.report.write import write_report

            write_report(loaded.output)
        metrics = {
            state.name: CellFolder(loaded.output, cell).metrics()
            for cell, state in zip(loaded.cells, states, strict=True)
            if state.status == "done"
        }
    report = str(loaded.output / HTML_FILE)
    if as_json:
        cells = [{**state.content(), "metrics": metrics.get(state.name)} for state in states]
        show_json({"title": loaded.settings.title, "report": report, "cells": cells})
    else:
        show(f"{results_table(states, metrics)}\nreport: {short(report)}")
    if failed := [state for state in states if state.status == "failed"]:
        raise DataError(
            f"{len(failed)} of {len(states)} cells failed; cell.json and log.txt in "
            f"{short(str(loaded.output / CELLS))} tell why, and the same command runs them again."
        )
