"""Training: whole Trainers of two trees or on several devices, and steps of one process in turn.

    python -m benchmarks.training trainer --baseline ../before
    python -m benchmarks.training devices
    python -m benchmarks.training keras runs/bible_en_tl
    python -m benchmarks.training options
    python -m benchmarks.training encoders
    python -m benchmarks.training optimizer
    python -m benchmarks.training loop
    python -m benchmarks.training input

`trainer` and `devices` run the Trainer by `clir run`; each run has a seed of its own, so that no training comes from
the cache. The other commands train in this process on made-up lists, or with --lists on the train lists of the last
run in an output folder. A step is forward, backward and update, with its input.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import click
import numpy as np
import tensorflow as tf
import tensorflow_transform as tft
from tensorflow import keras

from benchmarks.generated import write_random
from benchmarks.harness import (
    TREE,
    Figures,
    Harness,
    Measure,
    baseline_option,
    benchmark,
    run_pipeline,
    run_process,
    trees,
)
from benchmarks.keras_training import PAIRS_PER_STEP, ObjectiveModel, compiled_pair_model, pair_batches
from models.lists.ranking_lists import RankingLists, read_lists
from models.lists.training_batches import training_batches
from models.objectives.objective import make_objective
from models.optimizers.lazy_adam import LazyAdam
from models.rankers.ranker import Ranker
from models.rankers.two_towers import TwoTowers, Words
from models.settings import ENCODERS, LossSettings, ModelSettings
from models.training.devices import configure_devices, make_strategy
from models.training.settings import TrainingSettings
from models.training.steps import TrainingSteps
from pipeline.config import load_config
from pipeline.estimate.training_step import WORDS_OF_A_STEM, made_up_lists
from schemas import features as f
from schemas.relevance import MOST_RELEVANT

STEPS_PER_CALL = 50
PAPER = (ModelSettings(), LossSettings())
BEST = (ModelSettings(embedding_dim=128, stem_embeddings=True, word_dropout=0.25), LossSettings(in_batch=True))
OPTIONS = {
    "the paper's tower": PAPER,
    "loss.in_batch": (ModelSettings(), LossSettings(in_batch=True)),
    "loss.softmax_weight": (ModelSettings(), LossSettings(softmax_weight=0.02)),
    "model.embedding_dim 128": (ModelSettings(embedding_dim=128), LossSettings()),
    "model.stem_embeddings": (ModelSettings(stem_embeddings=True), LossSettings()),
    "model.word_dropout": (ModelSettings(word_dropout=0.25), LossSettings()),
    "tower of preset best": BEST,
}


@click.group()
def main() -> None:
    """Measure training."""


# Whole Trainers


@main.command()
@click.argument("config", type=click.Path(exists=True), required=False)
@baseline_option
@benchmark(rounds=3)
def trainer(harness: Harness, config: str | None, baseline: Path | None) -> None:
    """Compare the Trainer of two trees, with the presets paper and best.

    Without CONFIG the collection is generated: 20,000 documents of 100 words, 2,000 queries.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = config or write_random(Path(folder), 20_000, 2_000, training={"epochs": 6})
        for preset in ("paper", "best"):

            def measure(tree: Path, preset: str = preset) -> Figures:
                return _train(path, Path(folder, f"{preset}-{tree == TREE}"), [f"preset={preset}"], tree)

            harness.compare(f"preset {preset}", trees(baseline, measure), warm_up=1)


@main.command()
@click.argument("config", type=click.Path(exists=True), required=False)
@click.option("--batch-lists", default=64, show_default=True, type=click.IntRange(min=2), help="Lists of a step.")
@benchmark(rounds=3)
def devices(harness: Harness, config: str | None, batch_lists: int) -> None:
    """Compare one CPU with replicas, workers, and the GPUs of this machine."""
    gpus = len(tf.config.list_physical_devices("GPU"))
    settings = {
        "one CPU": ("training.device=cpu", "training.replicas=1"),
        "2 replicas": ("training.device=cpu", "training.replicas=2"),
        "2 workers": ("training.device=cpu", "training.workers=2"),
    }
    if gpus:
        settings["one GPU"] = ("training.device=gpu", "training.replicas=1")
    if gpus > 1:
        settings[f"{gpus} GPUs"] = ("training.device=gpu", f"training.replicas={gpus}")
        settings[f"{gpus} GPUs, a worker each"] = ("training.device=gpu", f"training.workers={gpus}")
    with tempfile.TemporaryDirectory() as folder:
        path = config or write_random(Path(folder), 20_000, 2_000, training={"epochs": 6})
        common = ("preset=paper", f"training.batch_lists={batch_lists}")
        ways = {
            name: partial(_train, path, Path(folder, "out"), (*common, *some), TREE) for name, some in settings.items()
        }
        harness.compare(f"{batch_lists} lists a step", ways, warm_up=1)


_seeds = count(1)


def _train(config: str | Path, output: Path, settings: Sequence[str], tree: Path) -> Figures:
    """Runs a configuration with a new seed; the data stages come from the cache after the first run."""
    gate = ("evaluation.minimums={}", "evaluation.start_anew=true")
    run = run_pipeline(config, output, *settings, *gate, f"training.seed={next(_seeds)}", tree=tree)
    history = json.loads((output / "training" / "training.json").read_text(encoding="utf-8"))
    stage = run.stages["Trainer"]
    return {
        "pairs/s": history["pairs_per_second"],
        "Trainer s": stage["seconds"],
        "Trainer CPU s": stage["cpu_seconds"],
        "peak GiB": stage["peak_memory_bytes"] / 2**30,
    }


# Steps in this process


class Given(NamedTuple):
    """The lists that a benchmark trains on."""

    lists: RankingLists
    words: tuple[Words, Words]
    """The words of queries and of documents."""
    description: str

    def for_model(self, model: ModelSettings) -> "Given":
        """The lists with the columns that a run with this model has."""
        stems = {f.QUERY_STEMS, f.DOC_STEMS}
        columns = self.lists.query_columns, self.lists.document_columns
        if model.stem_embeddings:
            if f.QUERY_STEMS not in columns[0]:
                raise click.ClickException("the lists must have stems; run the configuration with preset=best.")
            return self
        query, document = ({name: one[name] for name in one.keys() - stems} for one in columns)
        lists = replace(self.lists, query_columns=query, document_columns=document)
        return self._replace(lists=lists)


def made_up() -> Given:
    """Lists of 45 verses, of random words with Zipf's frequencies."""
    vocabulary, number = 100_000, 512
    words = Words(vocabulary, stems=vocabulary // WORDS_OF_A_STEM + 1)
    lists = made_up_lists(number, 45, 10_000, 25, 25, vocabulary, MOST_RELEVANT, has_stems=True)
    return Given(lists, (words, words), f"{number} made-up lists of 45 texts of 25 words")


def lists_of(output: Path) -> Given:
    """The train lists of the last run in an output folder."""
    folders = [one for one in output.glob("artifacts/Transform/transformed_examples/*") if one.name.isdecimal()]
    if not folders:
        raise click.ClickException(f"no lists under {output}; run `clir run` with this output first.")
    newest = max(folders, key=lambda one: int(one.name))
    transform = tft.TFTransformOutput(str(output / "artifacts" / "Transform" / "transform_graph" / newest.name))
    files = sorted(map(str, newest.glob("Split-train/*")))
    lists = read_lists(files, transform.transformed_feature_spec())
    has_stems = f.QUERY_STEMS in lists.query_columns
    size = transform.vocabulary_size_by_name
    query, document = (
        Words(size(name), stems=size(stems) if has_stems else 0) for name, stems in f.STEMS_OF_VOCABULARY.items()
    )
    return Given(lists, (query, document), f"{output}: {len(lists):,} lists of {lists.pairs:,} pairs")


lists_option = click.option(
    "--lists",
    "output",
    type=click.Path(exists=True, path_type=Path),
    help="Output folder of a run, whose train lists are used.",
)


@dataclass(frozen=True)
class Trained:
    """A model in training."""

    steps: TrainingSteps
    lists: RankingLists
    batch_lists: int

    @staticmethod
    def of(given: Given, tower: tuple[ModelSettings, LossSettings] = PAPER, is_dense: bool = False) -> "Trained":
        """A new model; `is_dense` trains it with Keras's Adam."""
        model, loss = tower
        given, settings = given.for_model(model), TrainingSettings().for_encoder(model.encoder)
        with make_strategy(settings).scope():
            ranker = Ranker({"towers": TwoTowers(*given.words, model, seed=1)})
            objective = make_objective(ranker, loss, MOST_RELEVANT)
            ranker(given.lists.batch(tf.constant([0]))[0])  # builds it
            rate = settings.number("learning_rate")
            lazy = LazyAdam(rate, settings.number("embedding_factor"))
            optimizer = keras.optimizers.Adam(rate) if is_dense else lazy
            optimizer.build(objective.trainable_variables)
        return Trained(TrainingSteps(objective, optimizer, settings.clip_norm), given.lists, settings.batch_lists)

    def batches(self) -> Iterator[Any]:
        """Endless batches, gathered from the lists as a training does."""
        epochs = range(1, 1_000_000 // len(self.lists) + 2)
        return training_batches(self.lists, self.steps.strategy, 1, epochs, self.batch_lists)

    def dataset(self) -> tf.data.Dataset:
        """The batches of an epoch."""
        number = len(self.lists) // self.batch_lists
        rows = np.arange(number * self.batch_lists, dtype=np.int32).reshape(number, -1)
        return tf.data.Dataset.from_tensor_slices(rows).map(self.lists.batch)

    @property
    def pairs_per_step(self) -> float:
        """Mean number of query-document pairs of a step."""
        return float(self.lists.pairs / len(self.lists) * self.batch_lists)


def timed(steps: int, pairs_per_step: float, work: Callable[[], Any]) -> Figures:
    """Speed and times of some steps, of the clock and of all threads."""
    started, cpu = time.perf_counter(), time.process_time()
    work()
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    pairs = steps * pairs_per_step
    return {
        "pairs/s": pairs / seconds,
        "pairs/CPU s": pairs / cpu,
        "ms a step": 1e3 * seconds / steps,
        "CPU ms": 1e3 * cpu / steps,
    }


def stepping(trained: Trained, steps: int, batches: Iterator[Any] | None = None) -> Measure:
    """The measure of some training steps."""
    some = batches or trained.batches()
    return partial(timed, steps, trained.pairs_per_step, lambda: trained.steps.run(some, steps))


def prepare(output: Path | None) -> Given:
    """Chooses threads as a training does, and makes or reads the lists."""
    tf.get_logger().setLevel("ERROR")  # it warns of many graphs
    configure_devices(TrainingSettings(), "mean")
    return lists_of(output) if output else made_up()


@main.command()
@lists_option
@click.option("--steps", default=64, show_default=True, type=click.IntRange(min=1), help="Steps of a round.")
@benchmark(rounds=5)
def options(harness: Harness, output: Path | None, steps: int) -> None:
    """Compare each option of a stronger tower, and the tower of preset best, with the paper's tower."""
    given = prepare(output)
    ways = {name: stepping(Trained.of(given, tower), steps) for name, tower in OPTIONS.items()}
    harness.compare(given.description, ways, warm_up=1)


@main.command()
@lists_option
@click.option("--steps", default=16, show_default=True, type=click.IntRange(min=1), help="Steps of a round.")
@benchmark(rounds=5)
def encoders(harness: Harness, output: Path | None, steps: int) -> None:
    """Compare the encoders in training, and in scoring alone, with the mean."""
    given = prepare(output)
    towers = {name: Trained.of(given, (ModelSettings(encoder=name), LossSettings())) for name in ENCODERS}
    harness.compare(
        f"training, {given.description}", {name: stepping(one, steps) for name, one in towers.items()}, warm_up=1
    )
    harness.compare(
        f"scoring, {given.description}", {name: scoring(one, steps) for name, one in towers.items()}, warm_up=1
    )


def scoring(trained: Trained, steps: int) -> Measure:
    """The measure of some forward passes."""
    batches, ranker = iter(trained.dataset().repeat().prefetch(4)), trained.steps.objective.ranker

    @tf.function
    def score(batches: Any) -> tf.Tensor:
        total = 0.0
        for _ in tf.range(steps):
            total += tf.reduce_sum(ranker(next(batches)[0]))
        return total

    return partial(timed, steps, trained.pairs_per_step, lambda: score(batches))


@main.command()
@lists_option
@benchmark(rounds=5)
def optimizer(harness: Harness, output: Path | None) -> None:
    """Compare LazyAdam with Keras's dense Adam."""
    given = prepare(output)
    ways = {
        name: stepping(Trained.of(given, is_dense=is_dense), 64)
        for name, is_dense in (("keras.optimizers.Adam", True), ("LazyAdam", False))
    }
    harness.compare(given.description, ways, warm_up=1)


@main.command()
@lists_option
@benchmark(rounds=9)
def loop(harness: Harness, output: Path | None) -> None:
    """Compare our loop of steps with Keras's `fit`, both with fifty steps a call of the graph."""
    given = prepare(output)
    ours, theirs = Trained.of(given), Trained.of(given)
    model = ObjectiveModel(theirs.steps.objective, theirs.steps.clip_norm)
    model.compile(theirs.steps.optimizer, steps_per_execution=STEPS_PER_CALL)
    dataset = theirs.dataset().repeat().prefetch(4)
    ways: dict[str, Measure] = {
        "keras.Model.fit": partial(
            timed,
            STEPS_PER_CALL,
            theirs.pairs_per_step,
            lambda: model.fit(dataset, steps_per_epoch=STEPS_PER_CALL, verbose=0),
        ),
        "our loop": stepping(ours, STEPS_PER_CALL, iter(ours.dataset().repeat().prefetch(4))),
    }
    harness.compare(given.description, ways, warm_up=1)


@main.command("input")
@lists_option
@benchmark(rounds=60)
def input_share(harness: Harness, output: Path | None) -> None:
    """Compare batches that are gathered from the lists with batches that are ready in memory.

    Rounds are short and many, because a machine's speed swings by more than the difference.
    """
    given = prepare(output)
    for name, tower in (("the paper's tower", PAPER), ("the tower of preset best", BEST)):
        trained = Trained.of(given, tower)
        ready = iter(trained.dataset().cache().repeat().prefetch(4))
        ways = {"ready": stepping(trained, 32, ready), "gathered": stepping(trained, 32)}
        harness.compare(f"{name}, {given.description}", ways, warm_up=1)


# Against padded pairs


@main.command("keras")
@click.argument("output", type=click.Path(exists=True, path_type=Path))
@click.option("--seconds", default=15.0, show_default=True, help="About how long each side trains in a round.")
@benchmark(rounds=4)
def against_keras(harness: Harness, output: Path, seconds: float) -> None:
    """Compare our training with a plain Keras model on padded pairs, on the lists of a run in OUTPUT.

    The baseline trains as the code of the paper's authors does: shuffled pairs in batches of 128, padded to the longest
    text, two embedding layers, the mean over the padded length, dense Adam. Each side has a process of its own, with
    the threads of its choice.
    """

    def side(name: str) -> Figures:
        command = [sys.executable, "-m", "benchmarks.training", "side", name, str(output.resolve()), str(seconds)]
        figures: Figures = json.loads(run_process(command).output)
        return figures

    ways = {name: partial(side, name) for name in ("keras", "ours")}
    harness.compare(f"training on {output}", ways)


@main.command(hidden=True)
@click.argument("name", type=click.Choice(["keras", "ours"]))
@click.argument("output", type=click.Path(path_type=Path))
@click.argument("seconds", type=float)
def side(name: str, output: Path, seconds: float) -> None:
    """Train one side for a while, and print its figures as JSON."""
    config = load_config(str(output / "config.yaml"))
    if name == "ours":
        configure_devices(config.training, config.model.encoder)
        trained = Trained.of(lists_of(output), (config.model, config.loss))
        batches, pairs = trained.batches(), trained.pairs_per_step

        def fit(steps: int) -> None:
            for _ in range(steps // STEPS_PER_CALL):
                trained.steps.run(batches, STEPS_PER_CALL)
    else:
        given = lists_of(output)
        model, dataset = compiled_pair_model(config, given.words, STEPS_PER_CALL), pair_batches(given.lists)
        pairs = float(PAIRS_PER_STEP)

        def fit(steps: int) -> None:
            model.fit(dataset, steps_per_epoch=steps, verbose=0)

    fit(STEPS_PER_CALL)  # traces
    first = timed(STEPS_PER_CALL, pairs, lambda: fit(STEPS_PER_CALL))
    calls = max(1, round(seconds * 1e3 / first["ms a step"] / STEPS_PER_CALL))
    steps = calls * STEPS_PER_CALL
    figures = timed(steps, pairs, lambda: fit(steps))
    click.echo(json.dumps({key: value for key, value in figures.items() if "step" not in key}))


if __name__ == "__main__":
    main()
