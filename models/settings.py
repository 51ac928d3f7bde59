"""Settings of the model, its loss and its training. Importing this file does not import TensorFlow."""

import math
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from models.choices import (
    CHANNELS,
    ENCODERS,
    OBJECTIVES,
    OPTIMIZERS,
    SCORERS,
    ChannelWeightSetting,
    check_choice,
    own_settings,
)
from models.evaluation.metrics import METRICS
from models.losses.declarations import LOSSES, theta_fault
from schemas.settings import InputFile, OneOf, Settings

# Counts are below 2**31, because TensorFlow's indices are int32. Positive numbers lie within 1e-12 .. 1e12, so that
# float32 holds the product of any three, and its inverse.

SMALLEST_EPSILON: Final = 1e-6
"""The smallest epsilon above 0 that changes a norm of 1 in float32, whose numbers lie 1.2e-7 apart there."""

LARGEST_EPSILON: Final = 1e6
"""The largest epsilon that a norm of 1 changes in float32, whose numbers lie 0.06 apart there."""


def epsilon_fault(epsilon: float) -> str | None:
    """Returns an error message where float32 loses epsilon in (|q| + epsilon) * (|d| + epsilon), or None.

    Example:
      >>> epsilon_fault(1e-300)
      'must be 0, or lie in 1e-06 .. 1e+06, so that float32 can add it to norms of 1; got 1e-300'
    """
    if epsilon == 0 or SMALLEST_EPSILON <= epsilon <= LARGEST_EPSILON:
        return None
    return (
        f"must be 0, or lie in {SMALLEST_EPSILON:g} .. {LARGEST_EPSILON:g}, so that float32 can add it to norms "
        f"of 1; got {epsilon}"
    )


class ModelSettings(Settings):
    """The scorer that is trained: the paper's two towers (sections 3.1 to 3.3 and 5), or another."""

    scorer: str = "two_towers"
    """Scorer of a query and its documents: two_towers, the similarity of two encodings (the paper's)."""
    scorer_settings: dict[str, Any] = {}
    """Settings that the scorer alone has, by name; two_towers has none but those below."""
    encoder: str = "mean"
    """Encoder of a text's words into one vector: mean (the paper's average pooling), cnn or lstm (its baselines
    DSSM-CNN and DSSM-LSTM)."""
    encoder_settings: dict[str, Any] = {}
    """Settings that the encoder alone has, by name: `filters` of cnn (default 300), `units` of each direction of lstm
    (default 64)."""
    vocabulary_size: Annotated[int, Field(ge=1, lt=2**31)] = 100_000
    """Number of most frequent words kept per language; with `embeddings` also the number of their words."""
    embedding_dim: Annotated[int, Field(ge=1, le=65_536)] = 64
    """Length of a word's, a query's and a document's vector."""
    similarity: Literal["smooth_cosine", "cosine", "dot"] = "smooth_cosine"
    """Similarity of a query's and a document's vector: the paper's smooth cosine (eq. 1), the plain cosine, or the
    inner product."""
    epsilon: Annotated[float, Field(ge=0, le=LARGEST_EPSILON)] = 1.0
    """Smoothness of smooth_cosine (eq. 1), in the unit of the vectors' norms; 0 is the plain cosine. The smallest other
    value is 1e-6, because float32 loses less beside norms of 1. Unused with cosine and dot."""
    initial_scale: Annotated[float, Field(ge=1e-12, le=1e12)] = 0.1
    """Standard deviation of the initial word embeddings."""
    dropout: Annotated[float | None, Field(ge=0, le=0.999)] = None
    """Share of the components of the word embeddings that a training step leaves out; null: the encoder's own (mean: 0;
    cnn and lstm: 0.4)."""
    word_dropout: Annotated[float, Field(ge=0, le=0.999)] = 0.0
    """Share of a text's words that a training step leaves out; for the encoder mean alone."""
    stem_embeddings: bool = False
    """Add an embedding of each word's stem (its first letters, see `models.texts.stems`) to the word's; for the encoder
    mean alone."""

    @field_validator("scorer")
    @classmethod
    def _scorer_is_known(cls, scorer: str) -> str:
        return check_choice(SCORERS, scorer)

    @field_validator("scorer_settings")
    @classmethod
    def _scorer_has_them(cls, given: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        return own_settings(SCORERS, info.data.get("scorer", ""), given)

    @field_validator("encoder")
    @classmethod
    def _encoder_is_known(cls, encoder: str) -> str:
        return check_choice(ENCODERS, encoder)

    @field_validator("encoder_settings")
    @classmethod
    def _encoder_has_them(cls, given: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        return own_settings(ENCODERS, info.data.get("encoder", ""), given)

    @field_validator("epsilon")
    @classmethod
    def _epsilon_counts(cls, epsilon: float) -> float:
        if fault := epsilon_fault(epsilon):
            raise ValueError(fault)
        return epsilon

    @field_validator("dropout")
    @classmethod
    def _null_is_the_encoders_own(cls, dropout: float | None, info: ValidationInfo) -> float | None:
        declaration = ENCODERS.get(info.data.get("encoder", ""))
        return declaration.default_dropout if declaration and dropout is None else dropout

    @field_validator("word_dropout", "stem_embeddings")
    @classmethod
    def _the_encoder_is_a_mean(cls, given: float | bool, info: ValidationInfo) -> float | bool:
        encoder = info.data.get("encoder", "mean")
        if given and encoder != "mean":
            nothing, came = ("false", "true") if given is True else ("0", given)
            raise ValueError(f"must be {nothing} for {encoder}: it is for the encoder mean alone; got {came}")
        return given

    @property
    def channel(self) -> str:
        """The name of the trained scorer among the channels of the score: two towers are named for their similarity."""
        return self.similarity if self.scorer == "two_towers" else self.scorer


class ChannelSettings(Settings):
    """A further channel of the score."""

    kind: str
    """Kind of the channel."""
    weight: ChannelWeightSetting = 0.5
    """Weight of the channel; fitted: the best on the eval split, of the values that `lexicon.weight` lists."""
    settings: dict[str, Any] = {}
    """Settings that this kind alone has, by name."""

    @field_validator("kind")
    @classmethod
    def _kind_is_known(cls, kind: str) -> str:
        return check_choice(CHANNELS, kind)

    @field_validator("settings")
    @classmethod
    def _kind_has_them(cls, given: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        return own_settings(CHANNELS, info.data.get("kind", ""), given)


class EmbeddingDigests(Settings):
    """SHA-256 of the tables, in hexadecimal; a resolved configuration holds them, and a rerun checks them."""

    query: str | None = None
    """Digest of `embeddings.query`."""
    document: str | None = None
    """Digest of `embeddings.document`."""


class EmbeddingSettings(Settings):
    """Pre-trained word vectors (paper, section 5: Polyglot's, of length 64); see docs/formats.md."""

    query: Annotated[str | None, Field(min_length=1), InputFile("vectors")] = None
    """Path of the query language's word vectors; null starts all words at random."""
    document: Annotated[str | None, Field(min_length=1), InputFile("vectors")] = None
    """Path of the document language's word vectors; null starts all words at random."""
    train: bool = True
    """Train the pre-trained vectors further; false leaves them as they are, and other words out."""
    sha256: EmbeddingDigests = EmbeddingDigests()
    """Digests that the tables must have; filled in by every run in its resolved configuration."""


class WordTableSource(Settings):
    """The origin of one language's word vectors, and how much of them is used."""

    path: str
    """Path of the file."""
    sha256: str
    """Digest that the file must have, in hexadecimal."""
    width: int
    """Numbers of a vector."""
    most_words: int
    """Number of words to take; reading stops there."""
    max_bad_share: float
    """Share of bad entries beyond which the file is refused."""
    train: bool
    """Whether the vectors are trained further."""


class LossSettings(Settings):
    """The training loss (paper, sections 3.4 and 5)."""

    name: str = "sosl"
    """One of sosl (the paper's), mse, proportional_odds, three_part_l2 (its baselines), softmax, approx_ndcg and
    pairwise_hinge (TF-Ranking's)."""
    theta: tuple[float, ...] | None = None
    """Thresholds, increasing within (-1, 1): for sosl, mse and proportional_odds as many as `data.top_grade`, for
    three_part_l2 three, for the others none; null: the loss's own (0.2, 0.7; three_part_l2: 0.2, 0.55, 0.9)."""
    learn_theta: bool = False
    """Learn the thresholds along with the model, starting from `theta`; for sosl and proportional_odds."""
    in_batch: bool = False
    """Count the documents of a step's other lists as NR documents of every list, with the same weight as its own
    documents together; for the losses with thresholds."""
    softmax_weight: Annotated[float, Field(ge=0, le=1e12)] = 0.0
    """Weight of a second term, the cross entropy of a softmax over the scores of all documents of a step. It memorises
    which documents are relevant to any query; for collections whose documents are all known when training."""
    softmax_temperature: Annotated[float, Field(ge=1e-12, le=1e12)] = 0.1
    """Divisor of the scores in that softmax."""
    softmax_top_weight: Annotated[float, Field(ge=1e-12, le=1e12)] = 4.0
    """Weight of an MR document in the target of that softmax; a document of a lower grade above 0 weighs 1."""

    @field_validator("name")
    @classmethod
    def _name_is_known(cls, name: str) -> str:
        return check_choice(LOSSES, name)

    @field_validator("theta")
    @classmethod
    def _theta_fits_the_loss(cls, theta: tuple[float, ...] | None, info: ValidationInfo) -> tuple[float, ...] | None:
        name = info.data.get("name", "")
        declaration = LOSSES.get(name)
        if declaration is None:
            return theta
        if theta is None:
            return declaration.default_theta
        if declaration.default_theta is None:
            raise ValueError(f"must be null for {name}, which has no thresholds; got {list(theta)}")
        if declaration.theta_length not in (None, len(theta)) or not theta:
            expected = declaration.theta_length or "one or more"
            raise ValueError(f"must hold {expected} thresholds for {name}; got {len(theta)}")
        if fault := theta_fault(theta):
            raise ValueError(fault)
        return theta

    @field_validator("learn_theta")
    @classmethod
    def _the_loss_can_learn_its_thresholds(cls, learn_theta: bool, info: ValidationInfo) -> bool:
        name = info.data.get("name", "")
        if learn_theta and name in LOSSES and (reason := LOSSES[name].fixed_theta):
            raise ValueError(f"must be false for {name}, {reason}; got true")
        return learn_theta

    @field_validator("in_batch")
    @classmethod
    def _other_documents_have_a_loss_alone(cls, in_batch: bool, info: ValidationInfo) -> bool:
        name = info.data.get("name", "")
        if in_batch and name in LOSSES and LOSSES[name].default_theta is None:
            raise ValueError(f"must be false for {name}, which is a loss of whole lists; got true")
        return in_batch

    @property
    def is_over_batch(self) -> bool:
        """Whether a list's loss has terms over the documents of the step's other lists."""
        return self.in_batch or self.softmax_weight > 0

    def fault_for(self, top_grade: int) -> str | None:
        """Returns an error message where the loss cannot be trained on grades 0 .. top_grade, or None."""
        declaration = LOSSES[self.name]
        if declaration.top_grade not in (None, top_grade):
            return f"{self.name} is defined for data.top_grade {declaration.top_grade} alone; got {top_grade}"
        if self.theta is None or declaration.theta_length is not None or len(self.theta) == top_grade:
            return None
        source = ", its own," if self.theta == declaration.default_theta else ""
        return (
            f"theta must hold as many thresholds as data.top_grade for {self.name}; got {list(self.theta)}{source} "
            f"and data.top_grade {top_grade}"
        )


FEWEST_EPOCHS: Final = 5
EPOCHS_OF_ONE_LIST: Final = 1000
"""Dividend of `TrainingSettings.epochs_of`; the divisor is the root of the number of lists."""


class TrainingSettings(Settings):
    """Optimisation (paper, section 5, experimental setup)."""

    objective: str | None = None
    """Training objective: lists (the loss of each list, as in the paper) or in_batch (terms over all documents of a
    step);
    null: in_batch where `loss.in_batch` or `loss.softmax_weight` asks for such terms, else lists."""
    objective_settings: dict[str, Any] = {}
    """Settings that the objective alone has, by name; lists and in_batch have none."""
    optimizer: str = "lazy_adam"
    """Optimizer: lazy_adam, which moves only the rows of word embeddings that a step's texts use."""
    optimizer_settings: dict[str, Any] = {}
    """Settings that the optimizer alone has, by name; lazy_adam has none."""
    epochs: Annotated[int | None, Field(ge=1, lt=2**31)] = 30
    """Passes over the train split; null: a number that follows from the number of lists, fewer for more lists."""
    batch_lists: Annotated[int, Field(ge=1, lt=2**31)] = 16
    """Query lists per step, over all replicas."""
    learning_rate: Annotated[float | None, Field(ge=1e-12, le=1e12)] = None
    """Adam's step size in the first epoch; null: the encoder's own (mean: 0.1; cnn and lstm: 0.001)."""
    learning_rate_decay: Annotated[float | None, Field(ge=1e-12, le=1)] = None
    """Factor on the learning rate after each epoch; null: the encoder's own (mean: 1; cnn and lstm: 0.95), or 1 where
    there is a `learning_rate_end`."""
    learning_rate_end: Annotated[float | None, Field(ge=1e-12, le=1)] = None
    """Share of the first learning rate that is left in the last epoch, after a linear fall; null: no linear fall.
    Excludes another `learning_rate_decay`."""
    embedding_factor: Annotated[float | None, Field(ge=1e-12, le=1e12)] = None
    """Factor on the step size of word embeddings, each of which moves only in the steps whose texts hold the word;
    null: the encoder's own (mean: 1, because it has no other weights; cnn and lstm: 30)."""
    negatives_from: Literal["all", "judged"] = "all"
    """NR documents that a train list keeps: all, or those that are relevant to some train query (judged). A document
    that is never relevant is learned as irrelevant to everything, which is wrong for documents that are new to the
    model. Eval and test lists keep all."""
    clip_norm: Annotated[float, Field(ge=1e-12, le=1e12)] = 5.0
    """Largest global norm of the gradient; a longer one is scaled down to it."""
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 1
    """Seeds the initial weights, dropout and the order of the lists."""
    best_metric: Annotated[str, AfterValidator(OneOf(METRICS))] = "ndcg_5"
    """The eval-split metric that picks the epoch whose weights are exported."""
    patience: Annotated[int | None, Field(ge=1, lt=2**31)] = None
    """Stop after this many epochs without a better `best_metric`; null trains all epochs."""
    device: Literal["auto", "cpu", "gpu"] = "auto"
    """Device to train on; auto takes every GPU that is there, else the CPU."""
    replicas: Annotated[int | None, Field(ge=1, le=256)] = None
    """Number of replicas of `MirroredStrategy`, or of each worker; null: one per GPU, or one CPU."""
    workers: Annotated[int | None, Field(ge=1, le=64)] = None
    """Number of processes of `MultiWorkerMirroredStrategy` that train together on this machine, see docs/workers.md;
    null: one, or as many as TF_CONFIG names."""

    @field_validator("objective")
    @classmethod
    def _objective_is_known(cls, objective: str | None) -> str | None:
        return objective and check_choice(OBJECTIVES, objective)

    @field_validator("objective_settings")
    @classmethod
    def _objective_has_them(cls, given: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        return own_settings(OBJECTIVES, info.data.get("objective") or "lists", given)

    @field_validator("optimizer")
    @classmethod
    def _optimizer_is_known(cls, optimizer: str) -> str:
        return check_choice(OPTIMIZERS, optimizer)

    @field_validator("optimizer_settings")
    @classmethod
    def _optimizer_has_them(cls, given: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        return own_settings(OPTIMIZERS, info.data.get("optimizer", ""), given)

    @field_validator("workers")
    @classmethod
    def _a_worker_has_one_cpu(cls, workers: int | None, info: ValidationInfo) -> int | None:
        replicas = info.data.get("replicas") or 1
        if info.data.get("device") == "cpu" and (workers or 1) > 1 < replicas:
            raise ValueError(f"must be 1 or null with {replicas} replicas on CPUs, one to a worker; got {workers}")
        return workers

    @model_validator(mode="after")
    def _lists_divide_among_replicas(self) -> "TrainingSettings":
        parts = {name: value for name in ("workers", "replicas") if (value := getattr(self, name))}
        if self.batch_lists % math.prod(parts.values()):
            names, values = (" x ".join(map(str, some)) for some in (parts, parts.values()))
            raise ValueError(f"batch_lists must be a multiple of {names}; got {self.batch_lists} and {values}")
        return self

    @model_validator(mode="after")
    def _learning_rate_falls_in_one_way(self) -> "TrainingSettings":
        if self.learning_rate_end is not None and self.learning_rate_decay not in (None, 1):
            raise ValueError(
                "learning_rate_decay must be 1 or null where learning_rate_end is given, for the learning rate falls "
                f"in one way; got {self.learning_rate_decay} and {self.learning_rate_end}"
            )
        return self

    def for_encoder(self, encoder: str) -> "TrainingSettings":
        """Returns the settings with the encoder's own values in place of null."""
        declaration = ENCODERS[encoder]
        falls = self.learning_rate_end is not None
        own = {
            "learning_rate": declaration.default_learning_rate,
            "learning_rate_decay": 1.0 if falls else declaration.default_learning_rate_decay,
            "embedding_factor": declaration.default_embedding_factor,
        }
        return self.model_copy(update={key: value for key, value in own.items() if getattr(self, key) is None})

    def number(self, name: str) -> float:
        """Returns a setting whose null stands for the encoder's own value.

        Raises:
          ValueError: it is still null, see `for_encoder`.
        """
        value: float | None = getattr(self, name)
        if value is None:
            raise ValueError(f"{name} must be a number; got null: `for_encoder` fills in an encoder's own.")
        return value

    def epochs_of(self, lists: int) -> int:
        """Returns the number of epochs of a training on a number of lists.

        A null setting stands for a number that falls with the root of the number of lists: a larger collection needs
        more steps, in fewer epochs.

        Example:
          >>> [TrainingSettings(epochs=None).epochs_of(lists) for lists in (400, 1_199, 15_000, 10**6)]
          [50, 29, 8, 5]
        """
        return self.epochs or max(FEWEST_EPOCHS, round(EPOCHS_OF_ONE_LIST / math.sqrt(max(lists, 1))))

    def learning_rate_in(self, epoch: int, epochs: int) -> float:
        """The learning rate in an epoch.

        Args:
          epoch: its number, from 1.
          epochs: of the whole training.

        Raises:
          ValueError: it is null, or its decay is.

        Example:
          >>> falling = TrainingSettings(learning_rate=0.02, learning_rate_end=0.5)
          >>> [falling.learning_rate_in(epoch, epochs=3) for epoch in (1, 2, 3)]
          [0.02, 0.015, 0.01]
        """
        first = self.number("learning_rate")
        if self.learning_rate_end is None:
            return first * self.number("learning_rate_decay") ** (epoch - 1)
        return first * (1 - (1 - self.learning_rate_end) * (epoch - 1) / max(epochs - 1, 1))
