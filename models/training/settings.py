"""Settings of a training's optimisation. Importing this file does not import TensorFlow."""

import math
from typing import Annotated, Final, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from models.evaluation.metrics import MetricName
from models.objectives.settings import ObjectiveSettings
from models.rankers.settings import ScorerSettings
from schemas.settings import Settings

MIN_EPOCHS: Final = 5
EPOCHS_OF_ONE_LIST: Final = 1000
"""Number of epochs for a single list, see `TrainingSettings.epochs_of`; divided by the root of the number of lists."""


class TrainingSettings(Settings):
    """Optimisation (paper, section 5, experimental setup)."""

    objective: ObjectiveSettings | None = None
    """The training objective; null: in_batch with `loss.in_batch` or `loss.softmax_weight`, otherwise lists."""
    epochs: Annotated[int | None, Field(ge=1, lt=2**31)] = 30
    """Passes over the train split; null: a number that falls with the number of lists."""
    batch_lists: Annotated[int, Field(ge=1, lt=2**31)] = 16
    """Query lists per step, over all replicas."""
    learning_rate: Annotated[float | None, Field(ge=1e-12, le=1e12)] = None
    """Adam's step size in the first epoch; null: the encoder's or the scorer's own (mean: 0.1; polynomial: 0.002;
    others: 0.001)."""
    learning_rate_decay: Annotated[float | None, Field(ge=1e-12, le=1)] = None
    """Factor on the learning rate after each epoch; null: the encoder's or the scorer's own (mean and polynomial: 1;
    others: 0.95), or 1 where there is a `learning_rate_end`."""
    learning_rate_end: Annotated[float | None, Field(ge=1e-12, le=1)] = None
    """Share of the first learning rate in the last epoch, after a linear decrease; null: no linear decrease. Excludes
    `learning_rate_decay`."""
    embedding_factor: Annotated[float | None, Field(ge=1e-12, le=1e12)] = None
    """Factor on the step size of word embeddings, which change only in steps whose texts have the word; null: the
    encoder's or the scorer's own (mean and polynomial: 1, because they have no other weights; others: 30)."""
    negatives_from: Literal["all", "judged"] = "all"
    """NR documents that a train list keeps: all, or only those that are relevant to any train query (judged). A
    document that is never relevant is learned as irrelevant to everything, which is wrong for new documents. Eval and
    test lists keep all."""
    sampling: Literal["natural", "equal"] = "natural"
    """Lists of an epoch: each list once (natural), or the same number of lists from all domains in turn (equal), which
    repeats lists of small domains."""
    clip_norm: Annotated[float, Field(ge=1e-12, le=1e12)] = 5.0
    """Largest global norm of the gradient, to which longer gradients are scaled down."""
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 1
    """Seeds the initial weights, dropout and the order of the lists."""
    best_metric: MetricName = "ndcg_5"
    """Metric on the eval split that chooses the epoch whose weights are exported; also names of ir_measures, such as
    nDCG@5."""
    patience: Annotated[int | None, Field(ge=1, lt=2**31)] = None
    """Stop after this many epochs without a better `best_metric`; null trains all epochs."""
    device: Literal["auto", "cpu", "gpu"] = "auto"
    """Device to train on; auto takes all GPUs, or the CPU without any."""
    replicas: Annotated[int | None, Field(ge=1, le=256)] = None
    """Number of replicas of `MirroredStrategy`, or of each worker; null: one per GPU, or one CPU."""
    workers: Annotated[int | None, Field(ge=1, le=64)] = None
    """Number of processes of `MultiWorkerMirroredStrategy` that train together on this machine, see docs/machines.md;
    null: 1, or the number in TF_CONFIG."""

    @field_validator("workers")
    @classmethod
    def _check_workers(cls, workers: int | None, info: ValidationInfo) -> int | None:
        replicas = info.data.get("replicas") or 1
        if info.data.get("device") == "cpu" and (workers or 1) > 1 < replicas:
            raise ValueError(f"must be 1 or null with {replicas} replicas on CPUs, one to a worker; got {workers}")
        return workers

    @model_validator(mode="after")
    def _check_batch_lists(self) -> "TrainingSettings":
        parts = {name: value for name in ("workers", "replicas") if (value := getattr(self, name))}
        if self.batch_lists % math.prod(parts.values()):
            names, values = (" x ".join(map(str, factors)) for factors in (parts, parts.values()))
            raise ValueError(f"batch_lists must be a multiple of {names}; got {self.batch_lists} and {values}")
        return self

    @model_validator(mode="after")
    def _check_learning_rate(self) -> "TrainingSettings":
        if self.learning_rate_end is not None and self.learning_rate_decay not in (None, 1):
            raise ValueError(
                f"learning_rate_decay must be 1 or null with a learning_rate_end; got {self.learning_rate_decay} and "
                f"{self.learning_rate_end}"
            )
        return self

    def for_towers(self, towers: ScorerSettings) -> "TrainingSettings":
        """Returns the settings with the values of the scorer, or its encoder, instead of null."""
        defaults = towers.training_defaults()
        own = {
            "learning_rate": defaults.learning_rate,
            "learning_rate_decay": 1.0 if self.learning_rate_end is not None else defaults.learning_rate_decay,
            "embedding_factor": defaults.embedding_factor,
        }
        return self.model_copy(update={key: value for key, value in own.items() if getattr(self, key) is None})

    def number(self, name: str) -> float:
        """Returns a setting that `for_towers` has filled in.

        Raises:
          ValueError: the setting is still null.
        """
        value: float | None = getattr(self, name)
        if value is None:
            raise ValueError(f"{name} must be a number; got null, which `for_towers` replaces.")
        return value

    def epochs_of(self, lists: int) -> int:
        """Returns the number of epochs of a training on a number of lists.

        For a null setting it falls with the root of the number of lists: a larger collection needs more steps, in fewer
        epochs.

        Example:
          >>> [TrainingSettings(epochs=None).epochs_of(lists) for lists in (400, 1_199, 15_000, 10**6)]
          [50, 29, 8, 5]
        """
        return self.epochs or max(MIN_EPOCHS, round(EPOCHS_OF_ONE_LIST / math.sqrt(max(lists, 1))))

    def learning_rate_in(self, epoch: int, epochs: int) -> float:
        """The learning rate in an epoch.

        Args:
          epoch: the number of the epoch, from 1.
          epochs: the number of all epochs.

        Raises:
          ValueError: the learning rate or its decay is null.

        Example:
          >>> falling = TrainingSettings(learning_rate=0.02, learning_rate_end=0.5)
          >>> [falling.learning_rate_in(epoch, epochs=3) for epoch in (1, 2, 3)]
          [0.02, 0.015, 0.01]
        """
        first = self.number("learning_rate")
        if self.learning_rate_end is None:
            return first * self.number("learning_rate_decay") ** (epoch - 1)
        return first * (1 - (1 - self.learning_rate_end) * (epoch - 1) / max(epochs - 1, 1))
