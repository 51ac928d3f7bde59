"""Baselines of training in plain Keras: the paper's pairs in padded batches, and our objective run by `Model.fit`."""

from typing import Any, Final

import numpy as np
import tensorflow as tf
from tensorflow import keras

from models.lists.ranking_lists import RankingLists
from models.losses.sosl import SmoothOrdinalSearchLoss
from models.objectives.objective import Objective
from models.rankers.scorer import Words
from pipeline.config import RunConfig
from schemas import features as f

PAIRS_PER_STEP: Final = 128


class PairModel(keras.Model):
    """The paper's two towers on padded token ids, with the mean over the padded length."""

    def __init__(self, config: RunConfig, words: tuple[Words, Words]) -> None:
        super().__init__()
        self.query_table, self.document_table = (
            keras.layers.Embedding(side.number + 1, config.model.embedding_dim) for side in words
        )
        self.epsilon = config.model.epsilon

    def call(self, tokens: dict[str, tf.Tensor]) -> tf.Tensor:
        """Returns the scores of pairs, float [batch]."""
        query = tf.tanh(tf.reduce_mean(self.query_table(tokens["query"]), axis=1))
        document = tf.tanh(tf.reduce_mean(self.document_table(tokens["document"]), axis=1))
        norms = [tf.norm(vectors, axis=-1) + self.epsilon for vectors in (query, document)]
        return tf.reduce_sum(query * document, axis=-1) / (norms[0] * norms[1])


def compiled_pair_model(config: RunConfig, words: tuple[Words, Words], steps_per_call: int) -> keras.Model:
    """A `PairModel` with dense Adam, clipping by the global norm, and SOSL of each pair."""
    loss = SmoothOrdinalSearchLoss(config.loss.theta) if config.loss.theta else SmoothOrdinalSearchLoss()
    model = PairModel(config, words)
    model.compile(
        keras.optimizers.Adam(global_clipnorm=config.training.clip_norm),
        lambda grades, scores: loss.document_loss(tf.cast(grades, tf.int32), scores),
        steps_per_execution=steps_per_call,
    )
    return model


def pair_batches(lists: RankingLists) -> tf.data.Dataset:
    """Endless batches of 128 shuffled pairs: token ids padded with 0, and grades."""
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


class ObjectiveModel(keras.Model):
    """An objective with a `train_step` that equals our step: forward, backward, clipping, optimizer.

    Args:
      objective: the training objective.
      clip_norm: the largest global norm of the gradient.
    """

    def __init__(self, objective: Objective, clip_norm: float) -> None:
        super().__init__()
        self.objective = objective
        self.clip_norm = clip_norm
        self.means = [keras.metrics.Mean(name) for name in ("loss", "gradient_norm")]

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """The means of loss and gradient norm."""
        return self.means

    def train_step(self, data: Any) -> dict[str, tf.Tensor]:
        """One step."""
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(self.objective(*data).losses)
        variables = self.objective.trainable_variables
        clipped, norm = tf.clip_by_global_norm(tape.gradient(loss, variables), self.clip_norm)
        self.optimizer.apply_gradients(zip(clipped, variables, strict=True))
        for mean, value in zip(self.means, (loss, norm), strict=True):
            mean.update_state(value)
        return {mean.name: mean.result() for mean in self.means}
