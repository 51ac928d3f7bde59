"""Measures a training step on this machine: steps of the real training, on lists of made-up words."""

import time
from typing import Final, NamedTuple

import numpy as np
import tensorflow as tf

from models.choices import SCORERS
from models.job import TrainingJob
from models.lists.mapped_rows import MappedRows, MappedVectors, RowsFile
from models.lists.ranking_lists import RankingLists
from models.lists.training_batches import training_batches
from models.objectives.make_objective import make_objective
from models.rankers.ranker import Ranker
from models.rankers.scorer import ScorerInputs, Words
from models.training.devices import make_strategy
from models.training.steps import TrainingSteps
from models.training.train import make_optimizer
from pipeline.config import RunConfig
from pipeline.estimate.collection_size import CollectionSize
from schemas import features as f

WORDS_OF_A_STEM: Final = 3
_ZIPF: Final = 1.2


def made_up_lists(
    lists: int,
    listed: int,
    documents: int,
    query_words: int,
    document_words: int,
    vocabulary: int,
    top_grade: int,
    has_words: bool = True,
    has_stems: bool = False,
    dim: int = 0,
) -> RankingLists:
    """Lists of random documents of random words, whose frequencies follow Zipf's law; stored as a Trainer stores them.

    Args:
      lists: number of lists.
      listed: number of documents of each list.
      documents: number of documents to draw from; more than all lists can hold are not made.
      query_words, document_words: number of words of a text.
      vocabulary: number of distinct words.
      top_grade: grade of each list's first document; a tenth of the others have grade 1.
      has_words: whether the columns of words are there.
      has_stems: whether those of stems are there, one stem for every three words.
      dim: length of the vectors of a pre-trained encoder; 0 for none.
    """
    generator = np.random.default_rng(0)
    documents = min(documents, lists * listed)

    def words(rows: int, length: int) -> MappedRows:
        ids = np.minimum(generator.zipf(_ZIPF, rows * length), vocabulary) - 1
        file = RowsFile()
        file.add(ids.astype(np.int32), np.full(rows, length, np.int64))
        return file.mapped()

    def stems(column: MappedRows) -> MappedRows:
        file = RowsFile()
        for ids, lengths in column.blocks():
            file.add(ids // WORDS_OF_A_STEM, lengths)
        return file.mapped()

    def vectors(rows: int) -> MappedVectors:
        return MappedVectors(generator.normal(size=(rows, dim)).astype(np.float16), np.arange(rows))

    query_tokens, doc_tokens = words(lists, query_words), words(documents, document_words)
    grades = np.zeros((lists, listed), np.int64)
    grades[:, : 1 + listed // 10] = 1
    grades[:, 0] = top_grade
    places = generator.integers(0, documents, (lists, listed), np.int32)
    return RankingLists(
        query_columns={
            f.QUERY_ID: tf.as_string(tf.range(lists)),
            **({f.QUERY_TOKENS: query_tokens.tensor()} if has_words else {}),
            **({f.QUERY_STEMS: stems(query_tokens).tensor()} if has_stems else {}),
            **({f.QUERY_VECTOR: vectors(lists)} if dim else {}),
        },
        document_columns={
            f.DOC_ID: tf.as_string(tf.range(documents)),
            **({f.DOC_TOKENS: doc_tokens} if has_words else {}),
            **({f.DOC_STEMS: stems(doc_tokens)} if has_stems else {}),
            **({f.DOC_VECTOR: vectors(documents)} if dim else {}),
        },
        documents=tf.RaggedTensor.from_uniform_row_length(tf.constant(places.reshape(-1)), listed),
        list_columns={f.RELEVANCE: tf.RaggedTensor.from_uniform_row_length(tf.constant(grades.reshape(-1)), listed)},
    )


_SECONDS: Final = 2.0
_STEPS_OF_A_CALL: Final = 8
_BATCHES: Final = 16
_EPOCHS: Final = range(1, 1_000)


class TrainingStep(NamedTuple):
    """The measured training step."""

    steps: int
    """The number of steps of a whole training."""
    seconds: float
    """The duration of one step."""
    first_seconds: float
    """The duration of the first step, with the making of its graph."""
    epochs: int
    """The number of epochs of a whole training."""
    weights: int
    """The number of trained weights."""

    @property
    def training_seconds(self) -> float:
        """The duration of all steps of a training, without evaluation."""
        return self.first_seconds + self.steps * self.seconds


def measure_training_step(config: RunConfig, size: CollectionSize, dim: int = 0) -> TrainingStep:
    """Trains the model of a configuration for some seconds on lists of the collection's size, and discards it.

    Args:
      config: of a training in one process.
      size: of its collection.
      dim: length of the vectors of a pre-trained encoder, needed for a head.
    """
    settings = config.training
    started = time.perf_counter()
    strategy = make_strategy(settings)
    train, replicas = size.lists["train"], strategy.num_replicas_in_sync
    batch = min(settings.batch_lists, train // replicas * replicas) or replicas
    epochs = settings.epochs_of(train)
    stems = size.vocabulary // WORDS_OF_A_STEM + 1
    words = Words(size.vocabulary, stems=stems) if config.model.has_words else Words(stems)
    lists = made_up_lists(
        lists=batch * min(_BATCHES, max(train // batch, 1)),
        listed=max(round(size.trained_pairs / train), 1),
        documents=size.documents,
        query_words=round(size.query_words),
        document_words=round(size.document_words),
        vocabulary=size.vocabulary,
        top_grade=config.data.top_grade,
        has_words=config.model.has_words,
        has_stems=config.model.has_stems,
        dim=0 if SCORERS[config.model.scorer].reads_words else dim,
    )
    with strategy.scope():
        job = TrainingJob(
            languages=config.data.languages,
            rules=config.data.word_rules,
            top_grade=config.data.top_grade,
            model=config.model,
            loss=config.loss,
            training=settings,
        )
        inputs = ScorerInputs(
            name=config.model.channel,
            query_words=words,
            document_words=words,
            model=config.model,
            seed=settings.seed,
            train_texts=lambda: lists,
            lexicon=None,
            eval_texts=lambda: lists,
            languages=job.languages,
            rules=job.rules,
            top_grade=job.top_grade,
        )
        scorer = SCORERS[config.model.scorer].load().make(inputs, **config.model.scorer_settings)
        objective = make_objective(Ranker({config.model.channel: scorer}), job)
        objective.build(lists.batch(tf.constant([0]))[0])
        steps = TrainingSteps(objective, make_optimizer(settings), settings.clip_norm)
        steps.build()
    batches = training_batches(lists, strategy, settings.seed, _EPOCHS, batch)
    of_a_call = _STEPS_OF_A_CALL if replicas == 1 else 1
    steps.run(batches, 1)
    first_seconds = time.perf_counter() - started
    started, taken = time.perf_counter(), 0
    while time.perf_counter() - started < _SECONDS and taken < len(_EPOCHS) - of_a_call:
        steps.run(batches, of_a_call)
        taken += of_a_call
    seconds = (time.perf_counter() - started) / taken
    return TrainingStep(
        steps=epochs * (train // batch),
        seconds=seconds,
        first_seconds=first_seconds,
        epochs=epochs,
        weights=sum(variable.shape.num_elements() for variable in objective.trainable_variables),
    )
