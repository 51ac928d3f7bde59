"""Fits the costs of `clir run --estimate` on generated collections, or compares estimates with runs.

    .venv/bin/python benchmarks/estimate.py
    .venv/bin/python benchmarks/estimate.py configs/bible_en_tl.yaml configs/best/ntrex_en_fr.yaml

Without a configuration it runs collections of several shapes, prints the costs for
`pipeline/estimate/estimate_run.py`, and how far what they give is from each run they were fitted to. With some
it estimates each, runs it into a temporary folder, and prints both. A run has a process of its own; nothing else should
be at work.
"""

import os
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import click
import numpy as np
import yaml
from scipy.optimize import nnls

from data import TREE, generate, measure
from pipeline.config import RunConfig, load_config
from pipeline.estimate.collection_size import size_of_collection
from pipeline.estimate.estimate_run import QUANTITIES_OF_PART, STAGES_OF_PART, estimate_run, quantities, sample_seconds
from pipeline.estimate.training_step import measure_training_step

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
"""The last is a quarter of the French size."""


class Run(NamedTuple):
    """What a run took: seconds of each part, and bytes of memory and disk."""

    parts: dict[str, float]
    seconds: float

    @staticmethod
    def of(config: Path) -> "Run":
        """Runs a configuration."""
        started = time.perf_counter()
        stages = measure(TREE, config)
        seconds = time.perf_counter() - started
        parts = {
            part: sum(stages[name].seconds for name in names if name in stages)
            for part, names in STAGES_OF_PART.items()
            if any(name in stages for name in names)
        }
        parts = {"start": seconds - sum(parts.values()), **parts}
        parts["memory"] = max(stage.peak_bytes for stage in stages.values())
        of_index = [stages[name].disk_bytes for name in STAGES_OF_PART["index"] if name in stages]
        parts["disk"] = sum(stage.disk_bytes for stage in stages.values()) - sum(of_index)
        if of_index:
            parts["disk of the index"] = sum(of_index)
        return Run(parts, seconds)


def fit() -> None:
    """Prints the costs, and the errors of what they give."""
    rows: list[tuple[dict[str, float], dict[str, float]]] = []
    for shape in SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            path = generate(Path(folder), **{"search": {"index": True}, **shape})
            config = load_config(str(path))
            size = size_of_collection(config)
            step = measure_training_step(config, size)
            parts = Run.of(path).parts
        print(shape, {part: round(value, 1) for part, value in parts.items()}, step, flush=True)
        parts["training"] -= step.training_seconds
        rows.append((quantities(size, step, config.lexicon.kind != "none"), parts))
    for part, names in QUANTITIES_OF_PART.items():
        of_part = [(of, parts) for of, parts in rows if part in parts]
        taken = np.array([parts[part] for _, parts in of_part])
        # Relative errors count: each equation is divided by what it must give.
        scale = np.maximum(np.abs(taken), 1.0)
        table = np.array([[of[name] for name in names] for of, _ in of_part])
        found, _ = nnls(table / scale[:, np.newaxis], taken / scale)
        errors = ", ".join(f"{error:+.0%}" for error in (table @ found - taken) / scale)
        costs = {name: float(f"{one:.4g}") for name, one in zip(names, found, strict=True) if one}
        print(f"{part!r}: {costs},  # {errors}")
    print(f"the sample of work takes {sample_seconds():.3f} s")


def compare(path: str) -> None:
    """Prints an estimate and the run."""
    config: RunConfig = load_config(path)
    started = time.perf_counter()
    estimate = estimate_run(config)
    took = time.perf_counter() - started
    with tempfile.TemporaryDirectory() as folder:
        resolved = Path(folder) / "config.yaml"
        resolved.write_text(yaml.safe_dump(config.model_dump(mode="json")))
        run = Run.of(resolved)
    run.parts["disk"] += run.parts.pop("disk of the index", 0)
    expected = {**estimate.seconds, "memory": estimate.memory_bytes, "disk": estimate.disk_bytes}
    print(f"\n{path}: estimated in {took:.1f} s, machine {estimate.machine_factor:.2f}")
    for part, taken in run.parts.items():
        unit, digits = (1e9, 2) if part in ("memory", "disk") else (1, 1)
        values = f"{expected[part] / unit:10.{digits}f} {taken / unit:10.{digits}f}"
        print(f"{part:18} {values} {expected[part] / taken:6.2f}")
    total = sum(estimate.seconds.values())
    print(f"{'in all':18} {total:10.1f} {run.seconds:10.1f} {total / run.seconds:6.2f}", flush=True)


@click.command()
@click.argument("configs", nargs=-1, type=click.Path())
def main(configs: tuple[str, ...]) -> None:
    """Fits, or compares."""
    print(f"load {os.getloadavg()[0]:.1f} before, {os.cpu_count()} cores")
    for path in configs:
        compare(path)
    if not configs:
        fit()
    print(f"load {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
