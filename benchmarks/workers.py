"""One device, two replicas of a process, and two workers: the same training, its losses and its wall time.

    .venv/bin/python benchmarks/workers.py
    .venv/bin/python benchmarks/workers.py configs/bible_en_tl.yaml --batch-lists 64

The lists are those of benchmarks/optimizer.py, or those that the Trainer of the last `clir run` of a configuration
read. Each training has processes of its own, one training after the other; seconds of an epoch are the difference of N
epochs and one, so that imports and tracing, shown apart, are in none of them. The input alone is the time that one
process takes for the batches of an epoch, as a share of that epoch: beside several, each takes its part of it.
"""

import multiprocessing
import os
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import click
import tensorflow as tf
from lists import given_lists

from components.trainer.run_training import run_training
from models.lists.ranking_lists import RankingLists
from models.lists.training_batches import training_batches
from models.losses.sosl import SmoothOrdinalSearchLoss
from models.objectives.objective import RankingObjective
from models.rankers.ranker import Ranker
from models.rankers.two_towers import TwoTowers, Words
from models.settings import ModelSettings, TrainingSettings
from models.training.devices import configure_devices
from models.training.list_evaluator import ListEvaluator
from models.training.train import train
from schemas.relevance import MOST_RELEVANT


class Measured(NamedTuple):
    """What one training took: seconds, and the loss of each epoch."""

    start: float
    epoch: float
    input: float
    pairs: int
    losses: list[float]


def measure(config_path: str | None, settings: TrainingSettings) -> Measured:
    """Trains in processes of its own."""
    started = time.perf_counter()
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        job = {"config": config_path, "training": settings.model_dump(mode="json")}
        measured = Measured(**pool.submit(train_in_process, job).result())
    return measured._replace(start=time.perf_counter() - started - measured.start)


def train_in_process(job: dict[str, Any]) -> dict[str, Any]:
    """What a new process does: trains, itself or in workers."""
    settings = TrainingSettings(**job["training"])
    configure_devices(settings, "mean")
    figures: dict[str, Any] = run_training(train_twice, job, settings)
    return figures


def train_twice(job: dict[str, Any], strategy: tf.distribute.Strategy) -> dict[str, Any]:
    """Trains for one epoch and for all; `start` is the seconds of what is no start."""
    settings = TrainingSettings(**job["training"])
    lists, words, _ = given_lists(job["config"])
    epochs = settings.epochs_of(len(lists))
    began = time.perf_counter()
    (first, _), (whole, losses) = (_train(lists, words, settings, count, strategy) for count in (1, epochs))
    epoch = (whole - first) / (epochs - 1)
    steps = len(lists) // settings.batch_lists
    here = tf.distribute.OneDeviceStrategy("/cpu:0")  # an iterator of several is slow outside of a graph
    batches = training_batches(lists, here, settings.seed, [1], settings.batch_lists)
    started = time.perf_counter()
    for _ in range(steps):
        next(batches)
    alone = time.perf_counter() - started
    return {
        "start": time.perf_counter() - began,
        "epoch": epoch,
        "input": alone,
        "pairs": lists.pairs * steps * settings.batch_lists // len(lists),
        "losses": losses,
    }


def _train(
    lists: RankingLists, words: tuple[Words, Words], settings: TrainingSettings, epochs: int, strategy: Any
) -> tuple[float, list[float]]:
    """(seconds without evaluation, losses) of some epochs."""
    with strategy.scope():
        ranker = Ranker({"smooth_cosine": TwoTowers(*words, ModelSettings(), seed=settings.seed)})
        objective = RankingObjective(ranker, SmoothOrdinalSearchLoss(reduction="none"))
    few = ListEvaluator(ranker, lists, MOST_RELEVANT)
    with tempfile.TemporaryDirectory() as folder:
        folders = [os.path.join(folder, name) for name in ("log", "checkpoint")]
        history = train(objective, lists, few, settings.model_copy(update={"epochs": epochs}), *folders)
    losses = [row.figures["train/loss"] for row in history.history]
    steps = len(lists) // settings.batch_lists
    pairs = epochs * lists.pairs * steps * settings.batch_lists / len(lists)
    return pairs / history.pairs_per_second, losses


def compare(config_path: str | None, ways: dict[str, TrainingSettings]) -> None:
    """Prints the figures of each way to train, and ratios to the first."""
    print(f"load {os.getloadavg()[0]:.1f} before, {os.cpu_count()} cores, {given_lists(config_path).described}")
    print(f"{'':24} {'start':>8} {'an epoch':>10} {'input alone':>12} {'pairs/s':>10} {'ratio':>6}  losses")
    baseline = None
    for name, settings in ways.items():
        one = measure(config_path, settings)
        baseline = baseline or one.epoch
        losses = " ".join(f"{loss:.6f}" for loss in one.losses)
        print(
            f"{name:24} {one.start:6.1f} s {one.epoch:8.2f} s {one.input / one.epoch:12.1%} "
            f"{one.pairs / one.epoch:10,.0f} {one.epoch / baseline:6.2f}  {losses}"
        )
    print(f"load {os.getloadavg()[0]:.1f} after")


@click.command()
@click.argument("config_path", metavar="[CONFIG]", type=click.Path(), required=False)
@click.option("--epochs", default=3, show_default=True, type=click.IntRange(min=2))
@click.option("--batch-lists", default=16, show_default=True, type=click.IntRange(min=2))
def main(config_path: str | None, epochs: int, batch_lists: int) -> None:
    """Prints the three trainings on CPUs."""
    one = TrainingSettings(epochs=epochs, batch_lists=batch_lists, device="cpu").for_encoder("mean")
    compare(
        config_path,
        {
            "one device": one,
            "2 replicas, 1 process": one.model_copy(update={"replicas": 2}),
            "2 workers": one.model_copy(update={"workers": 2}),
        },
    )


if __name__ == "__main__":
    from workers import main as run  # by its name, for a worker imports what it is to call

    run()
