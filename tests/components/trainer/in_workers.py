"""A training on lists that can be learned in seconds, as the function of a job that workers do."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import tensorflow as tf
from tensorflow import keras

from models import training_checkpoint
from models.chief import Chief
from models.list_evaluator import EvalFigures, ListEvaluator
from models.losses.sosl import SmoothOrdinalSearchLoss
from models.objective import RankingObjective
from models.ranker import Ranker
from models.settings import ModelSettings, TrainingSettings
from models.training import train
from models.two_towers import TwoTowers, Words
from schemas.errors import DataError
from schemas.relevance import MOST_RELEVANT
from schemas.training_history import TrainingHistory
from tests.models.synthetic import VOCABULARY_SIZE, learnable_lists


def train_small(arguments: dict[str, Any], strategy: tf.distribute.Strategy) -> dict[str, Any]:
    """Trains for some epochs.

    Args:
      arguments: `folder`, where logs and checkpoints go; `training`, the settings; `model`, if not the default's; and
        what is to happen: `die`, [epoch, whether the chief dies in it], `fail`, the epoch that cannot be evaluated.
      strategy: over all workers.

    Returns:
      the history, a sum over the weights, and the ids of the queries that this worker's replicas were given.
    """
    chief, folder = Chief(strategy), Path(arguments["folder"])
    training_checkpoint._LARGEST_SHARE = 1e9  # every epoch is saved
    settings = TrainingSettings(**arguments["training"]).for_encoder("mean")
    lists = learnable_lists(30, seed=1)
    with strategy.scope():
        words = Words(VOCABULARY_SIZE)
        ranker = Ranker({"score": TwoTowers(words, words, ModelSettings(**arguments["model"]), seed=1)})
        loss = SmoothOrdinalSearchLoss(learn_theta=True, reduction=keras.losses.Reduction.NONE)
        objective = RankingObjective(ranker, loss)

    class Evaluator(ListEvaluator):
        evaluations = 0

        def evaluate(self) -> EvalFigures:
            self.evaluations += 1
            if [self.evaluations, chief.is_here] == arguments.get("die"):
                os.kill(os.getpid(), signal.SIGKILL)
            if self.evaluations == arguments.get("fail") and chief.is_here:
                raise DataError("the scores must be finite.")
            if self.evaluations == arguments.get("wait"):
                (folder / f"waits{chief.is_here}").write_text(str(os.getpid()))
                time.sleep(600)
            return super().evaluate()

    evaluator = Evaluator(ranker, learnable_lists(20, seed=2), MOST_RELEVANT)
    place = "chief" if chief.is_here else "other"
    folders = [str(folder / f"log_{place}"), str(folder / "checkpoint")]
    history = train(objective, lists, evaluator, settings, *folders)
    return history.model_dump(mode="json")


def history_of(result: Any) -> TrainingHistory:
    """What `train_small` returned."""
    return TrainingHistory.model_validate(result)
