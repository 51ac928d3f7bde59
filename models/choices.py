"""The parts of a model and of a training that a configuration chooses by name. Importing this file imports no
TensorFlow.

An entry names the class behind a name and declares the settings that this class alone has. The losses have a table of
their own, `models.losses.declarations`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any, Final, Literal, TypeAlias

import pydantic
from pydantic import Field, ValidationInfo, ValidatorFunctionWrapHandler, WrapValidator

from schemas.settings import Settings, did_you_mean

Count: TypeAlias = Annotated[int, Field(strict=True, ge=1, le=65_536)]

FEEDBACK: Final = "feedback"
"""The name of the second pass among the parts of a score."""
FITTED: Final = "fitted"
HELD_OUT: Final = "held_out"


def in_one_sentence(values: str) -> WrapValidator:
    """Describes a wrong value of a setting of several types in one sentence, where Pydantic has one for each type.

    Args:
      values: the values that it may have, in words.
    """

    def check(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            return handler(value)
        except pydantic.ValidationError:
            raise ValueError(f"must be {values}; got {value!r}") from None

    return WrapValidator(check)


ChannelWeightSetting = Annotated[
    Annotated[float, Field(ge=0, le=1e12)] | Literal["fitted", "held_out"],
    in_one_sentence(f"a number from 0 to 1e12, {FITTED} or {HELD_OUT}"),
]
"""The weight of a channel: a number, `fitted` on the eval split, or fitted on training domains that are `held_out`."""


@dataclass(frozen=True)
class Declaration:
    """An entry of a table.

    Attributes:
      implementation: dotted name of the class, which is imported on first use.
      settings: the settings of this class, which are its keyword arguments.
    """

    implementation: str
    settings: type[Settings] = Settings

    @property
    def module(self) -> str:
        """The module of the class, part of the identity of the stages that use it."""
        return self.implementation.rpartition(".")[0]

    def load(self) -> Any:
        """Imports the class."""
        return getattr(import_module(self.module), self.implementation.rpartition(".")[2])


@dataclass(frozen=True)
class TrainedDeclaration(Declaration):
    """A part with word embeddings, with its values for settings that are null.

    Attributes:
      default_initial_scale, ..., default_embedding_factor: the part's own values.
      has_short_ops: whether two cores take longer to divide an op of a training step than to run it, see
        `models.training.devices.configure_devices`.
    """

    default_initial_scale: float = 0.1
    default_dropout: float = 0.0
    default_learning_rate: float = 0.001
    default_learning_rate_decay: float = 1.0
    default_embedding_factor: float = 1.0
    has_short_ops: bool = False


@dataclass(frozen=True)
class EncoderDeclaration(TrainedDeclaration):
    """An encoder.

    The class is a `models.layers.text_encoder.TextEncoder`.

    Attributes:
      document_settings: names of own settings for the encoder of documents; that of queries has the defaults.
      has_idf: whether the class takes the terms' inverse document frequencies, `idf`, whatever the pooling.
      takes_stems: whether its terms may be stems, `model.terms`, and may start from the lexicon, `model.start`.
      largest_component: an upper bound on the magnitude of a vector's components; infinite where nothing bounds them.
    """

    document_settings: tuple[str, ...] = ()
    has_idf: bool = False
    takes_stems: bool = False
    largest_component: float = 1.0


class CnnSettings(Settings):
    """Settings of the encoder cnn."""

    filters: Count = 300
    """Number of filters over word trigrams."""


class LstmSettings(Settings):
    """Settings of the encoder lstm."""

    units: Count = 64
    """Length of a state, in each direction."""


class PolynomialSettings(Settings):
    """Settings of the encoder polynomial."""

    degree: Literal[2, 3] = 2
    """Degree of the score in the words of a query and a document."""


ENCODERS: Final[dict[str, EncoderDeclaration]] = {
    "mean": EncoderDeclaration(
        "models.layers.mean_embedding.MeanEmbedding", default_learning_rate=0.1, has_short_ops=True
    ),
    "cnn": EncoderDeclaration(
        "models.layers.cnn_encoder.CnnEncoder",
        CnnSettings,
        default_dropout=0.4,
        default_learning_rate_decay=0.95,
        default_embedding_factor=30.0,
    ),
    "lstm": EncoderDeclaration(
        "models.layers.lstm_encoder.LstmEncoder",
        LstmSettings,
        default_dropout=0.4,
        default_learning_rate_decay=0.95,
        default_embedding_factor=30.0,
    ),
    "polynomial": EncoderDeclaration(
        "models.layers.polynomial_embedding.PolynomialEmbedding",
        PolynomialSettings,
        document_settings=("degree",),
        has_idf=True,
        takes_stems=True,
        default_initial_scale=0.03,
        default_learning_rate=0.002,
        largest_component=math.inf,
        has_short_ops=True,
    ),
}
"""Encoders by their names in `model.encoder`; all but polynomial end in tanh, whose values lie in [-1, 1]."""


@dataclass(frozen=True)
class ScorerDeclaration(TrainedDeclaration):
    """A scorer: the one that is trained, or a further channel of the score.

    The class is a `models.rankers.scorer.Scorer`; its class method `make` takes `ScorerInputs` and the settings.

    Attributes:
      indexed_by: how an index finds its documents: by the inner product of two vectors, of two sets of weighted terms,
        or not at all (None).
      has_encoders: whether it is made of encoders, `model.encoder`. It then takes their settings and default values.
      has_similarity: whether it compares two vectors by `model.similarity`.
      reads_words: whether it reads the words of texts; else it reads the vectors of a pre-trained encoder.
    """

    indexed_by: Literal["vectors", "terms"] | None = None
    has_encoders: bool = False
    has_similarity: bool = False
    reads_words: bool = True


class CosSimSettings(Settings):
    """Settings of the scorer cossim."""

    units: Count = 64
    """Length of a state, in each direction."""
    query_words: Count = 20
    """Number of a query's first words that count."""


class DuetSettings(Settings):
    """Settings of the scorer duet_distributed."""

    filters: Count = 128
    """Number of filters over word trigrams, and width of each layer after them."""
    window: Count = 100
    """Number of a document's words that one vector stands for."""
    query_words: Count = 20
    """Number of a query's first words that count."""


class HeadSettings(Settings):
    """Settings of the scorer encoder_head."""

    penalty: Annotated[float, Field(ge=0, le=1e12)] = 2e-5
    """Weight of the squared distance of the maps from the identity."""


SCORERS: Final[dict[str, ScorerDeclaration]] = {
    "two_towers": ScorerDeclaration(
        "models.rankers.two_towers.TwoTowers", indexed_by="vectors", has_encoders=True, has_similarity=True
    ),
    "encoder_head": ScorerDeclaration(
        "models.encoders.encoder_head.EncoderHead",
        HeadSettings,
        indexed_by="vectors",
        has_similarity=True,
        reads_words=False,
    ),
    "cossim": ScorerDeclaration(
        "models.rankers.cos_sim.CosSim",
        CosSimSettings,
        indexed_by="vectors",
        default_learning_rate_decay=0.95,
        default_embedding_factor=30.0,
    ),
    "duet_distributed": ScorerDeclaration(
        "models.rankers.duet_distributed.DuetDistributed",
        DuetSettings,
        default_initial_scale=0.03,
        default_learning_rate_decay=0.95,
        default_embedding_factor=30.0,
    ),
}
"""Scorers by their names in `model.scorer`."""


class ClLsiSettings(Settings):
    """Settings of the channel cl_lsi."""

    dim: Annotated[
        Annotated[int, Field(strict=True, ge=1, le=4096)] | Literal["fitted"],
        in_one_sentence(f"a whole number from 1 to 4096, or {FITTED}"),
    ] = 100
    """Length of the vectors; fitted: the best on the eval split of 50, 100, 200, 500 and 1000."""


CHANNELS: Final[dict[str, ScorerDeclaration]] = {
    "lexicon": ScorerDeclaration("models.lexicon.structured_queries.StructuredQueries", indexed_by="terms"),
    "bm25": ScorerDeclaration("models.lexicon.structured_queries.StructuredQueries", indexed_by="terms"),
    "tfidf": ScorerDeclaration("models.lexicon.tf_idf.TfIdf", indexed_by="terms"),
    "cl_lsi": ScorerDeclaration("models.lexicon.cl_lsi.ClLsi", ClLsiSettings, indexed_by="vectors"),
    "encoder": ScorerDeclaration("models.encoders.encoder_channel.EncoderChannel", indexed_by="vectors"),
}
"""Channels beside the scorer, by their kinds in `lexicon.kind` and `channels`; `encoder` is that of
`models.encoders`."""

RIVALS: Final = (
    "tfidf", "translated", "query_expansion", "lsi", "lsi_mixed", "cl_lsi", "cl_lsi_mixed", "perceptron", "hash_kernel",
    "structured_queries", "cl_lsi_lexicon", "bm25_stems", "translated_bm25", "translated_rm3",
)  # fmt: skip
"""The rankers that Bai et al. 2009 compare with, two of the lexicon, and BM25 on stems, also of machine translated
queries, as baselines by their names; see `models.rivals.methods`."""
COLLECTION_RIVALS: Final = ("bm25_stems", "translated_bm25", "translated_rm3")
"""Those that need statistics of the whole collection."""
MACHINE_TRANSLATING: Final = ("translated_bm25", "translated_rm3")
"""Those that need a translator."""
ACROSS_LANGUAGES: Final = ("translated", "structured_queries", "cl_lsi_lexicon", *MACHINE_TRANSLATING)
"""Those that are for two languages alone."""
TRANSLATING: Final = (
    "translated",
    "structured_queries",
    "cl_lsi_lexicon",
    "query_expansion",
    "lsi",
    "lsi_mixed",
    "cl_lsi_mixed",
)
"""Those that take the lexicon where documents have another language."""

SCORES: Final = "scores"
"""The name of the sum beside the scores of its channels."""
FIRST_PASS: Final = "first_pass"
"""The name of the sum before a second pass, beside them."""

WITH_VECTORS: Final = "_with_vectors"
"""The end of the name of an exported model's signature that takes the vectors of a pre-trained encoder beside texts."""

LEXICON_KINDS: Final = ("lexicon", "bm25", "tfidf")
"""The kinds of channels that the stage LexiconGen learns."""

ENCODER: Final = "encoder"
"""The kind, and the name, of the channel of a pre-trained encoder without a head."""
HEAD: Final = "encoder_head"
"""The scorer that is a head over a pre-trained encoder."""


class DrawnSettings(Settings):
    """Settings of the objective drawn."""

    documents: Count = 4
    """Number of documents of lower grades that a step draws from each list."""


OBJECTIVES: Final[dict[str, Declaration]] = {
    "lists": Declaration("models.objectives.objective.RankingObjective"),
    "in_batch": Declaration("models.objectives.in_batch.InBatchObjective"),
    "drawn": Declaration("models.objectives.drawn.DrawnObjective", DrawnSettings),
}
"""Training objectives by their names in `training.objective`; each is a `models.objectives.objective.Objective`, made
by its class method `make`."""

OPTIMIZERS: Final[dict[str, Declaration]] = {
    "lazy_adam": Declaration("models.optimizers.lazy_adam.LazyAdam"),
}
"""Optimizers by their names in `training.optimizer`; a class takes the learning rate, the factor on it for the rows of
sparse gradients, and its own settings."""


def own_settings(table: Mapping[str, Declaration], name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns an entry's own settings, with its defaults for those that are missing.

    Args:
      table: the entries.
      name: an entry. The settings of an unknown entry are returned unchanged, because it is refused elsewhere.
      settings: values by name.

    Raises:
      ValueError: a setting is unknown or has a wrong value.

    Example:
      >>> own_settings(ENCODERS, "cnn", {})
      {'filters': 300}
    """
    if name not in table:
        return dict(settings)
    own = table[name].settings
    for key in settings.keys() - own.model_fields.keys():
        if not own.model_fields:
            raise ValueError(f"must be empty for {name}; got {key!r}")
        known = ", ".join(own.model_fields)
        raise ValueError(f"must hold settings of {name}, {known}; got {key!r}{did_you_mean(key, own.model_fields)}")
    try:
        return own.model_validate(settings).model_dump()
    except pydantic.ValidationError as errors:
        first = errors.errors()[0]
        key = ".".join(map(str, first["loc"]))
        message = str(first["msg"]).removeprefix("Value error, ").replace("Input should", "must", 1)
        got = "" if first["type"] == "value_error" else f"; got {first['input']!r}"
        raise ValueError(f"{key} {message}{got}") from None


@dataclass(frozen=True)
class OwnSettings:
    """Checks and completes the settings of a chosen entry; a setting has it in `pydantic.AfterValidator`.

    Args:
      table: the entries.
      name: the setting with the entry's name; it must be declared before this one.
    """

    table: Mapping[str, Declaration]
    name: str

    def __call__(self, settings: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        return own_settings(self.table, info.data.get(self.name) or "", settings)
