"""The stages of a run on a generated collection, above all the data stages.

    python -m benchmarks.data --baseline ../before
    python -m benchmarks.data --documents 1900000 --queries 25000

475,000 documents of 100 words, 6,250 queries, and lists of 54 documents: a quarter of French WikiCLIR's size. The
baseline is another tree on the same files or, without --baseline, this tree on a quarter of the collection. Training
takes one epoch.
"""

import tempfile
from pathlib import Path

import click

from benchmarks.generated import write_random
from benchmarks.harness import TREE, Figures, Harness, baseline_option, benchmark, disk_bytes, run_pipeline, trees

INGESTION = ("CollectionGen", "WikiClirExampleGen", "LexicalBaseline")
DATA = (*INGESTION, "LexiconGen", "StatisticsGen", "Transform")


@click.command()
@baseline_option
@click.option("--documents", default=475_000, show_default=True, type=click.IntRange(min=400))
@click.option("--queries", default=6_250, show_default=True, type=click.IntRange(min=50))
@benchmark(rounds=1)
def main(harness: Harness, baseline: Path | None, documents: int, queries: int) -> None:
    """Compare the stages of two trees, or of a collection and a quarter of it."""
    title = f"{documents:,} documents, {queries:,} queries"
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as quarter:
        config = write_random(Path(folder), documents, queries)
        ways = trees(baseline, lambda tree: measure(config, tree))
        if not baseline:
            less = write_random(Path(quarter), documents // 4, queries // 4)
            ways = {"a quarter": lambda: measure(less, TREE), "all": ways["now"]}
        harness.compare(title, ways)


def measure(config: Path, tree: Path) -> Figures:
    """Runs a configuration; returns seconds and CPU seconds of stages and their sums, peak memory and disk."""
    with tempfile.TemporaryDirectory() as folder:
        run = run_pipeline(config, f"{folder}/out", tree=tree)
        disk = disk_bytes(Path(folder))
    figures = {}
    for kind, unit in (("cpu_seconds", "CPU s"), ("seconds", "s")):
        seconds = {name: stage[kind] for name, stage in run.stages.items()}
        for name in (*DATA, "Trainer", "Evaluator"):
            figures[f"{name}, {unit}"] = seconds[name]
        figures[f"ingestion and BM25, {unit}"] = sum(seconds[name] for name in INGESTION)
        figures[f"data stages, {unit}"] = sum(seconds[name] for name in DATA)
        figures[f"all stages, {unit}"] = sum(seconds.values())
    data_peak = max(run.stages[name]["peak_memory_bytes"] for name in DATA)
    peaks = {"data stages, peak GiB": data_peak / 2**30, "run, peak GiB": run.usage.peak_bytes / 2**30}
    return {**figures, **peaks, "output, GiB": disk / 2**30}


if __name__ == "__main__":
    main()
