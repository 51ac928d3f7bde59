"""The input's share of a training step: batches gathered from the lists, against batches that are ready in memory.

    .venv/bin/python benchmarks/input.py

Made-up lists as large as those of `bible_en_tl`, with the paper's tower and with that of the preset `best`; both kinds
of batches train one model, in turn. The share is what a step takes longer with gathered batches.
"""

import os
import statistics
import time
from collections.abc import Iterator
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

from models.devices import make_strategy
from models.lazy_adam import LazyAdam
from models.lists import RankingLists
from models.make_objective import make_objective
from models.ranker import Ranker
from models.settings import LossSettings, ModelSettings, TrainingSettings
from models.training_batches import training_batches
from models.training_steps import TrainingSteps
from models.two_towers import TwoTowers, Words
from pipeline.estimate.made_up_lists import WORDS_OF_A_STEM, made_up_lists
from schemas.relevance import MOST_RELEVANT

LISTS, LISTED, DOCUMENTS, QUERY_WORDS, DOCUMENT_WORDS, VOCABULARY = 2048, 45, 30_000, 25, 30, 24_000
ROUNDS = 7
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
    """(seconds, CPU seconds) of a step in each round, with gathered batches and with ready ones."""
    settings = TrainingSettings().for_encoder(model.encoder)
    batch = settings.batch_lists
    strategy = make_strategy(settings)
    lists = made_up_lists(
        *(LISTS, LISTED, DOCUMENTS, QUERY_WORDS, DOCUMENT_WORDS, VOCABULARY, MOST_RELEVANT),
        has_stems=model.stem_embeddings,
    )
    steps, count = make_steps(strategy, settings, VOCABULARY, model, loss), LISTS // batch
    batches = {
        "gathered": training_batches(lists, strategy, 1, range(1, ROUNDS + 2), batch),
        "ready": ready_batches(lists, batch),
    }
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in batches}
    for _ in range(ROUNDS + 1):
        for name, some in batches.items():
            started, cpu = time.perf_counter(), time.process_time()
            steps.run(some, count)
            seen[name].append(((time.perf_counter() - started) / count, (time.process_time() - cpu) / count))
    return {name: rounds[1:] for name, rounds in seen.items()}  # the first compiles


def main() -> None:
    """Prints the medians, and the shares."""
    print(f"load {os.getloadavg()[0]:.1f} before, {os.cpu_count()} cores, medians of {ROUNDS} rounds")
    for name, tower in TOWERS.items():
        seen = measure(*tower)
        clock, cpu = (
            {kind: 1e3 * statistics.median(row[place] for row in rounds) for kind, rounds in seen.items()}
            for place in range(2)
        )
        columns = ", ".join(f"{kind} {clock[kind]:.2f} ms ({cpu[kind]:.2f} CPU)" for kind in seen)
        print(f"{name:14} {columns}, input's share {1 - clock['ready'] / clock['gathered']:.1%}", flush=True)
    print(f"load {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
