"""The commands of docs/recipes.md, what they print, and what the page says that they print."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.e2e.process import ROOT
from tests.e2e.python_page import agree

PAGE = ROOT / "docs" / "recipes.md"
_BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<content>.*?)^```$", re.DOTALL | re.MULTILINE)
_CLIR = f"""clir() {{
    PYTHONPATH={shlex.quote(str(ROOT))} python -c 'import tests; from smooth_clir.command import main; main()' "$@"
}}
"""
"""`clir` as the tests have it: the page's figures are those without the encoder, whatever is installed."""


class Recipe(NamedTuple):
    """A block of commands, and the text block below it."""

    commands: str
    output: str


class Done(NamedTuple):
    """The outcome of a block of commands: its exit code, and stdout and stderr together."""

    code: int
    output: str


def recipes(page: str) -> list[Recipe]:
    """The blocks of a page, in order.

    Raises:
      ValueError: a block is no commands with what they print below them.
    """
    blocks = list(_BLOCK.finditer(page))
    if [block["language"] for block in blocks] != ["sh", "text"] * (len(blocks) // 2):
        raise ValueError("each sh block must have a text block below it, with what it prints, and there are no others.")
    return [Recipe(one["content"], two["content"]) for one, two in zip(blocks[::2], blocks[1::2], strict=True)]


def make_folder(folder: Path) -> None:
    """Makes a folder look like the project's to the commands: it has the sample, and nothing else."""
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "sample").symlink_to(ROOT / "data" / "sample")


def run_commands(commands: str, folder: Path) -> Done:
    """Runs a block in a folder, with the `clir` and `python` of this environment; a command that fails ends it."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f"{_CLIR}{commands}"],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return Done(done.returncode, done.stdout)


def write_outputs(page: Path, folder: Path) -> None:
    """Puts what the commands print into a page, where it shows something else.

    Args:
      page: a Markdown file.
      folder: where the commands run; it must not be there yet.
    """
    make_folder(folder)
    text = page.read_text(encoding="utf-8")
    for recipe in recipes(text):
        done = run_commands(recipe.commands, folder)
        if done.code:
            raise RuntimeError(done.output)
        if not agree(recipe.output, done.output):
            before = f"{recipe.commands}```\n\n```text\n"
            text = text.replace(f"{before}{recipe.output}", f"{before}{done.output}")
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_outputs(PAGE, Path(sys.argv[1]))
