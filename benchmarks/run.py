"""The whole pipeline on all queries of a collection against a quarter of them, or against another commit.

    .venv/bin/python benchmarks/run.py configs/bible_en_tl.yaml
    git worktree add ../before COMMIT
    .venv/bin/python benchmarks/run.py configs/bible_en_tl.yaml --baseline ../before

Each run is a `clir run` in a process of its own, into a temporary output folder, so that nothing comes from the cache.

The baseline is the same configuration with `data.max_queries` at a quarter of the lists. A ratio compares the seconds
that a candidate pair takes: imports and graphs cost the same in both runs and press it below 1; above 1, something
scales badly.

Or it is another commit's tree, with the same configuration and environment: both run twice into one folder, the second
time from the cache, and this two times over, in turn.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import click

TREE = Path(__file__).parent.parent
ROUNDS = 2
CLIR = (sys.executable, "-c", "from cli.main import main; main()")
DATA_STAGES = ("WikiClirExampleGen", "StatisticsGen", "Transform")


class Run(NamedTuple):
    """What one run took; its memory is the largest resident set of the process, or of one that it started."""

    lists: int
    pairs: int
    data_seconds: float
    seconds: float
    cpu_seconds: float
    peak_bytes: int

    def describe(self) -> str:
        """The figures in columns."""
        times = f"{self.data_seconds:10.1f} s {self.seconds:8.1f} s"
        return f"{self.lists:8,} {self.pairs:10,} {times} {self.peak_bytes / 2**30:7.2f} GiB"


def measure(config: str, *overrides: str) -> Run:
    """Runs a configuration with some settings changed, into a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return measure_in(folder, TREE, config, *overrides)


def measure_in(folder: str, tree: Path, config: str, *overrides: str) -> Run:
    """Runs a configuration with the code of a tree; again in the same folder, it comes from the cache."""
    settings = [f"--set={override}" for override in (f"output={folder}/run", *overrides)]
    with open(Path(folder, "log"), "w+") as log:
        started = time.perf_counter()
        with subprocess.Popen(
            [*CLIR, "run", str(Path(config).resolve()), "--json", *settings],
            cwd=tree,  # whose packages are imported, then
            stdout=subprocess.PIPE,
            stderr=log,
        ) as child:
            output = child.stdout.read() if child.stdout else b""
            _, status, usage = os.wait4(child.pid, 0)
            seconds = time.perf_counter() - started
            child.returncode = os.waitstatus_to_exitcode(status)
        if not output:  # a refused model ends with 1, too, but after its result
            log.seek(0)
            raise click.ClickException(f"clir run {config} ended with {child.returncode}:\n{log.read()}")
    result = json.loads(output)
    return Run(
        lists=sum(result["data"]["lists"].values()),
        pairs=sum(result["data"]["pairs"].values()),
        data_seconds=sum(stage["seconds"] for stage in result["summary"]["stages"] if stage["name"] in DATA_STAGES),
        seconds=seconds,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        peak_bytes=usage.ru_maxrss * 1024,
    )


def compare(config: str, baseline: Path, overrides: tuple[str, ...]) -> None:
    """Prints runs of two trees, in turn, and their ratios."""
    print(f"{'':10} {'whole run':>22} {'from the cache':>22} {'peak memory':>11}")
    for number in range(ROUNDS):
        figures = []
        for name, tree in (("baseline", baseline), ("now", TREE)):
            with tempfile.TemporaryDirectory() as folder:
                runs = [measure_in(folder, tree.resolve(), config, *overrides) for _ in range(2)]
            figures.append([(run.seconds, run.cpu_seconds) for run in runs])
            columns = "".join(f" {run.seconds:9.1f} s {run.cpu_seconds:5.1f} CPU" for run in runs)
            print(f"{number + 1} {name:8}{columns} {runs[0].peak_bytes / 2**30:7.2f} GiB", flush=True)
        before, now = figures
        ratios = [[mine / theirs for mine, theirs in zip(*pair, strict=True)] for pair in zip(now, before, strict=True)]
        print(f"  {'ratio':8}" + "".join(f" {clock:11.2f} {cpu:9.2f}" for clock, cpu in ratios))


@click.command()
@click.argument("config", type=click.Path())
@click.option("--baseline", type=click.Path(exists=True, path_type=Path), help="Tree of the commit to compare with.")
@click.option("--set", "overrides", metavar="KEY=VALUE", multiple=True, help="Override a setting.")
def main(config: str, baseline: Path | None, overrides: tuple[str, ...]) -> None:
    """Prints both, the ratios and the growth of memory."""
    print(f"load {os.getloadavg()[0]:.1f} before, {os.cpu_count()} cores, {config}")
    if baseline:
        compare(config, baseline, overrides)
    else:
        grow(config, overrides)
    print(f"load {os.getloadavg()[0]:.1f} after")


def grow(config: str, overrides: tuple[str, ...]) -> None:
    """Prints a run of all queries and one of a quarter of them."""
    full = measure(config, *overrides)
    quarter = measure(config, *overrides, f"data.max_queries={full.lists // 4}")
    print(f"{'':18} {'lists':>8} {'pairs':>10} {'data stages':>12} {'whole run':>10} {'peak memory':>11}")
    print(f"all queries        {full.describe()}")
    print(f"quarter (baseline) {quarter.describe()}")
    share = quarter.pairs / full.pairs
    ratios = (full.data_seconds / quarter.data_seconds * share, full.seconds / quarter.seconds * share)
    print(f"ratio, time a pair {'':19} {ratios[0]:12.2f} {ratios[1]:10.2f}")
    growth = (full.peak_bytes - quarter.peak_bytes) / (full.pairs - quarter.pairs)
    print(f"peak memory grows by {growth * 1e6 / 2**30:.2f} GiB a million pairs")


if __name__ == "__main__":
    main()
