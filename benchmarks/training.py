"""Training: whole Trainers of two trees or on several devices, and steps in this process.

    python -m benchmarks.training trainer --baseline ../before
    python -m benchmarks.training devices
    python -m benchmarks.training options
    python -m benchmarks.training encoders
    python -m benchmarks.training rankers
    python -m benchmarks.training optimizer
    python -m benchmarks.training input

`trainer` and `devices` run the Trainer by `clir run`, each time with another seed, so that no training comes from the
cache. The other commands train in this process on made-up lists, or with --lists on the train lists of the last run in
an output folder. A step includes its input, the forward and backward passes, and the update.
"""

import json
import os
import tempfile
from collections.abc import Sequence
from functools import partial
from itertools import count
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import click
import tensorflow as tf

from benchmarks.generated import write_random
from benchmarks.harness import (
    TREE,
    Figures,
    Harness,
    baseline_option,
    benchmark,
    run_pipeline,
    trees,
)
from benchmarks.trained_models import PAPER, Trained, TrainLists, made_up_lists, run_lists, scoring, stepping
from models.layers.settings import MeanSettings, PolynomialSettings, TextEncoderSettings
from models.losses.settings import LossSettings, PairwiseHingeSettings, SoslSettings
from models.rankers.settings import ScorerSettings, TwoTowersSettings
from models.training.devices import configure_devices
from models.training.settings import TrainingSettings

_SOSL = SoslSettings()
BEST: tuple[ScorerSettings, LossSettings] = (
    TwoTowersSettings(embedding_dim=128, encoder=MeanSettings(stem_embeddings=True, word_dropout=0.25)),
    SoslSettings(in_batch=True),
)
OPTIONS: dict[str, tuple[ScorerSettings, LossSettings]] = {
    "the paper's towers": PAPER,
    "loss.in_batch": (TwoTowersSettings(), SoslSettings(in_batch=True)),
    "loss.softmax_weight": (TwoTowersSettings(), SoslSettings(softmax_weight=0.02)),
    "embedding_dim 128": (TwoTowersSettings(embedding_dim=128), _SOSL),
    "stem_embeddings": (TwoTowersSettings(encoder=MeanSettings(stem_embeddings=True)), _SOSL),
    "word_dropout": (TwoTowersSettings(encoder=MeanSettings(word_dropout=0.25)), _SOSL),
    "pooling idf": (TwoTowersSettings(encoder=MeanSettings(pooling="idf")), _SOSL),
    "encoder polynomial": (TwoTowersSettings(encoder=PolynomialSettings()), _SOSL),
    "f2 of Bai et al. 2009": (
        TwoTowersSettings(encoder=PolynomialSettings(), similarity="dot"),
        PairwiseHingeSettings(),
    ),
    "towers of preset best": BEST,
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
            name: partial(_train, path, Path(folder, "out"), (*common, *own), TREE) for name, own in settings.items()
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


lists_option = click.option(
    "--lists",
    "output",
    type=click.Path(exists=True, path_type=Path),
    help="Output folder of a run, whose train lists are used.",
)


def prepare(output: Path | None) -> TrainLists:
    """Chooses threads as a training does, and makes or reads the lists."""
    tf.get_logger().setLevel("ERROR")  # it warns of many graphs
    configure_devices(TrainingSettings(), TwoTowersSettings())
    return run_lists(output) if output else made_up_lists()


@main.command()
@lists_option
@click.option("--steps", default=64, show_default=True, type=click.IntRange(min=1), help="Steps of a round.")
@benchmark(rounds=5)
def options(harness: Harness, output: Path | None, steps: int) -> None:
    """Compare each option of a stronger tower, and the tower of preset best, with the paper's tower."""
    lists = prepare(output)
    ways = {name: stepping(Trained.of(lists, tower), steps) for name, tower in OPTIONS.items()}
    harness.compare(lists.description, ways, warm_up=1)


@main.command()
@lists_option
@click.option("--steps", default=16, show_default=True, type=click.IntRange(min=1), help="Steps of a round.")
@benchmark(rounds=5)
def encoders(harness: Harness, output: Path | None, steps: int) -> None:
    """Compare the encoders with the mean, in training and in scoring."""
    lists = prepare(output)
    kinds = TextEncoderSettings.kinds
    towers = {name: Trained.of(lists, (TwoTowersSettings.with_encoder(name), _SOSL)) for name in kinds}
    for title, measure in (("training", stepping), ("scoring", scoring)):
        ways = {name: measure(trained, steps) for name, trained in towers.items()}
        harness.compare(f"{title}, {lists.description}", ways, warm_up=1)


@main.command()
@lists_option
@click.option("--steps", default=8, show_default=True, type=click.IntRange(min=1), help="Steps of a round.")
@benchmark(rounds=5)
def rankers(harness: Harness, output: Path | None, steps: int) -> None:
    """Compare the rankers of Cohen et al. 2018, on whole lists and on drawn documents, with the encoder mean.

    The pairs are those of the whole lists, also where only a few of each list are drawn.
    """
    lists = prepare(output)
    ways = {"two_towers, mean": stepping(Trained.of(lists), steps)}
    for scorer, loss in (("cossim", "worst_hinge"), ("duet_distributed", "log_likelihood")):
        for name in ("lists", "drawn"):
            tower = ScorerSettings.model_validate(scorer), LossSettings.model_validate(loss)
            ways[f"{scorer}, {name}"] = stepping(Trained.of(lists, tower, objective_name=name), steps)
    harness.compare(f"training, {lists.description}", ways, warm_up=1)


@main.command()
@lists_option
@benchmark(rounds=5)
def optimizer(harness: Harness, output: Path | None) -> None:
    """Compare LazyAdam with Keras's dense Adam."""
    lists = prepare(output)
    ways = {
        name: stepping(Trained.of(lists, is_dense=is_dense), 64)
        for name, is_dense in (("keras.optimizers.Adam", True), ("LazyAdam", False))
    }
    harness.compare(lists.description, ways, warm_up=1)


@main.command("input")
@lists_option
@benchmark(rounds=60)
def input_share(harness: Harness, output: Path | None) -> None:
    """Compare batches that are gathered from the lists with batches that are ready in memory.

    Rounds are short and many, because a machine's speed swings by more than the difference.
    """
    lists = prepare(output)
    for name, tower in (("the paper's tower", PAPER), ("the tower of preset best", BEST)):
        trained = Trained.of(lists, tower)
        ready = iter(trained.dataset().cache().repeat().prefetch(4))
        ways = {"ready": stepping(trained, 32, ready), "gathered": stepping(trained, 32)}
        harness.compare(f"{name}, {lists.description}", ways, warm_up=1)


if __name__ == "__main__":
    main()
