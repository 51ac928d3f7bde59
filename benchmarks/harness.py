"""Runs the ways of a comparison in turn, and prints medians and ratios to a baseline of the same run."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

TREE: Final = Path(__file__).parents[1]
"""The tree of this version."""
CLIR: Final = ("python", "-c", "from smooth_clir.command import main; main()")
"""The command line of the tree that is the current folder, with the Python of its `environment`."""

Figures = Mapping[str, float]
"""A value by its name, which ends with the unit: "training, s"."""
Measure = Callable[[], Figures]


@dataclass(frozen=True)
class Harness:
    """Compares several ways to do one thing.

    Args:
      rounds: number of rounds; each measures every way once.
      as_json: whether to print JSON instead of a table.
    """

    rounds: int
    as_json: bool = False

    def compare(self, title: str, ways: Mapping[str, Measure], warm_up: int = 0) -> None:
        """Measures the ways in turn, and prints them.

        Every other round measures in reverse order, so that a drift of the machine's speed favours no way. A ratio is
        the median over the rounds of a way's value divided by the baseline's value of the same round.

        Args:
          title: what is compared, on which data.
          ways: the measure of each way; the first way is the baseline.
          warm_up: number of rounds that are not counted.
        """
        load = [os.getloadavg()[0]]
        rounds: list[dict[str, Figures]] = []
        for number in range(warm_up + self.rounds):
            names = list(ways) if number % 2 == 0 else list(ways)[::-1]
            rounds.append({name: ways[name]() for name in names})
        load.append(os.getloadavg()[0])
        figures = summarise(list(ways), rounds[warm_up:])
        if self.as_json:
            head = {"title": title, "cores": os.cpu_count(), "load": load, "rounds": self.rounds}
            click.echo(json.dumps({**head, "baseline": next(iter(ways)), "ways": figures}))
        else:
            count = f"{self.rounds} round{'s' if self.rounds > 1 else ''}"
            click.echo(f"{title}: medians of {count}, {os.cpu_count()} cores")
            click.echo("\n".join(table(figures)))
            click.echo(f"load {load[0]:.1f} before, {load[1]:.1f} after")


def summarise(names: Sequence[str], rounds: Sequence[Mapping[str, Figures]]) -> dict[str, dict[str, Any]]:
    """Returns the `median` and the `values` of each way's figures, and their median `ratio` to the first way's.

    A ratio is None where the first way, the baseline, lacks the figure or has 0.
    """
    summary: dict[str, dict[str, Any]] = {}
    for name in names:
        summary[name] = {}
        for figure in rounds[0][name]:
            values = [row[name][figure] for row in rounds]
            pairs = [(row[name][figure], row[names[0]].get(figure)) for row in rounds]
            ratios = [value / base for value, base in pairs if base]
            ratio = statistics.median(ratios) if ratios else None
            summary[name][figure] = {"median": statistics.median(values), "ratio": ratio, "values": values}
    return summary


def table(figures: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[str]:
    """Returns the lines of a table: a line for each way, or for each figure where these are more."""
    ways, names = list(figures), list(dict.fromkeys(name for values in figures.values() for name in values))
    by_way = len(ways) >= len(names)
    rows, columns = (ways, names) if by_way else (names, ways)
    first = max(map(len, rows))
    widths = [max(len(column), 10) for column in columns]
    lines = [" " * first + "".join(f"  {head:>{width}}  ratio" for head, width in zip(columns, widths, strict=True))]
    for row in rows:
        line = f"{row:{first}}"
        for column, width in zip(columns, widths, strict=True):
            way, name = (row, column) if by_way else (column, row)
            figure = figures[way].get(name)
            value = "-" if figure is None else _number(figure["median"])
            ratio = "" if figure is None or figure["ratio"] is None else f"{figure['ratio']:.3f}"
            line += f"  {value:>{width}}  {ratio:>5}"
        lines.append(line.rstrip())
    return lines


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def benchmark(rounds: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorates a Click command: adds --rounds and --json, and passes a `Harness` as the first argument."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @click.option("--rounds", default=rounds, show_default=True, type=click.IntRange(min=1), help="Counted rounds.")
        @click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
        @wraps(command)
        def run(rounds: int, as_json: bool, **options: Any) -> None:
            command(Harness(rounds, as_json), **options)

        return run

    return decorate


baseline_option = click.option(
    "--baseline",
    type=click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path),
    help="Checkout of another commit to compare with, run in turn with this one.",
)


def trees(baseline: Path | None, measure: Callable[[Path], Figures]) -> dict[str, Measure]:
    """Returns the ways of a comparison with another tree, or of this tree alone."""
    ways: dict[str, Measure] = {"baseline": partial(measure, baseline)} if baseline else {}
    return {**ways, "now": partial(measure, TREE)}


class Usage(NamedTuple):
    """Output and cost of a process and its children."""

    output: str
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    """The largest resident set of one of the processes."""


def run_process(command: Sequence[str], tree: Path = TREE) -> Usage:
    """Runs a command with the modules of a tree; fails with its standard error if it fails."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as log:
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=tree, env=environment(tree), stdout=output, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        for file in (output, log):
            file.seek(0)
        if process.returncode:
            raise click.ClickException(f"{command} in {tree} ended with {process.returncode}:\n{log.read()}")
        return Usage(output.read(), seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def environment(tree: Path) -> dict[str, str]:
    """Returns the environment of a process that imports the modules of a tree.

    `python` is that of the tree's .venv, which may hold other versions; without a .venv it is this process's.
    """
    tree_folder = tree / ".venv" / "bin"
    folder = tree_folder if tree_folder.is_dir() else Path(sys.executable).parent
    path = os.pathsep.join([str(folder), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONPATH": str(tree), "TF_CPP_MIN_LOG_LEVEL": "3"}


class PipelineRun(NamedTuple):
    """A `clir run`."""

    usage: Usage
    result: dict[str, Any]
    """Its `--json`."""

    @property
    def stages(self) -> dict[str, dict[str, Any]]:
        """`seconds`, `cpu_seconds` and `peak_memory_bytes` of each stage, in the order of the run."""
        return {stage["name"]: stage for stage in self.result["summary"]["stages"]}


def run_pipeline(config: str | Path, output: str | Path, *settings: str, tree: Path = TREE) -> PipelineRun:
    """Runs a configuration with a tree's command line into an output folder; `settings` are `key=value`."""
    overrides = [f"--set={setting}" for setting in (f"output={Path(output).resolve()}", *settings)]
    usage = run_process([*CLIR, "run", str(Path(config).resolve()), "--json", *overrides], tree)
    return PipelineRun(usage, json.loads(usage.output))


def disk_bytes(*folders: Path) -> int:
    """Returns the bytes of all files below folders."""
    return sum(path.stat().st_size for folder in folders for path in folder.rglob("*") if path.is_file())
