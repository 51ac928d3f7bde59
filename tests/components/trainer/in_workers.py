"""A training on lists that can be learned in seconds, as a function that workers call."""

import os
import resource
import signal
import time
from pathlib import Path
from typing import Any
from unittest import mock

import tensorflow as tf
from tensorflow import keras

from models.layers.settings import MeanSettings
from models.losses.sosl import SmoothOrdinalSearchLoss
from models.objectives.objective import RankingObjective
from models.rankers.ranker import Ranker
from models.rankers.scorer import Words
from models.rankers.settings import TwoTowersSettings
from models.rankers.two_towers import TwoTowers
from models.training import checkpoint as training_checkpoint
from models.training.list_evaluator import EvalFigures, ListEvaluator
from models.training.settings import TrainingSettings
from models.training.train import train
from models.training.workers import Chief
from schemas.errors import DataError
from schemas.relevance import MOST_RELEVANT
from tests.models.synthetic import VOCABULARY_SIZE, learnable_lists


def train_small(arguments: dict[str, Any], strategy: tf.distribute.Strategy) -> dict[str, Any]:
    """Trains for some epochs, each of which is saved.

    Args:
      arguments: `folder`, where each worker has a log, and all one checkpoint; `training`, the settings; `encoder`,
        those that are not the defaults. What is to happen when an epoch, of those that are trained now, is evaluated:
        `killed`, [epoch, whether the chief is]; `refused`, [epoch, whether the chief does]; `waits`, [epoch], each
        worker when it has written its process id. `max_bytes`, the size beyond which no file can be written.
      strategy: over all workers.

    Returns:
      the history.
    """
    chief, folder = Chief(strategy), Path(arguments["folder"])
    own = folder / ("chief" if chief.is_here else "other")
    if max_bytes := arguments.get("max_bytes"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (max_bytes, max_bytes))
    settings = TrainingSettings(**arguments["training"]).for_towers(TwoTowersSettings())
    with strategy.scope():
        encoder = MeanSettings(**arguments.get("encoder", {}))
        words, towers = Words(VOCABULARY_SIZE), TwoTowersSettings(embedding_dim=8, encoder=encoder)
        ranker = Ranker({"score": TwoTowers(words, words, towers, seed=settings.seed)})
        loss = SmoothOrdinalSearchLoss(learn_theta=True, reduction=keras.losses.Reduction.NONE)
        objective = RankingObjective(ranker, loss)

    class Evaluator(ListEvaluator):
        evaluations = 0

        def evaluate(self) -> EvalFigures:
            self.evaluations += 1
            now = [self.evaluations, chief.is_here]
            if now == arguments.get("killed"):
                os.kill(os.getpid(), signal.SIGKILL)
            if now == arguments.get("refused"):
                raise DataError("the scores must be finite; got NaN.")
            if now[:1] == arguments.get("waits"):
                own.with_suffix(".pid").write_text(str(os.getpid()))
                time.sleep(600)
            return super().evaluate()

    evaluator = Evaluator(ranker, learnable_lists(20, seed=2), MOST_RELEVANT)
    folders = [str(own / "log"), str(folder / "checkpoint")]
    # Put back, for this may be the process of the tests themselves.
    with mock.patch.object(training_checkpoint, "_LARGEST_SHARE", 1e9):
        history = train(objective, learnable_lists(30, seed=1), evaluator, settings, *folders)
    content: dict[str, Any] = history.model_dump(mode="json")
    return content
