"""`clir report`: writes the report of an experiment again."""

from pathlib import Path

import click

from pipeline.layout import REPORT_FILE
from smooth_clir.cli.imports import heavy_imports
from smooth_clir.cli.terminal import say, short


@click.command()
@click.argument("folder", type=click.Path())
def report(folder: str) -> None:
    """Write the report of the experiment in FOLDER again.

    Tables, tests and figures come from the files of the cells; no model is used.

    Example: clir report runs/losses
    """
    with heavy_imports():
        from smooth_clir.experiments.report.write_report import write_report

    write_report(Path(folder))
    say(f"written to {short(folder)}: {REPORT_FILE}")
