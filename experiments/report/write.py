"""Writes the report of an experiment beside what it tells of."""

import os
from pathlib import Path
from typing import Final

from components.training_report.svg import Picture
from experiments.experiment import read_experiment
from experiments.report.content import DIFFERENCES, make_page
from experiments.report.html import as_html
from experiments.report.markdown import as_markdown
from pipeline.layout import FIGURES, HTML_FILE, MARKDOWN_FILE
from pipeline.output_folder import OutputFolder

_PROJECT: Final = Path(__file__).parents[2]


def write_report(folder: Path) -> None:
    """Writes report.html, report.md and the pictures of the latter: the same bytes for the same experiment.

    Args:
      folder: of an experiment, finished or not.

    Raises:
      DataError: it is none, or files of a finished cell are missing, damaged, or do not belong together.
    """
    page = make_page(read_experiment(folder), _differences(folder))
    output = OutputFolder(folder, "experiment")
    pictures = {
        f"{FIGURES}/{block.name}.svg": block.file
        for section in page.sections
        for block in section.blocks
        if isinstance(block, Picture)
    }
    for name, text in {**pictures, MARKDOWN_FILE: as_markdown(page), HTML_FILE: as_html(page)}.items():
        output.write(name, text)
    output.remove(name for name in output.files - pictures.keys() if name.startswith(f"{FIGURES}/"))


def _differences(folder: Path) -> str | None:
    """The address of the page on where we depart from the paper, in a report that lies beside it in the project."""
    folder, page = folder.resolve(), _PROJECT / DIFFERENCES
    return os.path.relpath(page, folder) if folder.is_relative_to(_PROJECT) and page.is_file() else None
