"""Executes the blocks of the documentation's pages on a run of the sample, and writes the pages with what they print:

.venv/bin/clir run configs/sample.yaml --set channels.encoder=null --set search.index=true
.venv/bin/python -m tests.e2e.pages runs/sample
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.e2e.process import ROOT
from tests.e2e.stand_in import Server, serve

DOCS = ROOT / "docs"
NOTEBOOK = DOCS / "notebooks" / "from_python.ipynb"
MODEL = "runs/sample"
"""The output folder that pages name."""
_BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)
_NEW_PROCESS = "new Python process:"
"""The end of the text before a snippet that does not go on from the last one."""
_NUMBER = re.compile(r"-?\d+\.\d*(?:e-?\d+)?")
_TOLERANCE = 0.02
"""Between scores of two trainings with the same settings: on one kind of machine they are equal."""

_SNIPPETS = """
import contextlib, io, json, sys

outputs, names = [], {"__name__": "__main__"}
for snippet in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as output:
        try:
            exec(compile(snippet, "page", "exec"), names)
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
    outputs.append(output.getvalue())
print(json.dumps(outputs))
"""
_CLIR = f"""clir() {{
    PYTHONPATH={shlex.quote(str(ROOT))} python -c 'import tests; from smooth_clir.command import main; main()' "$@"
}}
"""
"""`clir` as the tests have it: the page's figures are those without the encoder, whatever is installed."""


class Block(NamedTuple):
    """Shell commands or Python code, and the text below them that they print; None where there is none."""

    language: str
    code: str
    output: str | None
    is_first: bool
    """Whether a new Python process starts here."""


def blocks(page: str) -> list[Block]:
    """The blocks of a page, in order."""
    matches = [(match, page[: match.start()].rstrip()) for match in _BLOCK.finditer(page)]
    return [Block(*match.groups(), before.endswith(_NEW_PROCESS)) for match, before in matches]  # type: ignore[arg-type]


def shown(page: Path) -> list[Block]:
    """The blocks of a page that have their output below them."""
    return [block for block in blocks(page.read_text(encoding="utf-8")) if block.output is not None]


def notebook_blocks() -> list[Block]:
    """The code cells of the notebook with what they print, for a process that runs in the project's folder."""
    cells = [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    codes = ["".join(cell["source"]).replace('Path("../..")', 'Path(".")') for cell in cells]
    streams = [[output for output in cell["outputs"] if output["output_type"] == "stream"] for cell in cells]
    printed = ["".join(text for output in outputs for text in output["text"]) for outputs in streams]
    return [Block("python", code, output, False) for code, output in zip(codes, printed, strict=True)]


def execute(page: Sequence[Block], names: Mapping[str, str], folder: Path = ROOT) -> list[str]:
    """The outputs of blocks.

    Args:
      page: the blocks.
      names: what stands for names in the code, such as the run's output folder for `MODEL`.
      folder: the current folder of the commands.

    Raises:
      RuntimeError: a shell block failed.
    """
    codes = [block.code for block in page]
    for name, value in names.items():
        codes = [code.replace(name, value) for code in codes]
    python: list[list[str]] = [[]]
    for block, code in zip(page, codes, strict=True):
        if block.language == "python":
            python += [[]] if block.is_first else []
            python[-1].append(code)
    printed = iter([output for snippets in python if snippets for output in _run_python(snippets)])
    rows = zip(page, codes, strict=True)
    return [next(printed) if block.language == "python" else run_shell(code, folder) for block, code in rows]


def _run_python(snippets: list[str]) -> list[str]:
    """The outputs of the snippets of one process, or the error that each ended in."""
    command = [sys.executable, "-c", _SNIPPETS, json.dumps(snippets)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    outputs: list[str] = json.loads(done.stdout.splitlines()[-1])
    return outputs


def run_shell(code: str, folder: Path) -> str:
    """The output of shell commands, with their stderr.

    Raises:
      RuntimeError: a command failed, which ends the block.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"], str(folder / "bin")])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f"{_CLIR}{code}"],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{code}\nended with {done.returncode}:\n{done.stdout}")
    return done.stdout.rstrip("\n") + "\n"


def agree(shown: str, printed: str) -> bool:
    """Whether an output is the one shown, but for white space, the last digits of numbers, and what `…` stands for."""
    shown, printed = _without_alignment(shown), _without_alignment(printed)
    literals = [".*".join(map(re.escape, part.split("…"))) for part in _NUMBER.split(shown)]
    match = re.fullmatch(f"({_NUMBER.pattern})".join(literals), printed)
    return match is not None and all(
        abs(float(ours) - float(theirs)) <= _TOLERANCE
        for ours, theirs in zip(_NUMBER.findall(shown), match.groups(), strict=True)
    )


def different(shown: Iterable[str], printed: Iterable[str]) -> list[tuple[str, str]]:
    """The outputs that do not agree."""
    return [pair for pair in zip(shown, printed, strict=True) if not agree(*pair)]


def _without_alignment(output: str) -> str:
    """An output as one line, without the blanks by which NumPy aligns numbers."""
    return re.sub(r"(?<=\[) | (?=\])", "", " ".join(output.split()))


def substitutes(output: Path, server: Server | None = None) -> dict[str, str]:
    """The names on pages, and what stands for them: a run's output folder, and the addresses of a server."""
    addresses = {"localhost:8501": server.rest, "localhost:8500": server.grpc} if server else {}
    return {MODEL: str(output), **addresses}


def make_folder(folder: Path) -> Path:
    """Makes a folder look like the project's to the commands: it has the sample, and a stand-in for Apertium."""
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "sample").symlink_to(ROOT / "data" / "sample")
    (folder / "bin").mkdir()
    (folder / "bin" / "apertium").write_text("#!/bin/sh\ncat\n")
    (folder / "bin" / "apertium").chmod(0o755)
    return folder


def _write(page: Path, printed: Iterable[str]) -> None:
    """Puts outputs into a page, but where `…` stands and agrees."""
    text = page.read_text(encoding="utf-8")
    for block, output in zip(shown(page), printed, strict=True):
        if not agree(block.output or "", output):
            before = f"{block.code}```\n\n```text\n"
            text = text.replace(f"{before}{block.output}", f"{before}{output}")
    page.write_text(text, encoding="utf-8")


def _write_pages(output: Path) -> None:
    """Writes all pages."""
    with serve(output) as server, tempfile.TemporaryDirectory() as folder:
        for name in ("python", "serving"):
            page = DOCS / f"{name}.md"
            _write(page, execute(shown(page), substitutes(output, server)))
        recipes = DOCS / "recipes.md"
        _write(recipes, execute(shown(recipes), {}, make_folder(Path(folder, "project"))))
    _write_notebook(output)


def _write_notebook(output: Path) -> None:
    """Runs the notebook in its own folder, and stores it with its outputs."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    sources = [cell.source for cell in notebook.cells]
    for cell in notebook.cells:
        cell.source = cell.source.replace(MODEL, str(output.resolve()))
    resources = {"metadata": {"path": NOTEBOOK.parent}}
    NotebookClient(notebook, timeout=120, kernel_name="python3", record_timing=False, resources=resources).execute()
    for cell, source in zip(notebook.cells, sources, strict=True):
        cell.source = source
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    nbformat.write(notebook, NOTEBOOK)


if __name__ == "__main__":
    _write_pages(Path(sys.argv[1]))
