"""A training as one object: everything that decides it. Importing this file does not import TensorFlow."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pydantic import model_validator

from models.adversary_settings import AdversarySettings
from models.choices import (
    CHANNELS,
    ENCODER,
    FEEDBACK,
    LEXICON_KINDS,
    OBJECTIVES,
    OPTIMIZERS,
    SCORERS,
    SCORES,
    Declaration,
    own_settings,
)
from models.losses.declarations import LOSSES
from models.settings import ChannelSettings, FeedbackSettings, LossSettings, ModelSettings, WordTableSource
from models.training.settings import TrainingSettings
from models.tuning.settings import TuningSettings, searched_settings
from schemas.json_files import parse_json
from schemas.settings import Settings
from schemas.word_rules import WordRules


class TrainingJob(Settings):
    """Everything that decides a training, besides its examples and a search's best numbers.

    The pipeline makes it of a configuration. It travels as JSON through TFX and Kubeflow; Trainer, Tuner, the estimate
    and the paper's baseline read it.
    """

    languages: tuple[str, str]
    """ISO 639-1 codes of queries and documents."""
    rules: WordRules
    """The words of texts."""
    top_grade: int
    """The MR grade."""
    model: ModelSettings = ModelSettings()
    """The scorer that is trained."""
    loss: LossSettings = LossSettings()
    """The training loss."""
    training: TrainingSettings = TrainingSettings()
    """The optimisation."""
    adversary: AdversarySettings = AdversarySettings()
    """The discriminator of domains."""
    channels: dict[str, ChannelSettings] = {}
    """Further channels of the score, by name."""
    feedback: FeedbackSettings = FeedbackSettings()
    """The second pass."""
    word_tables: dict[str, WordTableSource] = {}
    """Pre-trained word vectors, by vocabulary (see `schemas.features`)."""
    used_negatives: int | None = None
    """Number of NR documents of a list that are read; null: all."""
    held_out: tuple[str, ...] = ()
    """Domains whose lists are not read."""
    checkpoints: str = ""
    """Folder of unfinished trainings."""
    identity: str = ""
    """Digest of the code and the libraries, part of what an unfinished training must agree with."""
    tuning: TuningSettings = TuningSettings()
    """The search for epsilon and theta, in a Tuner's job."""
    text_vectors: str | None = None
    """Folder of the vectors of a pre-trained encoder, if there is one; the executor fills it in."""
    lexicon: str | None = None
    """Folder of the lexicon artifact, if a channel is learned there; the executor fills it in."""
    documents: int | None = None
    """Number of documents of the collection, where the NR documents of lists are drawn from it; the executor fills it
    in. Null: candidates name the documents of lists."""
    texts: dict[str, str] = {}
    """Patterns of the files of the train and the eval split as texts, if there are further channels or an encoder; the
    executor fills them in."""

    @model_validator(mode="after")
    def _check_objective(self) -> "TrainingJob":
        if fault := objective_fault(self.model, self.loss, self.training):
            raise ValueError(fault)
        return self

    @classmethod
    def in_properties(cls, properties: Mapping[str, Any]) -> "TrainingJob | None":
        """Returns the job in a stage's execution properties, or None where the stage does not train."""
        content = properties.get("custom_config") or "{}"
        config = parse_json(content) if isinstance(content, str) else content
        return cls.model_validate(config) if "training" in config else None

    @property
    def objective(self) -> str:
        """The name of the training objective in `OBJECTIVES`."""
        return self.training.objective or default_objective(self.loss)

    @property
    def objective_settings(self) -> dict[str, Any]:
        """The objective's own settings, complete."""
        return own_settings(OBJECTIVES, self.objective, self.training.objective_settings)

    def with_numbers(self, numbers: Mapping[str, float]) -> "TrainingJob":
        """Returns the job with the numbers of a search's trial in its settings, see `TuningSettings.spaces`."""
        settings = searched_settings(numbers)
        theta = tuple(settings["loss.theta"]) if "loss.theta" in settings else self.loss.theta
        return self.model_copy(
            update={
                "model": self.model.model_copy(update={"epsilon": settings.get("model.epsilon", self.model.epsilon)}),
                "loss": self.loss.model_copy(update={"theta": theta}),
            }
        )

    def declarations(self) -> Iterator[Declaration]:
        """Yields the table entries that the settings name: code that no import shows."""
        yield SCORERS[self.model.scorer]
        yield self.model.defaults
        yield LOSSES[self.loss.name]
        yield OBJECTIVES[self.objective]
        yield OPTIMIZERS[self.training.optimizer]
        yield from (CHANNELS[channel.kind] for channel in self.channels.values())


def channels_fault(model: ModelSettings, channels: Mapping[str, ChannelSettings], taken: Collection[str]) -> str | None:
    """Returns an error message for channels whose names or kinds cannot be, or None.

    Args:
      model: the scorer, whose channel has a name of its own.
      channels: the further channels.
      taken: names of channels that other settings declare.
    """
    for name, channel in channels.items():
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            return f"must be names of lower-case letters, digits and _; got {name!r}"
        if name in (SCORES, FEEDBACK, model.channel, *taken):
            return f"must have names of their own; got {name}, which another part of the score has"
        if channel.kind in LEXICON_KINDS:
            return f"must not be of the kind {channel.kind}, which lexicon.kind chooses; got it for {name}"
        if channel.kind == ENCODER:
            return f"must not be of the kind {channel.kind}, which encoder.kind chooses; got it for {name}"
    return None


def index_fault(model: ModelSettings, channels: Mapping[str, ChannelSettings]) -> str | None:
    """Returns an error message where no index can search the score, or None.

    An index searches a sum of inner products of vectors, and of weighted terms in one channel at most.
    """
    kinds = {model.channel: SCORERS[model.scorer].indexed_by}
    kinds |= {name: CHANNELS[channel.kind].indexed_by for name, channel in channels.items()}
    unindexed = [name for name, kind in kinds.items() if kind is None]
    if unindexed:
        return f"the score of {', '.join(unindexed)} is no inner product"
    terms = [name for name, kind in kinds.items() if kind == "terms"]
    if len(terms) > 1:
        return f"only one channel may match terms, and there are {', '.join(terms)}"
    return None if "vectors" in kinds.values() else "no channel has vectors"


def default_objective(loss: LossSettings) -> str:
    """Returns the objective that a null `training.objective` stands for."""
    return "in_batch" if loss.is_over_batch else "lists"


def objective_fault(model: ModelSettings, loss: LossSettings, training: TrainingSettings) -> str | None:
    """Returns an error message where the objective does not fit the scorer or the loss, or None."""
    objective = training.objective or default_objective(loss)
    if objective == "in_batch" and SCORERS[model.scorer].indexed_by != "vectors":
        return (
            f"training.objective must not be in_batch with model.scorer {model.scorer}, whose score is no inner "
            "product of vectors; set loss.in_batch to false and loss.softmax_weight to 0"
        )
    if training.objective in ("lists", "drawn") and loss.is_over_batch:
        return (
            "training.objective must be in_batch or null where loss.in_batch or loss.softmax_weight asks for terms "
            f"over all documents of a step; got {training.objective}"
        )
    return None
