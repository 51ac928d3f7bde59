"""The whole pipeline on all queries of a collection against a quarter of them: time and peak memory.

    .venv/bin/python benchmarks/run.py configs/bible_en_tl.yaml

Each run is a `clir run` in a process of its own, into a temporary output folder, so that nothing comes from the cache.
The baseline is the same configuration with `data.max_queries` at a quarter of the lists. A ratio compares the seconds
that a candidate pair takes: imports and graphs cost the same in both runs and press it below 1; above 1, something
scales badly.
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

CLIR = Path(sys.executable).with_name("clir")
DATA_STAGES = ("WikiClirExampleGen", "StatisticsGen", "Transform")


class Run(NamedTuple):
    """What one run took; its memory is the largest resident set of the process, or of one that it started."""

    lists: int
    pairs: int
    data_seconds: float
    seconds: float
    peak_bytes: int

    def describe(self) -> str:
        """The figures in columns."""
        times = f"{self.data_seconds:10.1f} s {self.seconds:8.1f} s"
        return f"{self.lists:8,} {self.pairs:10,} {times} {self.peak_bytes / 2**30:7.2f} GiB"


def measure(config: str, *overrides: str) -> Run:
    """Runs a configuration with some settings changed."""
    with tempfile.TemporaryDirectory() as folder, open(Path(folder, "log"), "w+") as log:
        settings = [f"--set={override}" for override in (f"output={folder}/run", *overrides)]
        started = time.perf_counter()
        with subprocess.Popen([CLIR, "run", config, "--json", *settings], stdout=subprocess.PIPE, stderr=log) as child:
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
        peak_bytes=usage.ru_maxrss * 1024,
    )


@click.command()
@click.argument("config", type=click.Path())
def main(config: str) -> None:
    """Prints both runs, the ratios and the growth of memory."""
    print(f"load {os.getloadavg()[0]:.1f} before, {os.cpu_count()} cores, {config}")
    full = measure(config)
    quarter = measure(config, f"data.max_queries={full.lists // 4}")
    print(f"{'':18} {'lists':>8} {'pairs':>10} {'data stages':>12} {'whole run':>10} {'peak memory':>11}")
    print(f"all queries        {full.describe()}")
    print(f"quarter (baseline) {quarter.describe()}")
    share = quarter.pairs / full.pairs
    ratios = (full.data_seconds / quarter.data_seconds * share, full.seconds / quarter.seconds * share)
    print(f"ratio, time a pair {'':19} {ratios[0]:12.2f} {ratios[1]:10.2f}")
    growth = (full.peak_bytes - quarter.peak_bytes) / (full.pairs - quarter.pairs)
    print(f"peak memory grows by {growth * 1e6 / 2**30:.2f} GiB a million pairs")
    print(f"load {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
