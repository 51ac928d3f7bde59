"""The pages of the documentation: their commands, files and versions exist; outputs are compared as people would."""

import base64
import json
import re
import shlex
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import click
import pytest
import yaml

from schemas.served_versions import MODEL_NAME
from smooth_clir.cli.main import clir
from tests.e2e.pages import DOCS, NOTEBOOK, agree, blocks, notebook_blocks, shown
from tests.e2e.process import ROOT
from tests.test_imports import MAY_IMPORT, imports

README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("design/*.md"))]
SERVING = (DOCS / "serving.md").read_text(encoding="utf-8")
MAX_BYTES = 60_000
"""The largest picture in the notebook, in bytes."""


def commands(page: Path) -> Iterator[list[str]]:
    """The words of each `clir` command of a page, on a line of a block or between backquotes."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in re.findall(r"^(?:\.venv/bin/)?clir (.+)$|`clir ([^`]+)`", text, re.MULTILINE):
        lexer = shlex.shlex("".join(line), posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        yield [*takewhile(lambda word: not {*word} <= {*"|<>;&()"}, lexer)]


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_every_command_of_a_page_exists_with_its_options_and_files(page: Path) -> None:
    for name, *words in commands(page):
        if not name.isalpha() or name.isupper():  # an option of `clir` itself, or a placeholder
            continue
        assert name in clir.commands
        options = [option for option in clir.commands[name].params if isinstance(option, click.Option)]
        known = {text for option in options for text in (*option.opts, *option.secondary_opts)} | {"--help", "-h"}
        assert {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)} <= known, (name, words)
        files = [word for word in words if word.startswith(("configs/", "data/sample/", "docs/"))]
        assert [file for file in files if not (ROOT / file).exists()] == []


def test_commands_are_found_on_pages_of_every_kind() -> None:
    counts = {page.relative_to(ROOT).as_posix(): len([*commands(page)]) for page in PAGES}
    assert sum(counts.values()) > 100
    assert min(counts[name] for name in ("README.md", "docs/recipes.md", "docs/search.md", "docs/commands.md")) > 0


def test_every_block_that_could_run_here_has_its_output_below_it() -> None:
    for name in ("python", "recipes", "serving"):
        page = blocks((DOCS / f"{name}.md").read_text(encoding="utf-8"))
        without_output = [block.code for block in page if block.output is None]
        assert [code for code in without_output if not re.search("pip install|docker compose|kubectl", code)] == []
        assert len(without_output) <= 2 < len(page)
    headings = re.findall(r"^## (.*)$", (DOCS / "recipes.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(headings) == 14 <= len(shown(DOCS / "recipes.md"))


# docs/python.md and its notebook


def test_the_page_names_the_versions_that_are_pinned() -> None:
    pinned = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    commands = re.findall(r"^pip install (.*)$", (DOCS / "python.md").read_text(encoding="utf-8"), re.MULTILINE)
    stacks = [command.replace('"', "").split() for command in commands]
    assert [len(packages) for packages in stacks] == [3, 2]
    for packages, python in zip(stacks, ["; python_version < '3.11'", "; python_version >= '3.12'"], strict=True):
        assert all(f'"{package}{python}"' in pinned or f'"{package}"' in pinned for package in packages)


def test_only_the_last_process_of_the_page_imports_this_project(tmp_path: Path) -> None:
    snippets = shown(DOCS / "python.md")
    (last,) = (row for row, snippet in enumerate(snippets) if snippet.is_first)
    for rows, uses_project in ((snippets[:last], False), (snippets[last:], True)):
        (tmp_path / "code.py").write_text("\n".join(snippet.code for snippet in rows))
        rooms = {name.partition(".")[0] for name in imports(tmp_path / "code.py")} & {*MAY_IMPORT}
        assert bool(rooms) == uses_project


def test_numpy_and_this_project_rank_alike_on_the_page() -> None:
    # What NumPy computes there is the first pass.
    *_, by_numpy, by_search, by_ranker = (snippet.output or "" for snippet in shown(DOCS / "python.md"))
    numpy_rows, search_rows, ranker_rows = (
        [line.split(maxsplit=3) for line in output.splitlines()] for output in (by_numpy, by_search, by_ranker)
    )
    assert [row[1:3] for row in numpy_rows] == [row[1:] for row in search_rows] == [row[1:3] for row in ranker_rows]
    assert len(numpy_rows) == 3
    assert [row[0] for row in search_rows] == [row[0] for row in ranker_rows]
    for (first_pass, *_), (score, _, _, parts) in zip(numpy_rows, ranker_rows, strict=True):
        *channels, feedback = map(float, re.findall(r"[\d.]+(?=[,}])", parts))
        assert (sum(channels), sum(channels) + feedback) == pytest.approx((float(first_pass), float(score)), abs=0.03)


def test_the_notebook_prints_what_the_page_does_and_names_no_machine() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    notebook = json.loads(text)
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    _, *expected = [snippet.output for snippet in shown(DOCS / "python.md")]  # all but the load that fails
    assert [block.output for block in notebook_blocks() if block.output] == expected
    assert {output.get("name", "stdout") for cell in cells for output in cell["outputs"]} == {"stdout"}
    (picture,) = re.findall(r'"image/png": "([^"]+)"', text)
    assert len(base64.b64decode(picture.replace("\\n", ""))) < MAX_BYTES
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    assert [cell["metadata"] for cell in notebook["cells"]] == [{}] * len(notebook["cells"])
    assert [cell["execution_count"] for cell in cells] == [*range(1, len(cells) + 1)]
    assert re.findall(r"(?<![\w.])/(?:home|root|tmp|usr|work|Users|opt|mnt)/", text) == []


# docs/design.md


def test_the_design_page_names_files_that_are_there() -> None:
    paths = re.findall(r"`([\w/]+/(?:\w+\.py)?)`", (DOCS / "design.md").read_text(encoding="utf-8"))
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert len(paths) > 30


# docs/serving.md


def test_the_page_on_serving_names_files_that_are_there_and_the_image_that_is_pinned() -> None:
    folder = ROOT / "smooth_clir" / "serving" / "tf_serving"
    assert (folder / "kustomization.yaml").is_file() and "-f smooth_clir/serving/tf_serving/compose.yaml" in SERVING
    compose = yaml.safe_load((folder / "compose.yaml").read_text(encoding="utf-8"))
    assert f"`{compose['services']['tf-serving']['image']}`" in SERVING
    assert f"/v1/models/{MODEL_NAME}:predict" in SERVING
    assert "**TF Serving was not available for this page.**" in SERVING


# How outputs are compared


@pytest.mark.parametrize(
    ("expected", "printed", "is_same"),
    [
        ("1.0906 67 Lave", "1.0905 67 Lave\n", True),
        ("[ 0.285  0.084 -0.004]\n", "[0.285 0.084 0.001]\n", True),
        ("running on …. Make sure", "running on a.b. Make sure", True),
        ("", "", True),
        ("1.0906 67 Lave", "1.2906 67 Lave", False),
        ("1.0906 67 Lave", "1.0906 66 Lave", False),
        ("1.0906 67 Lave", "1.0906 67 Lave\n0.8579 73 Granite", False),
        ("(1, 128) (3, 128)", "(1, 64) (3, 64)", False),
        ("running on …. Make sure", "running on a.b. Make", False),
        ("text", "", False),
        ("", "text", False),
    ],
)
def test_outputs_agree_but_for_last_digits_and_what_is_left_out(expected: str, printed: str, is_same: bool) -> None:
    assert agree(expected, printed) == is_same
