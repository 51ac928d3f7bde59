"""Training speed on a collection's own lists: `models.training.train` against a plain Keras model on padded pairs.

    .venv/bin/clir run configs/bible_en_tl.yaml
    .venv/bin/python benchmarks/training.py configs/bible_en_tl.yaml --epochs 30 --baseline-seconds 60

The lists are those that the Trainer of the last `clir run` read. Ours trains at the configuration's settings; its
figures are the difference of N epochs and one, so that tracing and set-up, shown apart, are in none of them.

The baseline trains as the code of the paper's authors does, in Keras: shuffled query-document pairs in batches of 128,
token ids padded by 0 to the longest text of the batch, two `keras.layers.Embedding`, the mean over the padded length,
tanh, smooth cosine, SOSL of each pair, and dense `keras.optimizers.Adam` with the gradient's norm clipped. `Model.fit`
runs it compiled, fifty steps a call (as ours), on a prefetching tf.data pipeline from memory, in a process of its own
with TensorFlow's own choice of threads: half of its time before ours, half after.
"""

import multiprocessing
import os
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import Any, NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import click
import numpy as np
import tensorflow as tf
import tensorflow_transform as tft
from ml_metadata.proto import metadata_store_pb2
from tensorflow import keras
from tfx.orchestration import metadata
from tfx.orchestration.portable.mlmd import execution_lib
from tfx.types import artifact_utils

from models.lists.ranking_lists import RankingLists, read_lists
from models.losses.sosl import SmoothOrdinalSearchLoss
from models.make_objective import make_objective
from models.rankers.ranker import Ranker
from models.rankers.two_towers import TwoTowers, Words
from models.training.devices import configure_devices, make_strategy
from models.training.list_evaluator import ListEvaluator
from models.training.train import train
from pipeline.config import RunConfig, load_config
from pipeline.layout import METADATA_FILE
from schemas import features as f

TRAINER = "components.trainer.component.Trainer"
PAIRS_PER_STEP = 128
STEPS_PER_CALL = 50


class Inputs(NamedTuple):
    """What the Trainer of a run read."""

    query_words: Words
    document_words: Words
    train: RankingLists
    eval: RankingLists


def read_inputs(config_path: str, output: str) -> Inputs:
    """Reads the inputs of the newest execution of the Trainer that a run's metadata name."""
    advice = f"run `clir run {config_path}` first."
    database = os.path.join(output, METADATA_FILE)
    if not os.path.exists(database):
        raise click.ClickException(f"there is no {database}; {advice}")
    connection = metadata_store_pb2.ConnectionConfig(
        sqlite=metadata_store_pb2.SqliteMetadataSourceConfig(
            filename_uri=database, connection_mode=metadata_store_pb2.SqliteMetadataSourceConfig.READONLY
        )
    )
    with metadata.Metadata(connection) as handle:
        executions = handle.store.get_executions_by_type(TRAINER)
        if not executions:
            raise click.ClickException(f"no Trainer has run under {output}; {advice}")
        artifacts = execution_lib.get_input_artifacts(handle, max(execution.id for execution in executions))
    graph = artifact_utils.get_single_uri(artifacts["transform_graph"])
    transform = tft.TFTransformOutput(graph)
    lists = {}
    for split in ("train", "eval"):
        files = os.path.join(artifact_utils.get_split_uris(artifacts["examples"], split)[0], "*")
        if not (paths := tf.io.gfile.glob(files)):
            raise click.ClickException(f"the files of the last run are gone: there is no {files}; {advice}")
        lists[split] = read_lists(paths, transform.transformed_feature_spec())
    has_stems = f.QUERY_STEMS in lists["train"].query_columns
    size = transform.vocabulary_size_by_name
    words = (
        Words(size(name), stems=size(of_stems) if has_stems else 0) for name, of_stems in f.STEMS_OF_VOCABULARY.items()
    )
    return Inputs(*words, lists["train"], lists["eval"])


def train_ours(config: RunConfig, inputs: Inputs, epochs: int) -> tuple[float, float]:
    """(seconds of the whole call, seconds of its training without evaluation) of some epochs."""
    settings = config.training.model_copy(update={"epochs": epochs, "patience": None})
    strategy = make_strategy(settings)
    with strategy.scope():
        towers = TwoTowers(inputs.query_words, inputs.document_words, config.model, seed=settings.seed)
        objective = make_objective(Ranker({config.model.similarity: towers}), config.loss, config.data.top_grade)
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        result = train(
            objective,
            inputs.train,
            ListEvaluator(objective.ranker, inputs.eval, config.data.top_grade),
            settings,
            log_dir=os.path.join(folder, "log"),
            checkpoint_dir=os.path.join(folder, "checkpoint"),
        )
        seconds = time.perf_counter() - started
    return seconds, epochs * inputs.train.pairs / result.pairs_per_second


class PairModel(keras.Model):
    """The baseline's two towers."""

    def __init__(self, config: RunConfig, inputs: Inputs) -> None:
        super().__init__()
        self.query_table = keras.layers.Embedding(inputs.query_words.number + 1, config.model.embedding_dim)
        self.document_table = keras.layers.Embedding(inputs.document_words.number + 1, config.model.embedding_dim)
        self.epsilon = config.model.epsilon

    def call(self, tokens: dict[str, tf.Tensor]) -> tf.Tensor:
        """Scores of pairs, float [batch]."""
        query = tf.tanh(tf.reduce_mean(self.query_table(tokens["query"]), axis=1))
        document = tf.tanh(tf.reduce_mean(self.document_table(tokens["document"]), axis=1))
        norms = [tf.norm(vectors, axis=-1) + self.epsilon for vectors in (query, document)]
        return tf.reduce_sum(query * document, axis=-1) / (norms[0] * norms[1])


class Baseline:
    """The baseline, compiled and ready to train for a while."""

    def __init__(self, config: RunConfig, inputs: Inputs) -> None:
        loss = SmoothOrdinalSearchLoss(config.loss.theta)
        self._model = PairModel(config, inputs)
        self._model.compile(
            keras.optimizers.Adam(global_clipnorm=config.training.clip_norm),
            lambda grades, scores: loss.document_loss(tf.cast(grades, tf.int32), scores),
            steps_per_execution=STEPS_PER_CALL,
        )
        self._batches = pair_batches(inputs.train)
        self._seconds_per_step = 0.0
        for _ in range(2):  # the first traces
            self._fit(STEPS_PER_CALL)

    def _fit(self, steps: int) -> float:
        """Pairs per second of some steps."""
        started = time.perf_counter()
        self._model.fit(self._batches, steps_per_epoch=steps, verbose=0)
        self._seconds_per_step = (time.perf_counter() - started) / steps
        return PAIRS_PER_STEP / self._seconds_per_step

    def pairs_per_second(self, seconds: float) -> float:
        """Pairs per second of about so many seconds of training."""
        calls = max(1, round(seconds / self._seconds_per_step / STEPS_PER_CALL))
        return self._fit(calls * STEPS_PER_CALL)


@cache
def baseline_of(config_path: str) -> Baseline:
    """The baseline of this process."""
    config = load_config(config_path)
    return Baseline(config, read_inputs(config_path, config.output))


def baseline_pairs_per_second(config_path: str, seconds: float) -> float:
    """What the baseline's process does."""
    return baseline_of(config_path).pairs_per_second(seconds)


def pair_batches(lists: RankingLists) -> tf.data.Dataset:
    """Endless batches of shuffled pairs, as padded token ids, and their grades."""
    queries, documents = lists.documents.value_rowids(), lists.documents.flat_values
    grades = lists.list_columns[f.RELEVANCE].flat_values
    document_tokens = lists.document_columns[f.DOC_TOKENS].tensor()

    def batch(pairs: tf.Tensor) -> tuple[dict[str, Any], tf.Tensor]:
        tokens = {
            "query": tf.gather(lists.query_columns[f.QUERY_TOKENS], tf.gather(queries, pairs)),
            "document": tf.gather(document_tokens, tf.gather(documents, pairs)),
        }
        return {key: (ids + 1).to_tensor(0) for key, ids in tokens.items()}, tf.gather(grades, pairs)

    order = np.random.default_rng(1).permutation(lists.pairs).astype(np.int32)
    rows = order[: lists.pairs // PAIRS_PER_STEP * PAIRS_PER_STEP].reshape(-1, PAIRS_PER_STEP)
    dataset = tf.data.Dataset.from_tensor_slices(rows).repeat()
    return dataset.map(batch, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)


@click.command()
@click.argument("config_path", metavar="CONFIG", type=click.Path())
@click.option("--epochs", default=30, show_default=True, type=click.IntRange(min=2), help="Epochs of our training.")
@click.option("--baseline-seconds", default=60.0, show_default=True, help="About how long the baseline trains.")
def main(config_path: str, epochs: int, baseline_seconds: float) -> None:
    """Prints the speeds and their ratio."""
    config = load_config(config_path)
    configure_devices(config.training, config.model.encoder)
    inputs = read_inputs(config_path, config.output)
    print(f"load {os.getloadavg()[0]:.1f} before, {os.cpu_count()} cores, {config_path}: ", end="")
    print(f"{len(inputs.train):,} train lists of {inputs.train.pairs:,} pairs, {len(inputs.eval):,} eval lists")
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:

        def half_of_the_baseline() -> float:
            return pool.submit(baseline_pairs_per_second, config_path, baseline_seconds / 2).result()

        before = half_of_the_baseline()
        first, all_epochs = (np.asarray(train_ours(config, inputs, count)) for count in (1, epochs))
        after = half_of_the_baseline()
    with_eval, without_eval = (all_epochs - first) / (epochs - 1)
    if min(with_eval, without_eval) <= 0:
        raise click.ClickException(f"{epochs} epochs take no longer than the machine's own ups and downs; give more.")
    ours, theirs = inputs.train.pairs / without_eval, 2 / (1 / before + 1 / after)
    print(f"models.training.train {ours:10,.0f} pairs/s")
    print(f"  {epochs} epochs {epochs * without_eval:12.1f} s; {epochs * with_eval:.1f} s with the evaluation of each")
    print(f"  tracing, set-up {first[0] - with_eval:7.1f} s")
    print(f"Keras on padded pairs {theirs:10,.0f} pairs/s (baseline; {before:,.0f} before ours, {after:,.0f} after)")
    print(f"ratio                 {ours / theirs:10.2f}")
    print(f"load {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
