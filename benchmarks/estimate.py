"""The costs of `clir run --estimate`: fits them to runs of generated collections, or compares estimates with runs.

    python -m benchmarks.estimate
    python -m benchmarks.estimate configs/bible_en_tl.yaml configs/best/ntrex_en_fr.yaml

Without a configuration it runs collections of several shapes, and prints the costs for the product's table with the
errors of the fit. With configurations it estimates each, runs it, and prints both. No other program should run.
"""

import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import click
import numpy as np
from scipy.optimize import nnls

from benchmarks.generated import write_random
from benchmarks.harness import CLIR, disk_bytes, run_pipeline, run_process
from pipeline.config import load_config
from pipeline.estimate.collection_size import CollectionSize
from pipeline.estimate.estimate_run import QUANTITIES_OF_PART, STAGES_OF_PART, quantities, sample_seconds
from pipeline.estimate.training_step import TrainingStep
from pipeline.input_files import resolve_digests

SHAPES: tuple[dict[str, Any], ...] = (
    {"documents": 4_000, "queries": 400, "words": 60, "training": {"epochs": 20}},
    {"documents": 60_000, "queries": 500, "training": {"epochs": 2}},
    {"documents": 30_000, "queries": 3_000, "training": {"epochs": 2}},
    {"documents": 60_000, "queries": 3_000, "words": 30, "training": {"epochs": 6}, "preset": "paper"},
    {"documents": 30_000, "queries": 1_500, "words": 190, "negatives": 15, "training": {"epochs": 4}},
    {"documents": 120_000, "queries": 2_000, "words": 60, "training": {"epochs": 1}},
    {"documents": 15_000, "queries": 6_000, "words": 25, "has_candidates": True, "training": {"epochs": 8}},
    {"documents": 20_000, "queries": 2_000, "words": 80, "has_candidates": True, "preset": "paper"},
    {"documents": 8_000, "queries": 1_200, "words": 50, "training": {"epochs": 40}, "preset": "paper"},
    {"documents": 3_000, "queries": 1_000, "words": 90, "training": {"epochs": 30}},
    {"documents": 475_000, "queries": 6_250, "training": {"epochs": 3}, "search": {"index": False}},
)
"""The last shape is a quarter of the size of French WikiCLIR."""


@click.command()
@click.argument("configs", nargs=-1, type=click.Path(exists=True))
def main(configs: tuple[str, ...]) -> None:
    """Fit the costs, or compare estimates with runs."""
    click.echo(f"load {os.getloadavg()[0]:.1f} before, {os.cpu_count()} cores")
    for path in configs:
        compare(path)
    if not configs:
        fit()
    click.echo(f"load {os.getloadavg()[0]:.1f} after")


def estimate(config: str | Path) -> dict[str, Any]:
    """Returns what `clir run --estimate` prints as JSON."""
    command = [*CLIR, "run", str(Path(config).resolve()), "--estimate", "--json"]
    answer: dict[str, Any] = json.loads(run_process(command).output)
    return answer


def measure(config: str | Path) -> dict[str, float]:
    """Runs a configuration; returns the seconds of each part, and the bytes of memory and disk."""
    loaded = load_config(str(config))
    started = time.perf_counter()
    resolve_digests(loaded)
    inputs = time.perf_counter() - started
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "out")
        run = run_pipeline(config, output)
        index_folders = [*(output / "artifacts" / name for name in STAGES_OF_PART["index"]), output / "index"]
        index = disk_bytes(*index_folders)
        disk = disk_bytes(output) - index
    seconds = {"inputs": inputs, **{name: stage["seconds"] for name, stage in run.stages.items()}}
    parts = {
        part: sum(seconds[name] for name in names if name in seconds)
        for part, names in STAGES_OF_PART.items()
        if any(name in seconds for name in names)
    }
    start = run.usage.seconds - sum(parts.values())
    disks = {"disk": disk, "disk of the index": index} if index else {"disk": disk}
    return {"start": start, **parts, "memory": run.usage.peak_bytes, **disks}


def fit() -> None:
    """Prints the costs, and the relative errors of the fit."""
    rows: list[tuple[dict[str, float], dict[str, float]]] = []
    for shape in SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            path = write_random(Path(folder), **{"search": {"index": True}, **shape})
            estimated = estimate(path)
            step = TrainingStep(**estimated["step"])
            parts = measure(path)
            has_lexicon = load_config(str(path)).lexicon.kind != "none"
        click.echo(f"{shape} { {part: round(value, 1) for part, value in parts.items()} } {step}")
        parts["training"] -= step.training_seconds
        rows.append((quantities(CollectionSize(**estimated["size"]), step, has_lexicon), parts))
    for part, names in QUANTITIES_OF_PART.items():
        part_rows = [(amounts, parts[part]) for amounts, parts in rows if part in parts]
        measured = np.array([value for _, value in part_rows])
        # Relative errors count: divides each equation by its right-hand side.
        scale = np.maximum(np.abs(measured), 1.0)
        table = np.array([[amounts[name] for name in names] for amounts, _ in part_rows])
        fitted, _ = nnls(table / scale[:, np.newaxis], measured / scale)
        errors = ", ".join(f"{error:+.0%}" for error in (table @ fitted - measured) / scale)
        costs = {name: float(f"{cost:.4g}") for name, cost in zip(names, fitted, strict=True) if cost}
        click.echo(f"{part!r}: {costs},  # {errors}")
    click.echo(f"the sample of work takes {sample_seconds():.3f} s")


def compare(path: str) -> None:
    """Prints the estimate and the run of a configuration."""
    estimated, measured = estimate(path), measure(path)
    measured["disk"] += measured.pop("disk of the index", 0)
    expected = {**estimated["seconds"], "memory": estimated["memory_bytes"], "disk": estimated["disk_bytes"]}
    click.echo(f"\n{path}: machine {estimated['machine_factor']:.2f}\n{'':18} {'estimate':>10} {'run':>10}  ratio")
    for part, value in measured.items():
        unit, digits = (1e9, 2) if part in ("memory", "disk") else (1, 1)
        values = f"{expected[part] / unit:10.{digits}f} {value / unit:10.{digits}f}"
        click.echo(f"{part:18} {values} {expected[part] / value:6.2f}")
    total = sum(value for part, value in measured.items() if part not in ("memory", "disk"))
    click.echo(f"{'in all':18} {estimated['all_seconds']:10.1f} {total:10.1f} {estimated['all_seconds'] / total:6.2f}")


if __name__ == "__main__":
    main()
