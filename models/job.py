"""A training's settings as one object. Importing this file does not import TensorFlow."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import model_validator

from models.adversary_settings import AdversarySettings
from models.encoders.settings import EncoderChannelSettings  # noqa: F401 - adds a kind of channel
from models.lexicon.settings import MatchingSettings  # noqa: F401 - adds kinds of channels
from models.losses.settings import LossSettings, SoslSettings
from models.objectives.settings import InBatchSettings, ListsSettings, ObjectiveSettings
from models.rankers.settings import ChannelSettings, ScorerSettings, TwoTowersSettings
from models.settings import FeedbackSettings, WordTableSource
from models.training.settings import TrainingSettings
from models.tuning.settings import EPSILON, THETA, TuningSettings, searched_settings
from schemas.json_files import parse_json
from schemas.passages import PassageSettings
from schemas.settings import Settings
from schemas.word_rules import WordRules


class TrainingJob(Settings):
    """Everything that determines a training except its examples and a search's best numbers.

    The pipeline makes it from a configuration, and passes it as JSON through TFX and Kubeflow to Trainer and Tuner.
    """

    languages: tuple[str, str]
    """ISO 639-1 codes of queries and documents."""
    rules: WordRules
    """The rules for splitting texts into words."""
    passages: PassageSettings | None = None
    """The passages that the lists hold in place of documents; null: whole documents."""
    top_grade: int
    """The MR grade."""
    towers: ScorerSettings = TwoTowersSettings()
    """The scorer that is trained."""
    loss: LossSettings = SoslSettings()
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
    """Digest of the code and the libraries, which must not change before an unfinished training resumes."""
    tuning: TuningSettings = TuningSettings()
    """The search for epsilon and theta, in a Tuner's job."""
    text_vectors: str | None = None
    """Folder of the vectors of a pre-trained encoder; set by the executor, null without an encoder."""
    lexicon: str | None = None
    """Folder of the lexicon artifact; set by the executor, null where no channel is learned from it."""
    documents: int | None = None
    """Number of documents of the collection that the NR documents of lists are drawn from; set by the executor, null
    where candidates name the documents of lists."""
    texts: dict[str, str] = {}
    """Patterns of the files of the train and the eval split as texts; set by the executor, empty without further
    channels and without an encoder."""

    @model_validator(mode="after")
    def _check_objective(self) -> "TrainingJob":
        if fault := objective_fault(self.towers, self.loss, self.training):
            raise ValueError(fault)
        return self

    @classmethod
    def in_properties(cls, properties: Mapping[str, Any]) -> "TrainingJob | None":
        """Returns the job in a stage's execution properties, or None where the stage does not train."""
        content = properties.get("custom_config") or "{}"
        config = parse_json(content) if isinstance(content, str) else content
        return cls.model_validate(config) if "training" in config else None

    @property
    def objective(self) -> ObjectiveSettings:
        """The training objective."""
        return self.training.objective or default_objective(self.loss)

    def with_numbers(self, numbers: Mapping[str, float]) -> "TrainingJob":
        """Returns the job with the numbers of a search's trial in its settings, see `TuningSettings.spaces`."""
        settings = searched_settings(numbers)
        updates: dict[str, Settings] = {}
        if EPSILON in settings:
            updates["towers"] = self.towers.model_copy(update={"epsilon": settings[EPSILON]})
        if THETA in settings:
            updates["loss"] = self.loss.model_copy(update={"theta": tuple(settings[THETA])})
        return self.model_copy(update=updates)

    def modules(self) -> Iterator[str]:
        """Yields the modules that are imported only by name, from the settings."""
        yield from self.towers.modules()
        yield from self.loss.modules()
        yield from self.objective.modules()
        for channel in self.channels.values():
            yield from channel.modules()


def default_objective(loss: LossSettings) -> ObjectiveSettings:
    """Returns the objective that a null `training.objective` stands for."""
    return InBatchSettings() if loss.is_over_batch else ListsSettings()


def objective_fault(towers: ScorerSettings, loss: LossSettings, training: TrainingSettings) -> str | None:
    """Returns an error message for an objective that does not fit the scorer or the loss, or None."""
    objective = training.objective or default_objective(loss)
    if objective.kind == "in_batch" and towers.indexed_by != "vectors":
        return (
            f"training.objective must not be in_batch with towers of the kind {towers.kind}, whose score is not an "
            "inner product of vectors; set loss.in_batch to false and loss.softmax_weight to 0"
        )
    if training.objective and objective.kind != "in_batch" and loss.is_over_batch:
        return (
            "training.objective must be in_batch or null where loss.in_batch or loss.softmax_weight asks for terms "
            f"over all documents of a step; got {objective.kind}"
        )
    return None
