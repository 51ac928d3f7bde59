"""docs/python.md and its notebook show what a model of the sample really gives."""

import base64
import re
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.notebook import NOTEBOOK, pictures, printed, read_notebook, run_notebook
from tests.e2e.process import ROOT
from tests.e2e.python_page import PAGE, Session, agree, run_session, sessions
from tests.test_imports import MAY_IMPORT

pytestmark = pytest.mark.long

SESSIONS = sessions(PAGE.read_text(encoding="utf-8"))
MOST_BYTES = 60_000
"""The most bytes of a picture in the notebook."""


@pytest.fixture(scope="module")
def ran(demo_output: Path) -> list[Session]:
    """The outputs of the page's snippets, process by process."""
    return [run_session([snippet.code for snippet in snippets], demo_output) for snippets in SESSIONS]


def test_the_snippet_of_the_front_page_prints_what_stands_below_it(demo_output: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (snippet,) = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    session = run_session([snippet[0]], demo_output)
    assert session.outputs == [snippet[1]]


@pytest.fixture(scope="module")
def notebook() -> Any:
    return read_notebook()


# The page


def test_every_snippet_prints_what_stands_below_it(ran: list[Session]) -> None:
    shown = [[snippet.output for snippet in snippets] for snippets in SESSIONS]
    different = [
        (one, other)
        for outputs, session in zip(shown, ran, strict=True)
        for one, other in zip(outputs, session.outputs, strict=True)
        if not agree(one, other)
    ]
    assert different == []


def test_a_model_cannot_be_loaded_before_tensorflow_text_is_imported_and_can_after_it(ran: list[Session]) -> None:
    first, second, *_ = ran[0].outputs
    assert "Op type not registered 'NormalizeUTF8' in binary running on " in first
    assert "import tensorflow_text" not in SESSIONS[0][0].code
    assert "encode_query" in second.split()


def test_only_the_snippet_that_says_so_fails(ran: list[Session]) -> None:
    failed = [one for session in ran for one in session.outputs if re.search(r"^\w*(Error|Exception): ", one, re.M)]
    assert failed == ran[0].outputs[:1]


def test_all_but_the_last_snippet_need_nothing_of_this_project(ran: list[Session]) -> None:
    of_this_project = [{name.partition(".")[0] for name in session.modules} & set(MAY_IMPORT) for session in ran]
    assert [bool(folders) for folders in of_this_project] == [False, True]


def test_numpy_and_this_project_rank_alike(ran: list[Session]) -> None:
    by_numpy = [line.split() for line in ran[0].outputs[-1].splitlines()]
    by_ranker = [line.split()[:3] for line in ran[1].outputs[-1].splitlines()]
    assert len(by_numpy) == 3
    assert [row[1:] for row in by_numpy] == [row[1:] for row in by_ranker]
    assert [float(row[0]) for row in by_numpy] == pytest.approx([float(row[0]) for row in by_ranker], abs=1.1e-4)


def test_the_page_names_the_versions_that_are_pinned() -> None:
    pinned = (PAGE.parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    commands = re.findall(r"^pip install (.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    of_stacks = [command.replace('"', "").split() for command in commands]
    assert [len(packages) for packages in of_stacks] == [3, 2]
    for packages, python in zip(of_stacks, ["; python_version < '3.11'", "; python_version >= '3.12'"], strict=True):
        assert all(f'"{package}{python}"' in pinned or f'"{package}"' in pinned for package in packages)


# The notebook


def test_the_notebook_runs_and_shows_what_it_is_stored_with(notebook: Any, demo_output: Path) -> None:
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    again = [cell for cell in run_notebook(notebook, demo_output).cells if cell.cell_type == "code"]
    assert [one.source for one in again] == [one.source for one in cells]
    different = [
        (printed(one), printed(other))
        for one, other in zip(cells, again, strict=True)
        if not agree(printed(one), printed(other))
    ]
    assert different == []
    assert [len(pictures(one)) for one in again] == [len(pictures(one)) for one in cells]


def test_the_notebook_prints_what_the_page_does(notebook: Any) -> None:
    outputs = [printed(cell) for cell in notebook.cells if cell.cell_type == "code"]
    _, *shown = [snippet.output for snippets in SESSIONS for snippet in snippets]  # all but the load that fails
    assert [output for output in outputs if output] == shown


def test_the_notebook_has_one_small_picture(notebook: Any) -> None:
    (picture,) = [one for cell in notebook.cells if cell.cell_type == "code" for one in pictures(cell)]
    assert base64.b64decode(picture).startswith(b"\x89PNG")
    assert len(base64.b64decode(picture)) < MOST_BYTES


def test_the_notebook_says_nothing_of_the_machine_that_it_ran_on(notebook: Any) -> None:
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebook.metadata.kernelspec.name == "python3"
    assert [dict(cell.metadata) for cell in notebook.cells] == [{}] * len(notebook.cells)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert {one.name for cell in code for one in cell.outputs if one.output_type == "stream"} == {"stdout"}
    assert [cell.execution_count for cell in code] == [*range(1, len(code) + 1)]
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert re.findall(r"(?<![\w.])/(?:home|root|tmp|usr|work|Users|opt|mnt)/", text) == []


# What compares


@pytest.mark.parametrize(
    ("shown", "got"),
    [
        ("1.0906 67 Lave", "1.0905 67 Lave\n"),
        ("[ 0.285  0.084 -0.004]\n", "[0.285 0.084 0.001]\n"),
        ("running on …. Make sure", "running on a.b. Make sure"),
        ("", ""),
    ],
)
def test_outputs_agree_but_for_last_digits_and_what_is_left_out(shown: str, got: str) -> None:
    assert agree(shown, got)


@pytest.mark.parametrize(
    ("shown", "got"),
    [
        ("1.0906 67 Lave", "1.2906 67 Lave"),
        ("1.0906 67 Lave", "1.0906 66 Lave"),
        ("1.0906 67 Lave", "1.0906 67 Lave\n0.8579 73 Granite"),
        ("(1, 128) (3, 128)", "(1, 64) (3, 64)"),
        ("running on …. Make sure", "running on a.b. Make"),
        ("text", ""),
        ("", "text"),
    ],
)
def test_outputs_differ_by_words_ids_shapes_and_scores(shown: str, got: str) -> None:
    assert not agree(shown, got)


def test_a_snippet_without_its_output_is_refused() -> None:
    with pytest.raises(ValueError, match="must have a text block below it"):
        sessions("```python\nprint(1)\n```\n\nText.\n")
