"""The input's share of a training step: batches gathered from the lists, against batches that are ready in memory.

    .venv/bin/python benchmarks/input.py

Made-up lists as large as those of `bible_en_tl`, with the paper's tower and with that of the preset `best`; both kinds
of batches train one model, in turn, some steps at a time: the machine's speed swings by more than what parts them, and
less within two turns. The share is what a step takes longer with gathered batches, the median over pairs of turns.
"""

import math
import os
import statistics
import time
from collections.abc import Iterator
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

from models.lists.ranking_lists import RankingLists
from models.lists.training_batches import training_batches
from models.make_objective import make_objective
from models.optimizers.lazy_adam import LazyAdam
from models.rankers.ranker import Ranker
from models.rankers.two_towers import TwoTowers, Words
from models.settings import LossSettings, ModelSettings, TrainingSettings
from models.training.devices import configure_devices, make_strategy
from models.training.steps import TrainingSteps
from pipeline.estimate.training_step import WORDS_OF_A_STEM, made_up_lists
from schemas.relevance import MOST_RELEVANT

LISTS, LISTED, DOCUMENTS, QUERY_WORDS, DOCUMENT_WORDS, VOCABULARY = 2048, 45, 30_000, 25, 30, 24_000
ROUNDS, STEPS = 60, 32
TOWERS = {
    "the paper's": (ModelSettings(), LossSettings()),
    "that of best": (
        ModelSettings(embedding_dim=128, stem_embeddings=True, word_dropout=0.25),
        LossSettings(in_batch=True),
    ),
}


def ready_batches(lists: RankingLists, batch: int) -> Iterator[Any]:
    """An epoch's batches, again and again, from memory."""
    rows = np.arange(LISTS, dtype=np.int32).reshape(-1, batch)
    return iter(tf.data.Dataset.from_tensor_slices(rows).map(lists.batch).cache().repeat().prefetch(4))


def make_steps(
    strategy: tf.distribute.Strategy,
    settings: TrainingSettings,
    vocabulary: int,
    model: ModelSettings,
    loss: LossSettings,
) -> TrainingSteps:
    """The steps of a tower over so many words of each language."""
    words = Words(vocabulary, stems=vocabulary // WORDS_OF_A_STEM + 1)
    with strategy.scope():
        objective = make_objective(Ranker({"towers": TwoTowers(words, words, model, seed=1)}), loss, MOST_RELEVANT)
    adam = LazyAdam(settings.number("learning_rate"), settings.number("embedding_factor"))
    return TrainingSteps(objective, adam, settings.clip_norm)


def measure(model: ModelSettings, loss: LossSettings) -> dict[str, list[tuple[float, float]]]:
    """(seconds, CPU seconds) of a step in each turn, with gathered batches and with ready ones."""
    settings = TrainingSettings().for_encoder(model.encoder)
    batch = settings.batch_lists
    strategy = make_strategy(settings)
    lists = made_up_lists(
        *(LISTS, LISTED, DOCUMENTS, QUERY_WORDS, DOCUMENT_WORDS, VOCABULARY, MOST_RELEVANT),
        has_stems=model.stem_embeddings,
    )
    steps = make_steps(strategy, settings, VOCABULARY, model, loss)
    epochs = math.ceil((ROUNDS + 1) * STEPS / (LISTS // batch))
    batches = {
        "gathered": training_batches(lists, strategy, 1, range(1, epochs + 1), batch),
        "ready": ready_batches(lists, batch),
    }
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in batches}
    for _ in range(ROUNDS + 1):
        for name, some in batches.items():
            started, cpu = time.perf_counter(), time.process_time()
            steps.run(some, STEPS)
            seen[name].append(((time.perf_counter() - started) / STEPS, (time.process_time() - cpu) / STEPS))
    return {name: turns[1:] for name, turns in seen.items()}  # the first compiles


def main() -> None:
    """Prints the medians, and the shares."""
    configure_devices(TrainingSettings(), "mean")
    print(f"load {os.getloadavg()[0]:.1f} before, {os.cpu_count()} cores, medians of {ROUNDS} turns of {STEPS} steps")
    for name, tower in TOWERS.items():
        seen = measure(*tower)
        columns = []
        for kind, turns in seen.items():
            clock, cpu = (1e3 * statistics.median(column) for column in zip(*turns, strict=True))
            columns.append(f"{kind} {clock:.2f} ms ({cpu:.2f} CPU)")
        shares = [
            statistics.median(
                1 - ready[place] / gathered[place] for gathered, ready in zip(*seen.values(), strict=True)
            )
            for place in range(2)
        ]
        share = f"input's share {shares[0]:.1%} of the clock, {shares[1]:.1%} of CPU"
        print(f"{name:14} {', '.join(columns)}, {share}", flush=True)
    print(f"load {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
