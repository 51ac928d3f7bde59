"""Speed of training with each option of a stronger tower against the paper's, same lists, alternating in one process.

    .venv/bin/python benchmarks/tower.py
    .venv/bin/python benchmarks/tower.py configs/ntrex_en_fr.yaml

The lists are those of benchmarks/optimizer.py, or those that the Trainer of the last `clir run` of a configuration
read. Where they have no stems, every three words have one. A step is forward, backward and update, input included; a
speed is pairs per second of the clock, and per CPU second of the whole process.
"""

import os
import time
from collections.abc import Callable
from dataclasses import replace

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import click
import numpy as np
import tensorflow as tf
from lists import given_lists

from models.lists.mapped_rows import MappedRows
from models.lists.ranking_lists import RankingLists
from models.make_objective import make_objective
from models.optimizers.lazy_adam import LazyAdam
from models.rankers.ranker import Ranker
from models.rankers.two_towers import TwoTowers, Words
from models.settings import LossSettings, ModelSettings, TrainingSettings
from models.training.devices import configure_devices
from models.training.steps import TrainingSteps
from pipeline.estimate.training_step import WORDS_OF_A_STEM
from schemas import features as f
from schemas.relevance import MOST_RELEVANT

PLAIN = "the paper's tower"
OPTIONS = {
    "loss.in_batch": (ModelSettings(), LossSettings(in_batch=True)),
    "loss.softmax_weight": (ModelSettings(), LossSettings(softmax_weight=0.02)),
    "model.embedding_dim 128": (ModelSettings(embedding_dim=128), LossSettings()),
    "model.stem_embeddings": (ModelSettings(stem_embeddings=True), LossSettings()),
    "model.word_dropout": (ModelSettings(word_dropout=0.25), LossSettings()),
    "all but the softmax": (
        ModelSettings(embedding_dim=128, stem_embeddings=True, word_dropout=0.25),
        LossSettings(in_batch=True),
    ),
    "all of them": (
        ModelSettings(embedding_dim=128, stem_embeddings=True, word_dropout=0.25),
        LossSettings(in_batch=True, softmax_weight=0.02),
    ),
}
TOWERS = {PLAIN: (ModelSettings(), LossSettings()), **OPTIONS}

Speeds = tuple[float, float]
"""Pairs per second of the clock, and per CPU second."""


def with_stems(lists: RankingLists, words: tuple[Words, Words]) -> tuple[RankingLists, tuple[Words, Words]]:
    """Lists that have stems, and the words with the number of these."""
    if f.QUERY_STEMS in lists.query_columns:
        return lists, words
    of_documents = lists.document_columns[f.DOC_TOKENS]
    if isinstance(of_documents, MappedRows):
        of_documents = of_documents.tensor()
    tokens = lists.query_columns[f.QUERY_TOKENS], of_documents
    query, document = (column.with_flat_values(column.flat_values // WORDS_OF_A_STEM) for column in tokens)
    return (
        replace(
            lists,
            query_columns={**lists.query_columns, f.QUERY_STEMS: query},
            document_columns={**lists.document_columns, f.DOC_STEMS: document},
        ),
        tuple(one._replace(stems=one.number // WORDS_OF_A_STEM + 1) for one in words),
    )


def without_stems(lists: RankingLists) -> RankingLists:
    """The lists as a run without stems has them."""
    stems = (f.QUERY_STEMS, f.DOC_STEMS)
    query, document = (
        {name: column for name, column in columns.items() if name not in stems}
        for columns in (lists.query_columns, lists.document_columns)
    )
    return replace(lists, query_columns=query, document_columns=document)


def measure_of(
    model: ModelSettings, loss: LossSettings, lists: RankingLists, words: tuple[Words, Words], batches: int
) -> Callable[[], Speeds]:
    """Training of a tower on some batches, compiled."""
    if not model.stem_embeddings:
        lists = without_stems(lists)
    settings = TrainingSettings().for_encoder(model.encoder)
    objective = make_objective(Ranker({"towers": TwoTowers(*words, model, seed=1)}), loss, MOST_RELEVANT)
    rows = np.arange(batches * settings.batch_lists, dtype=np.int32).reshape(batches, -1) % len(lists)
    pairs = sum(int(lists.documents.row_lengths().numpy()[batch].sum()) for batch in rows)
    input_of_all = tf.data.Dataset.from_tensor_slices(rows).map(lists.batch).repeat().prefetch(4)
    adam = LazyAdam(settings.number("learning_rate"), settings.number("embedding_factor"))
    steps, input_batches = TrainingSteps(objective, adam, settings.clip_norm), iter(input_of_all)

    def pairs_per_second() -> Speeds:
        started, cpu = time.perf_counter(), time.process_time()
        steps.run(input_batches, batches)
        return pairs / (time.perf_counter() - started), pairs / (time.process_time() - cpu)

    pairs_per_second()  # compiles
    return pairs_per_second


@click.command()
@click.argument("config_path", metavar="[CONFIG]", type=click.Path(), required=False)
@click.option("--batches", default=64, show_default=True, type=click.IntRange(min=1), help="Batches of a round.")
@click.option("--rounds", default=5, show_default=True, type=click.IntRange(min=1), help="Rounds of every tower.")
def main(config_path: str | None, batches: int, rounds: int) -> None:
    """Prints the medians, and their ratios to the paper's tower."""
    tf.get_logger().setLevel("ERROR")  # it warns of as many graphs as there are towers
    configure_devices(TrainingSettings(), "mean")
    lists, words, described = given_lists(config_path)
    lists, words = with_stems(lists, words)
    print(f"load {os.getloadavg()[0]:.1f} before, {os.cpu_count()} cores, {described}")
    measures = {name: measure_of(*tower, lists, words, batches) for name, tower in TOWERS.items()}
    seen = [{name: measure() for name, measure in measures.items()} for _ in range(rounds)]
    print(f"{'':24} {'pairs/s':>9} {'ratio':>7} {'pairs/CPU s':>12} {'ratio':>7}")
    for name in TOWERS:
        clock, cpu = np.median([row[name] for row in seen], axis=0)
        clock_ratio, cpu_ratio = np.median([np.divide(row[name], row[PLAIN]) for row in seen], axis=0)
        print(f"{name:24} {clock:9,.0f} {clock_ratio:7.3f} {cpu:12,.0f} {cpu_ratio:7.3f}")
    print(f"load {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
