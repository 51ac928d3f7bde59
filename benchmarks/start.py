"""How long the command line takes to start, against a bare import of TFX.

    .venv/bin/python benchmarks/start.py

`clir --help`, and `clir run` on the bundled sample when every stage comes from the cache: a first run, not measured,
fills a temporary output folder. All three alternate; the figures are medians. CPU seconds tell more than seconds where
others use the machine, too.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CLIR = str(Path(sys.executable).with_name("clir"))
SAMPLE = str(Path(__file__).parent.parent / "configs" / "sample.yaml")
ROUNDS = 5


def call(command: list[str]) -> tuple[float, float, str]:
    """(seconds that a command takes, its CPU seconds, its stderr)."""
    used, started = cpu_seconds(), time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    seconds = time.perf_counter() - started
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return seconds, cpu_seconds() - used, done.stderr


def cpu_seconds() -> float:
    """CPU seconds of all child processes so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Prints the medians and their ratios."""
    with tempfile.TemporaryDirectory() as output:
        run = [CLIR, "run", SAMPLE, "--set", f"output={output}"]
        call(run)
        *_, said = call(run)
        if "every stage came from the cache" not in said:
            raise SystemExit(f"a second run must come from the cache; it said:\n{said}")
        commands = {
            "clir --help": [CLIR, "--help"],
            "clir run, all cached": run,
            "from tfx import v1 (baseline)": [sys.executable, "-c", "from tfx import v1"],
        }
        rounds = [[call(command)[:2] for command in commands.values()] for _ in range(ROUNDS)]
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, medians of {ROUNDS} rounds")
    print(f"{'':30} {'seconds':>8} {'ratio':>6} {'CPU seconds':>13} {'ratio':>6}")
    for place, name in enumerate(commands):
        columns = ""
        for kind, width in enumerate((8, 13)):
            median = statistics.median(times[place][kind] for times in rounds)
            ratio = statistics.median(times[place][kind] / times[-1][kind] for times in rounds)
            columns += f" {median:{width}.2f} {ratio:6.2f}"
        print(f"{name:30}{columns}")


if __name__ == "__main__":
    main()
