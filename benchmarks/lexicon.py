"""The lexicon: learning it, and what its channel adds to scoring with an exported model.

    python -m benchmarks.lexicon
    python -m benchmarks.lexicon configs/bible_en_tl.yaml

Runs a configuration (the bundled sample by default) with the presets best and paper, each with the lexicon and without
(the baseline), for one epoch. Then both exported models score in turn: one list, and 64 lists, of 50 documents of 100
words of the collection. The time of learning is that of the stage LexiconGen.
"""

import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import click
import numpy as np
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the ops of an exported model)

from benchmarks.harness import TREE, Figures, Harness, benchmark, run_pipeline

LIST_SIZE, WORDS, BATCHES = 50, 100, (1, 64)
PRESETS = ("best", "paper")


@click.command()
@click.argument("config", default=str(TREE / "configs" / "sample.yaml"), type=click.Path(exists=True))
@benchmark(rounds=9)
def main(harness: Harness, config: str) -> None:
    """Compare scoring with the lexicon and without it."""
    with tempfile.TemporaryDirectory() as folder:
        for preset in PRESETS:
            ways = {}
            for kind in ("none", "lexicon"):
                output = Path(folder, f"{preset}-{kind}")
                settings = (f"preset={preset}", f"lexicon.kind={kind}", "training.epochs=1", "evaluation.minimums={}")
                run = run_pipeline(config, output, *settings)
                ways[kind] = scoring(output)
                if learning := run.stages.get("LexiconGen"):
                    lexicon = run.result["lexicon"]
                    click.echo(f"learning: {learning['seconds']:.1f} s, {learning['cpu_seconds']:.1f} CPU s, {lexicon}")
            harness.compare(f"preset {preset}, lists of {LIST_SIZE} documents of {WORDS} words", ways, warm_up=1)


def scoring(output: Path) -> Callable[[], Figures]:
    """The CPU time of a request to the newest exported model of a run."""
    version = max((output / "serving").iterdir(), key=lambda version: version.name)
    score = tf.saved_model.load(str(version)).signatures["score"]
    calls = {lists: partial(score, **request(output, lists)) for lists in BATCHES}

    def measure() -> Figures:
        figures = {}
        for lists, call in calls.items():
            times = max(32 // lists, 1)
            started = time.process_time()
            for _ in range(times):
                call()
            name = f"{lists} list{'s' if lists > 1 else ''}, CPU ms"
            figures[name] = 1000 * (time.process_time() - started) / times
        return figures

    return measure


def request(output: Path, lists: int) -> dict[str, Any]:
    """Queries of a run's collection, and documents made of its words."""
    columns = {}
    for role in ("queries", "documents"):
        (shard, *_) = sorted(output.glob(f"artifacts/CollectionGen/*/*/{role}-*.tsv"))
        lines = shard.read_text(encoding="utf-8").splitlines()
        columns[role] = [line.split("\t")[2] for line in lines[:20_000] if line]
    words = np.array(" ".join(columns["documents"]).split(), object)
    positions = np.arange(lists * LIST_SIZE * WORDS).reshape(lists * LIST_SIZE, WORDS) % len(words)
    documents = [" ".join(row) for row in words[positions]]
    return {
        "query": tf.constant((columns["queries"] * lists)[:lists]),
        "documents": tf.reshape(tf.constant(documents), [lists, LIST_SIZE]),
    }


if __name__ == "__main__":
    main()
