"""A run on a generated collection of a quarter of French WikiCLIR's size, or of the whole: what every stage takes.

    git worktree add ../before COMMIT
    .venv/bin/python benchmarks/data.py --baseline ../before
    .venv/bin/python benchmarks/data.py --documents 1900000 --queries 25000

475,000 documents of 100 words, 6,250 queries, 14 judgments of each and 40 NR documents: lists of 54. The baseline is
another commit's tree, on the same files, in the same environment and sitting, or, without one, a quarter of the
collection with this tree; each runs in a process of its own into a temporary folder, so that nothing comes from the
cache. Training takes one epoch, and is no part of what is compared.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

TREE = Path(__file__).parent.parent
LETTERS, ACCENTS = "eaisnrtoludcmpvqfbghjxyz", "éàè"
WORDS, VOCABULARY, JUDGED = 100, 200_000, 14
INGESTION = ("inputs", "CollectionGen", "WikiClirExampleGen", "LexicalBaseline")
DATA = (*INGESTION, "LexiconGen", "StatisticsGen", "Transform")

DRIVER = """
import json, os, resource, sys, time
from pathlib import Path
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
try:
    from pipeline.quiet import quieten
    from pipeline.input_files import resolve_digests
except ImportError:
    from pipeline.progress import quieten
    from pipeline.config import resolve_digests
from pipeline.config import load_config
quieten(verbose=False)

def figures():
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    disk = sum(path.stat().st_size for path in Path(sys.argv[2]).rglob("*") if path.is_file())
    return sum(usage.ru_utime + usage.ru_stime for usage in usages), time.perf_counter(), disk

def tell(name):
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    peak = int(status["VmHWM"].split()[0]) * 1024  # ru_maxrss begins with the parent's
    taken = [now - before for now, before in zip(figures(), started[0])]
    print(json.dumps([name, *taken, peak]), file=sys.stderr, flush=True)

started = [figures()]
config = resolve_digests(load_config(sys.argv[1], ["output=" + sys.argv[2]]))
tell("inputs")
from cli.imports import heavy_imports
with heavy_imports():  # as `clir run` does
    from pipeline.local_runner import run_locally
Path(config.output).mkdir()
run_locally(config, lambda *stage: started.__setitem__(0, figures()), lambda stage: tell(stage.name))
"""
"""Runs a configuration with the code of the current folder; a line a stage, of the names that every commit has."""


class Stage(NamedTuple):
    """What one stage took; the memory is the most that the process had held until its end."""

    cpu_seconds: float
    seconds: float
    disk_bytes: int
    peak_bytes: int


def generate(
    folder: Path,
    documents: int,
    queries: int,
    words: int = WORDS,
    negatives: int = 40,
    has_candidates: bool = False,
    **settings: Any,
) -> Path:
    """Writes a collection and a configuration; returns the latter's path.

    Args:
      folder: that is there.
      documents, queries: their numbers.
      words: of a document.
      negatives: NR documents of a list.
      has_candidates: whether the lists are given, or drawn by the run.
      **settings: sections of the configuration.
    """
    generator = np.random.default_rng(0)
    letters = [*LETTERS, *ACCENTS]
    weights = np.array([1.0] * len(LETTERS) + [0.4] * len(ACCENTS))  # some 5 % of the letters have accents

    def vocabulary() -> np.ndarray:
        lengths = generator.integers(2, 9, VOCABULARY)
        drawn = generator.choice(letters, lengths.sum(), p=weights / weights.sum())
        ends = np.cumsum(lengths)
        return np.array(["".join(drawn[end - length : end]) for end, length in zip(ends, lengths, strict=True)], object)

    def write(name: str, prefix: str, count: int, words: np.ndarray, length: int) -> None:
        with open(folder / name, "w", encoding="utf-8") as file:
            for number in range(count):
                ids = np.minimum(generator.zipf(1.2, length), VOCABULARY) - 1
                file.write(f"{prefix}{number}\tTitle {number}\t{' '.join(words[ids])}\n")

    write("documents", "d", documents, vocabulary(), words)
    write("queries", "q", queries, vocabulary(), 15)
    with (
        open(folder / "judgments", "w", encoding="utf-8") as judgments,
        open(folder / "candidates", "w", encoding="utf-8") as candidates,
    ):
        for number in range(queries):
            listed = generator.choice(documents, JUDGED + negatives, replace=False)
            grades = [2] + [1] * (JUDGED - 1) + [0] * negatives
            split = ("train", "train", "train", "eval", "test")[number % 5]
            lines = [f"q{number}\td{one}\t{grade}" for one, grade in zip(listed, grades, strict=True)]
            judgments.writelines(f"{line}\n" for line in lines[:JUDGED])
            candidates.writelines(f"{line}\t{split}\n" for line in lines)
    content = {
        "data": {
            **{role: role for role in ("queries", "documents", "judgments")},
            **({"candidates": "candidates"} if has_candidates else {"negatives": negatives}),
            "query_language": "en",
            "document_language": "fr",
        },
        "training": {"epochs": 1},
        "evaluation": {"minimums": {}},
        "output": "out",
        **settings,
    }
    (folder / "run.yaml").write_text(json.dumps(content))
    return folder / "run.yaml"


def measure(tree: Path, config: Path) -> dict[str, Stage]:
    """Runs a configuration with the code of a tree; the figures of each stage."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", DRIVER, str(config), f"{folder}/out"],
            cwd=tree,
            env={**os.environ, "PYTHONPATH": str(tree)},
            stderr=subprocess.PIPE,
            text=True,
        )
    if done.returncode:
        raise click.ClickException(f"the run with {tree} ended with {done.returncode}:\n{done.stderr}")
    lines = (json.loads(line) for line in done.stderr.splitlines() if line.startswith('["'))
    return {name: Stage(*figures) for name, *figures in lines}


@click.command()
@click.option("--baseline", type=click.Path(exists=True, path_type=Path), help="Tree of the commit to compare with.")
@click.option("--documents", default=475_000, show_default=True, type=click.IntRange(min=100))
@click.option("--queries", default=6_250, show_default=True, type=click.IntRange(min=50))
def main(baseline: Path | None, documents: int, queries: int) -> None:
    """Prints the stages of both, and the ratios."""
    print(f"load {os.getloadavg()[0]:.1f} before, {os.cpu_count()} cores, {documents:,} documents, {queries:,} queries")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as less:
        config = generate(Path(folder), documents, queries)
        if baseline:
            before = measure(baseline.resolve(), config)
        else:
            before = measure(TREE, generate(Path(less), documents // 4, queries // 4))
        now = measure(TREE, config)
    print(f"{'':20} {'baseline' if baseline else 'a quarter':^40} {'now':^40}  ratio")
    print(f"{'':20}" + f" {'CPU':>10} {'clock':>10} {'disk':>8} {'peak':>9}" * 2 + " of CPU")
    for name in dict.fromkeys([*now, *before]):
        columns = "".join(f" {_figures(run.get(name))}" for run in (before, now))
        ratio = f"{now[name].cpu_seconds / before[name].cpu_seconds:6.2f}" if name in now and name in before else ""
        print(f"{name:20}{columns} {ratio}")
    for label, names in (("ingestion and BM25", INGESTION), ("data stages", DATA), ("all stages", (*now, *before))):
        sums = [_sum([run[name] for name in dict.fromkeys(names) if name in run]) for run in (before, now)]
        ratio = f"{sums[1].cpu_seconds / sums[0].cpu_seconds:6.2f}"
        print(f"{label:20} {_figures(sums[0])} {_figures(sums[1])} {ratio}")
    print(f"load {os.getloadavg()[0]:.1f} after")


def _sum(stages: Sequence[Stage]) -> Stage:
    cpu_seconds, seconds, disk_bytes, peaks = zip(*stages, strict=True)
    return Stage(sum(cpu_seconds), sum(seconds), sum(disk_bytes), max(peaks))


def _figures(stage: Stage | None) -> str:
    if stage is None:
        return f"{'–':>10} {'–':>10} {'–':>8} {'–':>9}"
    disk, peak = f"{stage.disk_bytes / 2**20:,.0f} MiB", f"{stage.peak_bytes / 2**30:.2f} GiB"
    return f"{stage.cpu_seconds:8.2f} s {stage.seconds:8.1f} s {disk:>8} {peak:>9}"


if __name__ == "__main__":
    main()
