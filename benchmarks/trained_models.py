"""Models that are trained on made-up lists or on those of a run, and the measures of their steps."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import numpy.typing as npt
import tensorflow as tf
import tensorflow_transform as tft
from tensorflow import keras

from benchmarks.harness import Figures, Measure
from models.job import TrainingJob
from models.lists.mapped_rows import MappedRows, RowsFile
from models.lists.ranking_lists import RankingLists, read_lists
from models.lists.training_batches import training_batches
from models.losses.settings import LossSettings, SoslSettings
from models.objectives.make_objective import make_objective
from models.rankers.ranker import Ranker
from models.rankers.scorer import Scorer, ScorerInputs, Words
from models.rankers.settings import ScorerSettings, TwoTowersSettings
from models.training.devices import make_strategy
from models.training.settings import TrainingSettings
from models.training.steps import TrainingSteps
from models.training.train import make_optimizer
from schemas import features as f
from schemas.relevance import MOST_RELEVANT, SOMEWHAT_RELEVANT
from schemas.word_rules import WordRules

PAPER = (TwoTowersSettings(), SoslSettings())
LISTS, LIST_SIZE, DOCUMENTS, TEXT_WORDS = 512, 45, 10_000, 25
VOCABULARY, STEM_WORDS = 100_000, 3


class TrainLists(NamedTuple):
    """The lists that a benchmark trains on."""

    lists: RankingLists
    words: tuple[Words, Words]
    """The words of queries and of documents."""
    description: str

    def for_towers(self, towers: ScorerSettings) -> "TrainLists":
        """The lists with the columns that a run with these towers has."""
        columns = self.lists.query_columns, self.lists.document_columns
        if towers.reads.stems and f.QUERY_STEMS not in columns[0]:
            raise click.ClickException("the lists must have stems; run the configuration with preset=best.")
        unused: set[str] = set()
        if not towers.reads.words:
            unused |= {f.QUERY_TOKENS, f.DOC_TOKENS}
        if not towers.reads.stems:
            unused |= {f.QUERY_STEMS, f.DOC_STEMS}
        query, document = ({name: side[name] for name in side.keys() - unused} for side in columns)
        lists = replace(self.lists, query_columns=query, document_columns=document)
        if towers.reads.words:
            return self._replace(lists=lists)
        query_words, document_words = self.words
        return self._replace(lists=lists, words=(Words(query_words.stems), Words(document_words.stems)))


def made_up_lists() -> TrainLists:
    """512 lists of 45 of 10,000 texts of 25 words each; the frequencies of the words follow Zipf's law."""
    generator = np.random.default_rng(0)

    def words(texts: int) -> tuple[MappedRows, MappedRows]:
        ids = np.minimum(generator.zipf(1.2, texts * TEXT_WORDS), VOCABULARY) - 1
        files = RowsFile(), RowsFile()
        for file, divisor in zip(files, (1, STEM_WORDS), strict=True):
            file.add(ids.astype(np.int32) // divisor, np.full(texts, TEXT_WORDS, np.int64))
        return files[0].mapped(), files[1].mapped()

    def ragged(values: npt.NDArray[Any]) -> tf.RaggedTensor:
        return tf.RaggedTensor.from_uniform_row_length(tf.constant(values.reshape(-1)), LIST_SIZE)

    (query_tokens, query_stems), (doc_tokens, doc_stems) = words(LISTS), words(DOCUMENTS)
    grades = np.zeros((LISTS, LIST_SIZE), np.int64)
    grades[:, : 1 + LIST_SIZE // 10] = SOMEWHAT_RELEVANT
    grades[:, 0] = MOST_RELEVANT
    lists = RankingLists(
        query_columns={
            f.QUERY_ID: tf.as_string(tf.range(LISTS)),
            f.QUERY_TOKENS: query_tokens.tensor(),
            f.QUERY_STEMS: query_stems.tensor(),
        },
        document_columns={
            f.DOC_ID: tf.as_string(tf.range(DOCUMENTS)),
            f.DOC_TOKENS: doc_tokens,
            f.DOC_STEMS: doc_stems,
        },
        documents=ragged(generator.integers(0, DOCUMENTS, (LISTS, LIST_SIZE), np.int32)),
        list_columns={f.RELEVANCE: ragged(grades)},
    )
    language = Words(VOCABULARY, stems=VOCABULARY // STEM_WORDS + 1)
    description = f"{LISTS} made-up lists of {LIST_SIZE} texts of {TEXT_WORDS} words"
    return TrainLists(lists, (language, language), description)


def run_lists(output: Path) -> TrainLists:
    """The train lists of the last run in an output folder."""
    folders = [path for path in output.glob("artifacts/Transform/transformed_examples/*") if path.name.isdecimal()]
    if not folders:
        raise click.ClickException(f"no lists under {output}; run `clir run` with this output first.")
    newest = max(folders, key=lambda folder: int(folder.name))
    transform = tft.TFTransformOutput(str(output / "artifacts" / "Transform" / "transform_graph" / newest.name))
    files = sorted(map(str, newest.glob("Split-train/*")))
    lists = read_lists(files, transform.transformed_feature_spec())
    has_stems = f.QUERY_STEMS in lists.query_columns
    size = transform.vocabulary_size_by_name
    query, document = (
        Words(size(name), stems=size(stems) if has_stems else 0) for name, stems in f.STEMS_OF_VOCABULARY.items()
    )
    return TrainLists(lists, (query, document), f"{output}: {len(lists):,} lists of {lists.pairs:,} pairs")


@dataclass(frozen=True)
class Trained:
    """A model in training."""

    steps: TrainingSteps
    lists: RankingLists
    batch_lists: int
    optimizer: keras.optimizers.Optimizer

    @staticmethod
    def of(
        lists: TrainLists,
        towers_and_loss: tuple[ScorerSettings, LossSettings] = PAPER,
        is_dense: bool = False,
        objective_name: str | None = None,
    ) -> "Trained":
        """A new model; `is_dense` trains it with Keras's Adam, and by default the loss decides its objective."""
        towers, loss = towers_and_loss
        settings = TrainingSettings.model_validate({"objective": objective_name}).for_towers(towers)
        lists = lists.for_towers(towers)
        job = TrainingJob(
            languages=("en", "fr"),
            rules=WordRules(),
            top_grade=MOST_RELEVANT,
            towers=towers,
            loss=loss,
            training=settings,
        )
        with make_strategy(settings).scope():
            ranker = Ranker({towers.channel: _scorer(lists, job)})
            objective = make_objective(ranker, job)
            objective.build(lists.lists.batch(tf.constant([0]))[0])
            dense = keras.optimizers.Adam(settings.number("learning_rate"))
            optimizer = dense if is_dense else make_optimizer(settings)
            steps = TrainingSteps(objective, optimizer, settings.clip_norm)
            steps.build()
        return Trained(steps, lists.lists, settings.batch_lists, optimizer)

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


def _scorer(lists: TrainLists, job: TrainingJob) -> Scorer:
    """The scorer that a job names."""
    towers = job.towers
    scorer: Scorer = towers.load().make(
        ScorerInputs(towers.channel, towers, job, *lists.words, lambda: lists.lists, lambda: lists.lists)
    )
    return scorer


def timed(steps: int, pairs_per_step: float, work: Callable[[], Any]) -> Figures:
    """The speed of steps, and their time by the clock and of all threads."""
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
    """The measure of training steps."""
    batches = batches or trained.batches()
    return partial(timed, steps, trained.pairs_per_step, lambda: trained.steps.run(batches, steps))


def scoring(trained: Trained, steps: int) -> Measure:
    """The measure of forward passes."""
    batches, ranker = iter(trained.dataset().repeat().prefetch(4)), trained.steps.objective.ranker

    @tf.function
    def score(batches: Any) -> tf.Tensor:
        total = 0.0
        for _ in tf.range(steps):
            total += tf.reduce_sum(ranker(next(batches)[0]))
        return total

    return partial(timed, steps, trained.pairs_per_step, lambda: score(batches))
