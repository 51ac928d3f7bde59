"""Settings of the encoders of texts. Importing this file does not import TensorFlow."""

import math
from typing import Any, ClassVar, Final, Literal, NamedTuple

from pydantic import ValidationInfo, field_validator

from models.kinds import Count, Implemented, Scale, Share


class TrainingDefaults(NamedTuple):
    """The values that an encoder or a scorer gives to null settings of the training."""

    learning_rate: float = 0.001
    learning_rate_decay: float = 1.0
    embedding_factor: float = 1.0
    has_short_ops: bool = False
    """Whether an op of a training step is too short to be divided between two cores, see
    `models.training.devices.configure_devices`."""


DEEP: Final = TrainingDefaults(learning_rate_decay=0.95, embedding_factor=30.0)
"""The values of convolutions, LSTMs and layers over embeddings."""


class Reading(NamedTuple):
    """The terms that an encoder or a scorer reads."""

    words: bool = True
    """Whether words have embeddings."""
    stems: bool = False
    """Whether stems have embeddings."""
    idf: bool = False
    """Whether terms are weighted by their inverse document frequencies."""
    starts_from_lexicon: bool = False
    """Whether the embeddings start from the lexicon's translations."""


class TextEncoderSettings(Implemented):
    """The encoder of a text's words as a vector.

    Attributes:
      largest_component: an upper bound on the magnitude of a vector's components; may be infinite.
      trained: the encoder's own values for settings of the training.
    """

    kinds: ClassVar[dict[str, type[Any]]] = {}
    default_kind: ClassVar[str | None] = "mean"
    largest_component: ClassVar[float] = 1.0  # that of tanh
    trained: ClassVar[TrainingDefaults] = TrainingDefaults()

    kind: str
    """Kind of the encoder: mean (the paper's average pooling), cnn or lstm (its baselines DSSM-CNN and DSSM-LSTM), or
    polynomial (a linear map of the text's tf-idf vector: Polynomial Semantic Indexing, Bai et al. 2009)."""
    initial_scale: Scale = 0.1
    """Standard deviation of the random initial embeddings."""
    dropout: Share = 0.0
    """Share of the components of the word embeddings that a training step leaves out."""

    def arguments(self, for_documents: bool) -> dict[str, Any]:
        """Returns the arguments of the encoder's class for a tower that other encoders lack."""
        return {}

    @property
    def reads(self) -> Reading:
        """The terms that the encoder reads."""
        return Reading()

    @property
    def has_only_tables(self) -> bool:
        """Whether all weights of the encoder are tables of words."""
        return False


@TextEncoderSettings.add
class MeanSettings(TextEncoderSettings):
    """The mean of a text's word embeddings (paper, section 3.2)."""

    implementation: ClassVar[str] = "models.layers.mean_embedding.MeanEmbedding"
    trained: ClassVar[TrainingDefaults] = TrainingDefaults(0.1, has_short_ops=True)

    kind: Literal["mean"] = "mean"
    pooling: Literal["mean", "idf"] = "mean"
    """Mean of a text's words: unweighted, or weighted by their inverse document frequencies in the train split
    (idf)."""
    word_dropout: Share = 0.0
    """Share of a text's words that a training step leaves out."""
    stem_embeddings: bool = False
    """Add the embedding of each word's stem (its first letters, see `models.texts.stems`) to that of the word."""

    def arguments(self, for_documents: bool) -> dict[str, Any]:
        """Returns the arguments of the encoder's class."""
        return {"word_dropout": self.word_dropout, "pooling": self.pooling}

    @property
    def reads(self) -> Reading:
        """The words, and their stems with `stem_embeddings`."""
        return Reading(stems=self.stem_embeddings, idf=self.pooling == "idf")

    @property
    def has_only_tables(self) -> bool:
        """True."""
        return True


@TextEncoderSettings.add
class CnnSettings(TextEncoderSettings):
    """A convolution over a text's words (paper, section 5: DSSM-CNN)."""

    implementation: ClassVar[str] = "models.layers.cnn_encoder.CnnEncoder"
    trained: ClassVar[TrainingDefaults] = DEEP

    kind: Literal["cnn"] = "cnn"
    dropout: Share = 0.4
    """Share of the components of the word embeddings that a training step leaves out."""
    filters: Count = 300
    """Number of filters over word trigrams."""

    def arguments(self, for_documents: bool) -> dict[str, Any]:
        """Returns the arguments of the encoder's class."""
        return {"filters": self.filters}


@TextEncoderSettings.add
class LstmSettings(TextEncoderSettings):
    """The states of an LSTM over a text's words (paper, section 5: DSSM-LSTM)."""

    implementation: ClassVar[str] = "models.layers.lstm_encoder.LstmEncoder"
    trained: ClassVar[TrainingDefaults] = DEEP

    kind: Literal["lstm"] = "lstm"
    dropout: Share = 0.4
    """Share of the components of the word embeddings that a training step leaves out."""
    units: Count = 64
    """Length of a state, in each direction."""

    def arguments(self, for_documents: bool) -> dict[str, Any]:
        """Returns the arguments of the encoder's class."""
        return {"units": self.units}


@TextEncoderSettings.add
class PolynomialSettings(TextEncoderSettings):
    """A linear map of a text's tf-idf vector (Polynomial Semantic Indexing, Bai et al. 2009)."""

    implementation: ClassVar[str] = "models.layers.polynomial_embedding.PolynomialEmbedding"
    largest_component: ClassVar[float] = math.inf
    trained: ClassVar[TrainingDefaults] = TrainingDefaults(0.002, has_short_ops=True)

    kind: Literal["polynomial"] = "polynomial"
    initial_scale: Scale = 0.03
    """Standard deviation of the random initial embeddings."""
    degree: Literal[2, 3] = 2
    """Degree of the score in the words of a query and a document."""
    terms: Literal["words", "stems"] = "words"
    """Terms of a text's vector: its words, or their stems (their first letters, see `models.texts.stems`)."""
    start: Literal["random", "lexicon"] = "random"
    """Start of the embeddings: random, or the largest singular vectors of the lexicon's table of translations
    (lexicon), which needs a `channels.lexicon` of the kind lexicon and `terms` stems. Queries and documents then share
    a vocabulary."""

    @field_validator("start")
    @classmethod
    def _check_start(cls, start: str, info: ValidationInfo) -> str:
        if start == "lexicon" and info.data.get("terms", "stems") != "stems":
            raise ValueError("must be random for the terms words: the lexicon translates stems; got lexicon")
        return start

    def arguments(self, for_documents: bool) -> dict[str, Any]:
        """Returns the arguments of the encoder's class; queries are encoded linearly."""
        return {"degree": self.degree} if for_documents else {}

    @property
    def reads(self) -> Reading:
        """Words or stems, as vectors of tf-idf."""
        return Reading(self.terms == "words", self.terms == "stems", True, self.start == "lexicon")

    @property
    def has_only_tables(self) -> bool:
        """Whether the degree is 2."""
        return self.degree == 2
