"""Every benchmark starts, reaches into nothing private, and stands in its page."""

import ast
import importlib
from pathlib import Path

import pytest
from click.testing import CliRunner

FOLDER = Path(__file__).parents[2] / "benchmarks"
PAGE = FOLDER.parent / "docs" / "benchmarks.md"
BENCHMARKS = sorted(path.stem for path in FOLDER.glob("*.py") if "__main__" in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_says_what_it_compares_and_how_to_run_it(name: str) -> None:
    module = importlib.import_module(f"benchmarks.{name}")
    command = f"python -m benchmarks.{name}"
    assert command in (module.__doc__ or "") and command in PAGE.read_text(encoding="utf-8")
    for arguments in ([], *([one] for one in getattr(module.main, "commands", ()))):
        assert CliRunner().invoke(module.main, [*arguments, "--help"]).exit_code == 0


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_a_benchmark_uses_no_private_name_of_the_product(path: Path) -> None:
    nodes = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    names = {one.attr for one in nodes if isinstance(one, ast.Attribute) and ast.unparse(one.value) != "self"}
    names |= {alias.name for one in nodes if isinstance(one, ast.ImportFrom) for alias in one.names}
    private = {name for name in names if name.startswith("_") and not name.startswith("__")}
    assert private <= {"_asdict", "_replace"}  # of named tuples


@pytest.mark.stages
def test_the_generated_collections_are_what_a_run_reads(tmp_path: Path) -> None:
    from benchmarks.generated import write_random, write_topics
    from pipeline.config import load_config

    for write in (write_random, write_topics):
        folder = tmp_path / write.__name__
        folder.mkdir()
        config = load_config(str(write(folder, 120, 10)))
        assert Path(config.text_paths()["documents"]) == folder / "documents"
        roles = ("documents", "queries", "judgments")
        lines = {role: (folder / role).read_text(encoding="utf-8").splitlines() for role in roles}
        assert len(lines["documents"]) == 120 and len(lines["queries"]) == 10
        assert {line.split("\t")[0] for line in lines["judgments"]} == {f"q{number}" for number in range(10)}
        assert len(lines["documents"][0].split("\t")[2].split()) == 100


@pytest.mark.stages
def test_a_smaller_collection_of_topics_is_the_beginning_of_a_larger_one(tmp_path: Path) -> None:
    from benchmarks.generated import write_topics

    small, large = (write_topics(tmp_path / str(number), number, 5).parent for number in (50, 90))
    assert (large / "documents").read_text().startswith((small / "documents").read_text())
    assert (large / "queries").read_text() == (small / "queries").read_text()


@pytest.mark.stages
def test_the_steps_of_a_benchmark_train_and_are_measured() -> None:
    from benchmarks.trained_models import Trained, made_up, stepping

    figures = stepping(Trained.of(made_up()), steps=2)()
    assert figures["pairs/s"] == pytest.approx(1e3 / figures["ms a step"] * 16 * 45)
    assert figures["CPU ms"] > 0
