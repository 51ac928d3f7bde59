"""Speed of each encoder against the mean's, same lists, alternating in one process.

    .venv/bin/python benchmarks/encoders.py
    .venv/bin/python benchmarks/encoders.py configs/bible_en_fr.yaml

The lists are those of benchmarks/optimizer.py, or those that the Trainer of the last `clir run` of a configuration
read. Training is forward, backward and update, with each encoder's own dropout; scoring is forward alone.
"""

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import click
import numpy as np
import tensorflow as tf
from lists import given_lists

from models.lists.ranking_lists import RankingLists
from models.losses.sosl import SmoothOrdinalSearchLoss
from models.objectives.objective import RankingObjective
from models.optimizers.lazy_adam import LazyAdam
from models.rankers.ranker import Ranker
from models.rankers.two_towers import TwoTowers, Words
from models.settings import ENCODERS, ModelSettings, TrainingSettings
from models.training.steps import TrainingSteps

Measure = Callable[[], float]
"""Pairs per second of some batches."""


def measures(encoder: str, lists: RankingLists, words: tuple[Words, Words], batches: int) -> tuple[Measure, Measure]:
    """Training and scoring of an encoder's ranker, compiled."""
    settings = TrainingSettings().for_encoder(encoder)
    towers = TwoTowers(*words, ModelSettings(encoder=encoder), seed=1)
    ranker = Ranker({"smooth_cosine": towers})
    rows = np.arange(batches * settings.batch_lists, dtype=np.int32).reshape(batches, -1) % len(lists)
    pairs = sum(int(lists.documents.row_lengths().numpy()[batch].sum()) for batch in rows)
    dataset = tf.data.Dataset.from_tensor_slices(rows).map(lists.batch).repeat().prefetch(4)
    steps = TrainingSteps(
        RankingObjective(ranker, SmoothOrdinalSearchLoss(reduction="none")),
        LazyAdam(settings.number("learning_rate"), settings.number("embedding_factor")),
        settings.clip_norm,
    )
    count, to_train, to_score = tf.constant(batches), iter(dataset), iter(dataset)

    @tf.function
    def score(iterator: Any, count: tf.Tensor) -> tf.Tensor:
        total = 0.0
        for _ in tf.range(count):
            features, _ = next(iterator)
            total += tf.reduce_sum(ranker(features))
        return total

    def timed(call: Callable[[], Any]) -> Measure:
        def pairs_per_second() -> float:
            started = time.perf_counter()
            call()
            return pairs / (time.perf_counter() - started)

        call()  # compiles
        return pairs_per_second

    return timed(lambda: steps.run(to_train, batches)), timed(lambda: score(to_score, count))


@click.command()
@click.argument("config_path", metavar="[CONFIG]", type=click.Path(), required=False)
@click.option("--batches", default=16, show_default=True, type=click.IntRange(min=1), help="Batches of a round.")
@click.option("--rounds", default=5, show_default=True, type=click.IntRange(min=1), help="Rounds of every encoder.")
def main(config_path: str | None, batches: int, rounds: int) -> None:
    """Prints the medians, and their ratios to the mean's."""
    lists, words, described = given_lists(config_path)
    print(f"load {os.getloadavg()[0]:.1f} before, {os.cpu_count()} cores, {described}")
    of_encoders = {name: measures(name, lists, words, batches) for name in ENCODERS}
    seen = [{name: [measure() for measure in pair] for name, pair in of_encoders.items()} for _ in range(rounds)]
    print("encoder   training, pairs/s   to mean   scoring, pairs/s   to mean")
    for name in ENCODERS:
        cells = []
        for kind, width in enumerate((18, 19)):
            speed = statistics.median(row[name][kind] for row in seen)
            ratio = statistics.median(row[name][kind] / row["mean"][kind] for row in seen)
            cells.append(f"{speed:{width},.0f}{ratio:10.3f}")
        print(f"{name:9}", *cells)
    print(f"load {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
