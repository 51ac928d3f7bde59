"""The harness of the benchmarks: turns, medians and ratios to a baseline."""

import json
from pathlib import Path

import click
import pytest

from benchmarks.harness import CLIR, Harness, disk_bytes, run_process, summarise, table, trees

ROUNDS = [
    {"before": {"s": 10.0, "MB": 4.0}, "now": {"s": 5.0, "MB": 4.0}},
    {"before": {"s": 40.0, "MB": 6.0}, "now": {"s": 40.0, "MB": 3.0}},
    {"before": {"s": 20.0, "MB": 8.0}, "now": {"s": 8.0, "MB": 8.0}},
]


def test_a_ratio_is_the_median_of_the_ratios_of_each_round() -> None:
    figures = summarise(["before", "now"], ROUNDS)
    assert figures["now"]["s"] == {"median": 8.0, "ratio": 0.5, "values": [5.0, 40.0, 8.0]}
    assert figures["before"]["s"]["ratio"] == 1.0


def test_a_figure_that_the_baseline_lacks_has_no_ratio() -> None:
    figures = summarise(["slow", "fast"], [{"slow": {"s": 1.0}, "fast": {"s": 2.0, "recall": 0.5}}])
    assert figures["fast"]["recall"]["ratio"] is None
    assert [line.split() for line in table(figures)[1:]] == [["slow", "1", "1.000", "-"], ["fast", "2", "2.000", "0.5"]]


def test_ways_run_in_turn_and_every_other_round_in_reverse(capsys: pytest.CaptureFixture[str]) -> None:
    order: list[str] = []

    def way(name: str, seconds: float):  # type: ignore[no-untyped-def]
        return lambda: order.append(name) or {"s": seconds}

    Harness(rounds=2, as_json=True).compare("sleep", {"slow": way("slow", 2.0), "fast": way("fast", 1.0)}, warm_up=1)
    assert order == ["slow", "fast", "fast", "slow", "slow", "fast"]
    printed = json.loads(capsys.readouterr().out)
    assert printed["baseline"] == "slow" and len(printed["load"]) == 2
    assert printed["ways"]["fast"]["s"] == {"median": 1.0, "ratio": 0.5, "values": [1.0, 1.0]}


def test_a_table_has_a_line_for_each_way_or_for_each_figure_where_these_are_more() -> None:
    figures = summarise(["before", "now"], ROUNDS)
    assert [line.split()[0] for line in table(figures)[1:]] == ["before", "now"]
    for name in ("before", "now"):
        figures[name]["CPU s"] = figures[name]["s"]
    assert [line.split()[0] for line in table(figures)[1:]] == ["s", "MB", "CPU"]


def test_a_process_imports_the_modules_of_its_tree_and_its_failure_ends_the_benchmark(tmp_path: Path) -> None:
    (tmp_path / "smooth_clir").mkdir()
    (tmp_path / "smooth_clir" / "command.py").write_text(
        "import sys\ndef main():\n    print('another tree')\n    sys.exit('no such command' if sys.argv[1:] else 0)\n"
    )
    measures = trees(tmp_path, lambda tree: {"length": len(run_process(CLIR, tree).output)})
    assert measures["baseline"]() == {"length": len("another tree\n")}
    assert [*measures] == ["baseline", "now"] and [*trees(None, lambda tree: {})] == ["now"]
    with pytest.raises(click.ClickException, match="no such command"):
        run_process([*CLIR, "fly"], tmp_path)


def test_a_tree_with_a_venv_runs_on_its_python(tmp_path: Path) -> None:
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho another stack\n")
    python.chmod(0o755)
    assert run_process(CLIR, tmp_path).output == "another stack\n"


def test_disk_is_the_sum_of_all_files_below_the_folders(tmp_path: Path) -> None:
    for name, size in (("a/b/one", 3), ("a/two", 4), ("c/three", 5)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x" * size)
    assert disk_bytes(tmp_path / "a", tmp_path / "c") == 3 + 4 + 5
