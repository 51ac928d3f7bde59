"""Runs the blocks of docs/serving.md against the stand-in for TF Serving, and writes the page with what they print:

.venv/bin/python -m tests.e2e.serving_page runs/sample
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.e2e.process import ROOT
from tests.e2e.python_page import MODEL, agree, run_session
from tests.e2e.stand_in import serve

PAGE = ROOT / "docs" / "serving.md"
REST, GRPC = "localhost:8501", "localhost:8500"
"""The addresses that blocks name."""
_BLOCK = re.compile(
    r"^```(?P<language>sh|python)\n(?P<code>.*?)^```$(?:\n\n^```text\n(?P<output>.*?)^```$)?", re.S | re.M
)


class Block(NamedTuple):
    """Code, and what stands below it; None where nothing does."""

    language: str
    code: str
    output: str | None


def blocks(page: str) -> list[Block]:
    """The shell and Python blocks of a page."""
    return [Block(one["language"], one["code"], one["output"]) for one in _BLOCK.finditer(page)]


def run_blocks(page: list[Block], output: Path) -> list[str]:
    """The outputs of the blocks that show one; the Python blocks run in one process."""
    with serve(output) as server:

        def code_of(block: Block) -> str:
            return block.code.replace(REST, server.rest).replace(GRPC, server.grpc)

        shown = [block for block in page if block.output is not None]
        python = [code_of(block) for block in shown if block.language == "python"]
        printed = iter(run_session(python, output).outputs)
        return [next(printed) if one.language == "python" else _run_shell(code_of(one), output) for one in shown]


def _run_shell(code: str, output: Path) -> str:
    """The output of a shell, with its stderr."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "-c", code.replace(MODEL, str(output))]
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "PATH": path}, **both, text=True, check=False)
    return done.stdout.rstrip("\n") + "\n"


def write_outputs(output: Path) -> None:
    """Puts what the blocks print into the page, but where `…` stands and agrees."""
    text = PAGE.read_text(encoding="utf-8")
    page = blocks(text)
    shown = [block for block in page if block.output is not None]
    for block, printed in zip(shown, run_blocks(page, output), strict=True):
        if not agree(block.output or "", printed):
            before = f"{block.code}```\n\n```text\n"
            text = text.replace(f"{before}{block.output}", f"{before}{printed}")
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_outputs(Path(sys.argv[1]))
