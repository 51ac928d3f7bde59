"""Writes the report of an experiment beside what it tells of."""

import os
from pathlib import Path
from typing import Final

from pipeline.report.content import make_page
from pipeline.report.experiment import read_experiment
from pipeline.report.html import as_html
from pipeline.report.markdown import FIGURES, as_markdown
from pipeline.report.svg import Picture

HTML_FILE: Final = "report.html"
MARKDOWN_FILE: Final = "report.md"


def write_report(folder: Path) -> None:
    """Writes report.html, report.md and the pictures of the latter: the same bytes for the same experiment.

    Args:
      folder: of an experiment, finished or not.

    Raises:
      DataError: it is none, or files of a finished cell are missing, damaged, or do not belong together.
    """
    page = make_page(read_experiment(folder))
    (folder / FIGURES).mkdir(exist_ok=True)
    pictures = [block for section in page.sections for block in section.blocks if isinstance(block, Picture)]
    for picture in pictures:
        _replace(folder / FIGURES / f"{picture.name}.svg", picture.file)
    _replace(folder / MARKDOWN_FILE, as_markdown(page))
    _replace(folder / HTML_FILE, as_html(page))


def _replace(path: Path, text: str) -> None:
    """Writes a file whole or not at all."""
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)
