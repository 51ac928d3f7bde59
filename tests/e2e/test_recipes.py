"""docs/recipes.md: its commands run, in order, and print what the page shows."""

import re
from pathlib import Path

import pytest

from tests.e2e.python_page import agree
from tests.e2e.recipes_page import PAGE, Done, make_folder, recipes, run_commands

RECIPES = recipes(PAGE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> list[Done]:
    """The outcome of every block, in one folder."""
    folder = tmp_path_factory.mktemp("recipes") / "project"
    make_folder(folder)
    return [run_commands(recipe.commands, folder) for recipe in RECIPES]


@pytest.mark.runs
@pytest.mark.long
def test_every_command_of_the_page_succeeds(done: list[Done]) -> None:
    assert [one for one in done if one.code] == []


@pytest.mark.runs
@pytest.mark.long
def test_every_command_prints_what_stands_below_it(done: list[Done]) -> None:
    different = [
        (recipe.output, one.output)
        for recipe, one in zip(RECIPES, done, strict=True)
        if not agree(recipe.output, one.output)
    ]
    assert different == []


@pytest.mark.runs
@pytest.mark.long
def test_pytrec_eval_finds_the_ndcg_of_the_run(done: list[Done]) -> None:
    checked = next(place for place, recipe in enumerate(RECIPES) if "pytrec_eval" in recipe.commands)
    (ours,) = re.findall(r"^ndcg_5 +([\d.]+)", done[checked - 1].output, re.MULTILINE)
    queries, theirs = re.fullmatch(r"(\d+) queries: ([\d.]+)\n", done[checked].output).groups()  # type: ignore[union-attr]
    assert float(ours) == pytest.approx(float(theirs), abs=1.01e-4)
    assert f"\n{queries} queries, " in done[checked - 1].output


def test_the_page_has_a_recipe_of_every_kind() -> None:
    headings = re.findall(r"^## (.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(headings) == 8
    assert len(RECIPES) >= len(headings)


def test_commands_without_what_they_print_are_refused() -> None:
    with pytest.raises(ValueError, match="must have a text block below it"):
        recipes("```sh\ntrue\n```\n\nText.\n")


def test_a_command_that_fails_ends_its_block(tmp_path: Path) -> None:
    assert run_commands("echo one\nfalse\necho two", tmp_path) == Done(1, "one\n")
