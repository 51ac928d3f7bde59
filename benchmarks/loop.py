"""Our loop of training steps against Keras's `fit`: same lists, model and optimizer, alternating in one process.

    .venv/bin/python benchmarks/loop.py
    .venv/bin/python benchmarks/loop.py configs/ntrex_en_fr.yaml

The lists are those of benchmarks/optimizer.py, or those that the Trainer of the last `clir run` of a configuration
read. Keras's model has a `train_step` that does what ours does: forward, backward, clipping by the global norm, and a
step of LazyAdam; it keeps the means of loss and norm. `fit` takes as many steps a call of its graph as ours
(`steps_per_execution`). An epoch is one call of `fit`, and of ours as many calls as the training makes.
"""

import os
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import click
import numpy as np
import tensorflow as tf
from lists import given_lists
from tensorflow import keras

from models.lists.ranking_lists import RankingLists
from models.losses.sosl import SmoothOrdinalSearchLoss
from models.objectives.objective import Objective, RankingObjective
from models.optimizers.lazy_adam import LazyAdam
from models.rankers.ranker import Ranker
from models.rankers.two_towers import TwoTowers, Words
from models.settings import ModelSettings, TrainingSettings
from models.training.devices import configure_devices
from models.training.steps import TrainingSteps

STEPS_PER_CALL = 50
SETTINGS = TrainingSettings().for_encoder("mean")

Epoch = Callable[[], None]


class KerasTraining(keras.Model):
    """An objective whose steps `fit` takes."""

    def __init__(self, objective: Objective) -> None:
        super().__init__()
        self.objective = objective
        self.means = [keras.metrics.Mean(name) for name in ("loss", "gradient_norm")]

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """Loss and norm."""
        return self.means

    def train_step(self, data: Any) -> dict[str, tf.Tensor]:
        """One step."""
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(self.objective(*data).losses)
        variables = self.objective.trainable_variables
        clipped, norm = tf.clip_by_global_norm(tape.gradient(loss, variables), SETTINGS.clip_norm)
        self.optimizer.apply_gradients(zip(clipped, variables, strict=True))
        for mean, value in zip(self.means, (loss, norm), strict=True):
            mean.update_state(value)
        return {mean.name: mean.result() for mean in self.means}


def make(lists: RankingLists, words: tuple[Words, Words]) -> tuple[Objective, LazyAdam, Iterator[Any]]:
    """A new objective, its optimizer, and endless batches."""
    towers = TwoTowers(*words, ModelSettings(), seed=SETTINGS.seed)
    ranker = Ranker({"smooth_cosine": towers})
    ranker(lists.batch(tf.constant([0]))[0])
    objective = RankingObjective(ranker, SmoothOrdinalSearchLoss(reduction="none"))
    optimizer = LazyAdam(SETTINGS.number("learning_rate"), SETTINGS.number("embedding_factor"))
    optimizer.build(objective.trainable_variables)
    rows = np.arange(len(lists) // SETTINGS.batch_lists * SETTINGS.batch_lists, dtype=np.int32)
    dataset = tf.data.Dataset.from_tensor_slices(rows.reshape(-1, SETTINGS.batch_lists)).map(lists.batch).repeat()
    return objective, optimizer, dataset.prefetch(4)


def our_epoch(lists: RankingLists, words: tuple[Words, Words], steps: int) -> Epoch:
    """An epoch of our loop."""
    objective, optimizer, dataset = make(lists, words)
    training_steps, batches = TrainingSteps(objective, optimizer, SETTINGS.clip_norm), iter(dataset)

    def epoch() -> None:
        for start in range(0, steps, STEPS_PER_CALL):
            training_steps.run(batches, min(STEPS_PER_CALL, steps - start))

    return epoch


def keras_epoch(lists: RankingLists, words: tuple[Words, Words], steps: int) -> Epoch:
    """An epoch of `fit`."""
    objective, optimizer, dataset = make(lists, words)
    model = KerasTraining(objective)
    model.compile(optimizer, steps_per_execution=STEPS_PER_CALL)
    return lambda: model.fit(dataset, steps_per_epoch=steps, verbose=0) and None


@click.command()
@click.argument("config_path", metavar="[CONFIG]", type=click.Path(), required=False)
@click.option("--rounds", default=9, show_default=True, type=click.IntRange(min=1), help="Epochs of each.")
def main(config_path: str | None, rounds: int) -> None:
    """Prints the medians, and their ratio."""
    configure_devices(SETTINGS, "mean")
    lists, words, described = given_lists(config_path)
    steps = len(lists) // SETTINGS.batch_lists
    pairs = lists.pairs * steps * SETTINGS.batch_lists / len(lists)
    print(f"load {os.getloadavg()[0]:.1f} before, {os.cpu_count()} cores, {described}")
    epochs = [make_epoch(lists, words, steps) for make_epoch in (our_epoch, keras_epoch)]
    seen = []
    for number in range(rounds + 1):  # the first compiles
        speeds = []
        for epoch in epochs:
            started = time.perf_counter()
            epoch()
            speeds.append(pairs / (time.perf_counter() - started))
        if number:
            seen.append(speeds)
    ours, keras_fit = (statistics.median(column) for column in zip(*seen, strict=True))
    print(f"models.training.steps {ours:10,.0f} pairs/s")
    print(f"keras.Model.fit       {keras_fit:10,.0f} pairs/s (baseline)")
    print(f"ratio                 {statistics.median(one / other for one, other in seen):10.2f}")
    print(f"load {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
