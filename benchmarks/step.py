"""A training step of this version against another commit's, with large tables and long texts and with small and short.

    git worktree add ../before COMMIT
    .venv/bin/python benchmarks/step.py --baseline ../before

The towers are those of benchmarks/input.py, on 16 made-up lists of 54 documents. Each measurement has a process of its
own, the trees take turns, and a figure is the median of five rounds of 64 steps, input included.
"""

import inspect
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import click
from input import TOWERS, make_steps

from models.lists.training_batches import training_batches
from models.settings import TrainingSettings
from models.training.devices import configure_devices, make_strategy
from pipeline.estimate.training_step import made_up_lists
from schemas.relevance import MOST_RELEVANT

TREE = Path(__file__).parent.parent
LISTS, LISTED, QUERY_WORDS = 16, 54, 5
SIZES = ((100_000, 100), (16_000, 30))
"""Words of a language, and of a document."""
ROUNDS, STEPS, TURNS = 5, 64, 2


def measure(tower: str, vocabulary: int, document_words: int) -> tuple[float, float]:
    """Milliseconds of a step, of the clock and of CPU."""
    model, loss = TOWERS[tower]
    settings = TrainingSettings().for_encoder(model.encoder)
    # A tree from before the encoder decided of threads takes the settings alone.
    arguments = [settings, model.encoder][: len(inspect.signature(configure_devices).parameters)]
    configure_devices(*arguments)
    strategy = make_strategy(settings)
    lists = made_up_lists(
        *(LISTS, LISTED, LISTS * LISTED, QUERY_WORDS, document_words, vocabulary, MOST_RELEVANT),
        has_stems=model.stem_embeddings,
    )
    steps = make_steps(strategy, settings, vocabulary, model, loss)
    batches = training_batches(lists, strategy, 1, range(1, (ROUNDS + 1) * STEPS + 1), min(settings.batch_lists, LISTS))
    seen = []
    for _ in range(ROUNDS + 1):
        started, cpu = time.perf_counter(), time.process_time()
        steps.run(batches, STEPS)
        seen.append((1e3 * (time.perf_counter() - started) / STEPS, 1e3 * (time.process_time() - cpu) / STEPS))
    clock, of_cpu = (statistics.median(column) for column in zip(*seen[1:], strict=True))  # the first compiles
    return clock, of_cpu


def measure_with(tree: Path, *case: str | int) -> tuple[float, float]:
    """`measure` with the code of a tree."""
    done = subprocess.run(
        [sys.executable, __file__, "--case", json.dumps(case)],
        env={**os.environ, "PYTHONPATH": str(tree)},
        stdout=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        raise click.ClickException(f"the steps with {tree} ended with {done.returncode}")
    clock, cpu = json.loads(done.stdout)
    return clock, cpu


@click.command()
@click.option("--baseline", type=click.Path(exists=True, path_type=Path), help="Tree of the commit to compare with.")
@click.option("--case", hidden=True, help="What a child process measures.")
def main(baseline: Path | None, case: str | None) -> None:
    """Prints the steps of both, and the ratios."""
    if case:
        print(json.dumps(measure(*json.loads(case))))
        return
    if not baseline:
        raise click.UsageError("--baseline must name the tree of a commit to compare with.")
    print(f"load {os.getloadavg()[0]:.1f} before, {os.cpu_count()} cores, medians of {ROUNDS} rounds of {STEPS} steps")
    for tower in TOWERS:
        for size in SIZES:
            for _ in range(TURNS):
                (before, cpu_before), (now, cpu_now) = (
                    measure_with(tree, tower, *size) for tree in (baseline.resolve(), TREE)
                )
                words = f"{size[0]:7,} words, texts of {size[1]:3}"
                figures = f"{before:5.1f} ms ({cpu_before:5.1f} CPU), now {now:5.1f} ms ({cpu_now:5.1f} CPU)"
                print(f"{tower:13} {words}: baseline {figures}, ratio {now / before:.2f}", flush=True)
    print(f"load {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
