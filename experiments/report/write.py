"""Writes the report of an experiment beside what it tells of."""

from pathlib import Path
from typing import Final

from components.training_report.svg import Picture
from experiments.experiment import read_experiment
from experiments.report.content import make_page
from experiments.report.html import as_html
from experiments.report.markdown import FIGURES, as_markdown
from pipeline.atomic_file import write_atomically

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
        write_atomically(folder / FIGURES / f"{picture.name}.svg", picture.file)
    write_atomically(folder / MARKDOWN_FILE, as_markdown(page))
    write_atomically(folder / HTML_FILE, as_html(page))
