"""Runs the snippets of docs/python.md on a model of the sample, and writes the page with what they print:

.venv/bin/python -m tests.e2e.python_page runs/sample
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.e2e.process import ROOT

PAGE = ROOT / "docs" / "python.md"
MODEL = "runs/sample"
"""The output folder that snippets name."""
_NEW_PROCESS = "new Python process:"
"""How the text before a snippet ends that does not go on from the one above."""
_BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<content>.*?)^```$", re.DOTALL | re.MULTILINE)
_NUMBER = re.compile(r"-?\d+\.\d*(?:e-?\d+)?")
_TOLERANCE = 0.02
"""Between scores of two trainings with the same settings: on one kind of machine they are equal."""

_EACH_SNIPPET = """
import contextlib, io, json, sys

outputs, names = [], {"__name__": "__main__"}
for snippet in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as output:
        try:
            exec(compile(snippet, "docs/python.md", "exec"), names)
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
    outputs.append(output.getvalue())
print(json.dumps({"outputs": outputs, "modules": list(sys.modules)}))
"""


class Snippet(NamedTuple):
    """A Python block, and the text block below it."""

    code: str
    output: str


class Session(NamedTuple):
    """The outputs of one process's snippets, or the error that each ended in, and the modules that they imported."""

    outputs: list[str]
    modules: list[str]


def sessions(page: str) -> list[list[Snippet]]:
    """The snippets of a page, process by process.

    Raises:
      ValueError: a Python block has no text block below it, or a text block no Python block above it.
    """
    blocks = [block for block in _BLOCK.finditer(page) if block["language"] in ("python", "text")]
    if [block["language"] for block in blocks] != ["python", "text"] * (len(blocks) // 2):
        raise ValueError("each Python block must have a text block below it, with what it prints.")
    found: list[list[Snippet]] = []
    for code, output in zip(blocks[::2], blocks[1::2], strict=True):
        if not found or page[: code.start()].rstrip().endswith(_NEW_PROCESS):
            found.append([])
        found[-1].append(Snippet(code["content"], output["content"]))
    return found


def run_session(snippets: list[str], output: Path) -> Session:
    """Runs snippets in a process of their own, in the project's folder.

    Args:
      snippets: Python code.
      output: the run's output folder that stands for `MODEL`.
    """
    code = json.dumps([snippet.replace(MODEL, str(output)) for snippet in snippets])
    done = subprocess.run(
        [sys.executable, "-c", _EACH_SNIPPET, code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return Session(**json.loads(done.stdout.splitlines()[-1]))


def agree(shown: str, printed: str) -> bool:
    """Whether an output is the one shown, but for white space, the last digits of numbers, and what `…` stands for."""
    shown, printed = _without_alignment(shown), _without_alignment(printed)
    literals = [".*".join(map(re.escape, part.split("…"))) for part in _NUMBER.split(shown)]
    match = re.fullmatch(f"({_NUMBER.pattern})".join(literals), printed)
    return match is not None and all(
        abs(float(one) - float(other)) <= _TOLERANCE
        for one, other in zip(_NUMBER.findall(shown), match.groups(), strict=True)
    )


def _without_alignment(output: str) -> str:
    """An output as one line, without the blanks by which NumPy aligns numbers."""
    return re.sub(r"(?<=\[) | (?=\])", "", " ".join(output.split()))


def write_outputs(page: Path, output: Path) -> None:
    """Puts what the snippets print into a page, but where `…` stands and agrees.

    Args:
      page: a Markdown file.
      output: the run's output folder that stands for `MODEL`.
    """
    text = page.read_text(encoding="utf-8")
    for snippets in sessions(text):
        printed = run_session([snippet.code for snippet in snippets], output).outputs
        for snippet, one in zip(snippets, printed, strict=True):
            if not agree(snippet.output, one):
                before = f"{snippet.code}```\n\n```text\n"
                text = text.replace(f"{before}{snippet.output}", f"{before}{one}")
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_outputs(PAGE, Path(sys.argv[1]))
