"""Every benchmark starts, reaches into nothing private, and stands in its page."""

import ast
import importlib
from pathlib import Path

import pytest
from click.testing import CliRunner

from pipeline.config_file import load_config

FOLDER = Path(__file__).parents[2] / "benchmarks"
PAGE = FOLDER.parent / "docs" / "machines.md"
BENCHMARKS = sorted(path.stem for path in FOLDER.glob("*.py") if "__main__" in path.read_text(encoding="utf-8"))

ROLES = ("documents", "queries", "judgments")


@pytest.mark.stages  # most import TensorFlow, and one TFX
@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_says_what_it_compares_and_how_to_run_it(name: str) -> None:
    module = importlib.import_module(f"benchmarks.{name}")
    command = f"python -m benchmarks.{name}"
    assert command in (module.__doc__ or "") and command in PAGE.read_text(encoding="utf-8")
    for arguments in ([], *([command] for command in getattr(module.main, "commands", ()))):
        assert CliRunner().invoke(module.main, [*arguments, "--help"]).exit_code == 0


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_a_benchmark_uses_no_private_name_of_the_product(path: Path) -> None:
    nodes = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    names = {node.attr for node in nodes if isinstance(node, ast.Attribute) and ast.unparse(node.value) != "self"}
    names |= {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    private = {name for name in names if name.startswith("_") and not name.startswith("__")}
    assert private <= {"_asdict", "_replace"}  # of named tuples


@pytest.mark.long  # it makes some 800,000 words
def test_the_generated_collections_are_what_a_run_reads_and_a_smaller_one_is_the_beginning_of_a_larger(
    tmp_path: Path,
) -> None:
    from benchmarks.generated import write_random, write_topics

    for number, (write, size) in enumerate([(write_random, 120), (write_topics, 120), (write_topics, 50)]):
        (tmp_path / str(number)).mkdir()
        config = load_config(str(write(tmp_path / str(number), size, 10)))
        assert Path(config.text_paths()["documents"]) == tmp_path / str(number) / "documents"
    first, large, small = (
        {role: (tmp_path / str(number) / role).read_text("utf-8").splitlines() for role in ROLES} for number in range(3)
    )
    for lines in (first, large):
        assert (len(lines["documents"]), len(lines["queries"])) == (120, 10)
        assert {line.split("\t")[0] for line in lines["judgments"]} == {f"q{number}" for number in range(10)}
        assert len(lines["documents"][0].split("\t")[2].split()) == 100
    assert (small["documents"], small["queries"]) == (large["documents"][:50], large["queries"])


@pytest.mark.long  # it traces and runs a training step on lists of a realistic size
def test_the_steps_of_a_benchmark_train_and_are_measured() -> None:
    from benchmarks.trained_models import Trained, made_up_lists, stepping

    figures = stepping(Trained.of(made_up_lists()), steps=2)()
    assert figures["pairs/s"] == pytest.approx(1e3 / figures["ms a step"] * 16 * 45)
    assert figures["CPU ms"] > 0
