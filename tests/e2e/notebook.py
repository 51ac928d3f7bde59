"""Runs docs/notebooks/from_python.ipynb on a model of the sample, and writes it with what it shows:

.venv/bin/python -m tests.e2e.notebook runs/sample
"""

import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from tests.e2e.process import ROOT
from tests.e2e.python_page import MODEL

NOTEBOOK = ROOT / "docs" / "notebooks" / "from_python.ipynb"


def read_notebook() -> Any:
    """The notebook as it is stored."""
    return nbformat.read(NOTEBOOK, as_version=4)


def run_notebook(notebook: Any, output: Path) -> Any:
    """A notebook with the outputs of its cells, run again in its own folder.

    Args:
      notebook: it is not changed.
      output: the run's output folder that stands for `MODEL`.

    Raises:
      nbclient.exceptions.CellExecutionError: a cell ends in an error that it does not announce by its tag.
    """
    run = nbformat.from_dict(notebook)
    sources = [cell.source for cell in run.cells]
    for cell in run.cells:
        if cell.cell_type == "code":
            cell.source = cell.source.replace(MODEL, str(output.resolve()))
    client = NotebookClient(
        run, timeout=120, kernel_name="python3", record_timing=False, resources={"metadata": {"path": NOTEBOOK.parent}}
    )
    client.execute()
    for cell, source in zip(run.cells, sources, strict=True):
        cell.source = source
    return run


def printed(cell: Any) -> str:
    """The output of a code cell, and the error that it ends in."""
    return "".join(
        one.text if one.output_type == "stream" else f"{one.ename}: {one.evalue}\n"
        for one in cell.outputs
        if one.output_type in ("stream", "error")
    )


def pictures(cell: Any) -> list[str]:
    """The pictures that a code cell shows, as base64 of PNG."""
    shown = [one.data for one in cell.outputs if one.output_type in ("display_data", "execute_result")]
    return [data["image/png"] for data in shown if "image/png" in data]


def _store(output: Path) -> None:
    """Runs the notebook and stores it."""
    run = run_notebook(read_notebook(), output)
    run.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    nbformat.write(run, NOTEBOOK)


if __name__ == "__main__":
    _store(Path(sys.argv[1]))
