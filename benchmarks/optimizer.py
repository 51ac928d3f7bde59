"""Training speed with LazyAdam against Keras's dense Adam, same lists, same model, alternating in one process.

.venv/bin/python benchmarks/optimizer.py
"""

import os
import statistics
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from tensorflow import keras

from models.lists.ranking_lists import RankingLists
from models.losses.sosl import SmoothOrdinalSearchLoss
from models.objectives.objective import RankingObjective
from models.optimizers.lazy_adam import LazyAdam
from models.rankers.ranker import Ranker
from models.rankers.two_towers import TwoTowers, Words
from models.settings import ModelSettings, TrainingSettings
from models.training.devices import make_strategy
from models.training.steps import TrainingSteps
from pipeline.estimate.training_step import made_up_lists
from schemas.relevance import MOST_RELEVANT

VOCABULARY = 100_000
LISTS, LIST_SIZE, DOCUMENTS, TOKENS = 512, 45, 10_000, 25
ROUNDS = 5


def synthetic_lists() -> RankingLists:
    """Lists of random words with Zipf's frequencies, as long as verses."""
    return made_up_lists(LISTS, LIST_SIZE, DOCUMENTS, TOKENS, TOKENS, VOCABULARY, MOST_RELEVANT)


def pairs_per_second(optimizer: type[keras.optimizers.Optimizer], lists: RankingLists) -> float:
    """Pairs per second of two epochs of training, compilation left out by a first epoch."""
    settings = TrainingSettings(epochs=1).for_encoder("mean")
    strategy = make_strategy(settings)
    with strategy.scope():
        ranker = Ranker({"smooth_cosine": TwoTowers(Words(VOCABULARY), Words(VOCABULARY), ModelSettings(), seed=1)})
        adam = optimizer(settings.number("learning_rate"))
    objective = RankingObjective(ranker, SmoothOrdinalSearchLoss(reduction="none"))
    trainer = TrainingSteps(objective, adam, settings.clip_norm)
    steps = LISTS // settings.batch_lists
    rows = np.arange(LISTS, dtype=np.int32).reshape(steps, -1)
    batches = iter(tf.data.Dataset.from_tensor_slices(rows).map(lists.batch).repeat().prefetch(4))
    trainer.run(batches, steps)
    started = time.perf_counter()
    trainer.run(batches, 2 * steps)
    return 2 * lists.pairs / (time.perf_counter() - started)


def main() -> None:
    """Prints the medians and their ratio."""
    lists = synthetic_lists()
    rounds = [
        (pairs_per_second(LazyAdam, lists), pairs_per_second(keras.optimizers.Adam, lists)) for _ in range(ROUNDS)
    ]
    lazy, dense = (statistics.median(column) for column in zip(*rounds, strict=True))
    ratio = statistics.median(a / b for a, b in rounds)
    print(
        f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, {LISTS} lists of {LIST_SIZE} texts of {TOKENS} words"
    )
    print(f"LazyAdam              {lazy:10,.0f} pairs/s")
    print(f"keras.optimizers.Adam {dense:10,.0f} pairs/s (baseline)")
    print(f"ratio                 {ratio:10.2f}")


if __name__ == "__main__":
    main()
