"""Settings of the trained scorer and of other channels. Importing this file does not import TensorFlow."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field

from models.choices import FITTED, HELD_OUT, in_one_sentence
from models.kinds import Count, Implemented, Scale, Share
from models.layers.settings import DEEP, MeanSettings, Reading, TextEncoderSettings, TrainingDefaults

SMALLEST_EPSILON: Final = 1e-6
"""The smallest epsilon above 0 that float32 can add to a norm of 1, where its numbers are 1.2e-7 apart."""

LARGEST_EPSILON: Final = 1e6
"""The largest epsilon to which float32 can add a norm of 1; its numbers are 0.06 apart there."""


def epsilon_fault(epsilon: float) -> str | None:
    """Returns an error message if float32 loses epsilon in (|q| + epsilon) * (|d| + epsilon), or None.

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


def _checked_epsilon(epsilon: float) -> float:
    if fault := epsilon_fault(epsilon):
        raise ValueError(fault)
    return epsilon


IndexedBy: TypeAlias = Literal["vectors", "terms"] | None
"""The kind of inner product by which an index searches a channel: of vectors, or of weighted terms; None: not
indexed."""


class ScorerSettings(Implemented):
    """The trained scorer: the paper's two towers (sections 3.1 to 3.3 and 5), or another.

    Its class is a `models.rankers.scorer.Scorer`, made by its class method `make`.

    Attributes:
      indexed_by: how an index searches the scorer.
      reads_words: whether the scorer reads words; otherwise it reads the vectors of a pre-trained encoder.
      trained: the scorer's values for null settings of the training; two towers have those of their encoder.
    """

    kinds: ClassVar[dict[str, type[Any]]] = {}
    default_kind: ClassVar[str | None] = "two_towers"
    indexed_by: ClassVar[IndexedBy] = None
    reads_words: ClassVar[bool] = True
    trained: ClassVar[TrainingDefaults] = TrainingDefaults()

    weight: Annotated[
        Annotated[float, Field(gt=0, le=1e12)] | Literal["fitted"],
        in_one_sentence(f"a number above 0, up to 1e12, or {FITTED}"),
    ] = 1.0
    """Weight of the scorer in a sum with further channels; fitted: 1, unless one of 0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5,
    0.6 and 0.8 raises ndcg_5 + 0.1 p_mr_1 of the eval split by 0.002 or more; and 0 with fewer than 100 train
    queries."""
    kind: str
    """Kind of the scorer: two_towers, the similarity of two encodings (the paper's), or a ranker of Cohen et al. 2018:
    cossim, the cosine of two texts' states in a shared LSTM (Tan et al. 2015), and duet_distributed, layers over the
    products of a query's and a document's vectors (Mitra et al. 2017). encoder_head is a trained head over the
    pre-trained encoder of `channels.encoder`, whose cosine is then not a channel."""

    def training_defaults(self) -> TrainingDefaults:
        """Returns the scorer's values for null settings of the training."""
        return self.trained

    @property
    def channel(self) -> str:
        """The name of the scorer among the channels of the score."""
        return self.kind

    @property
    def has_epsilon(self) -> bool:
        """Whether epsilon changes the score."""
        return False

    @property
    def reads(self) -> Reading:
        """The terms that the scorer reads."""
        return Reading(words=self.reads_words)

    @property
    def has_only_tables(self) -> bool:
        """Whether all weights of the scorer are tables of words."""
        return False

    @property
    def word_width(self) -> int | None:
        """Length of the word embeddings; None without word embeddings."""
        return None


class SimilaritySettings(ScorerSettings):
    """A scorer by the similarity of two vectors."""

    indexed_by: ClassVar[IndexedBy] = "vectors"

    similarity: Literal["smooth_cosine", "cosine", "dot"] = "smooth_cosine"
    """Similarity of a query's and a document's vector: the paper's smooth cosine (eq. 1), the plain cosine, or the
    inner product."""
    epsilon: Annotated[float, Field(ge=0, le=LARGEST_EPSILON), AfterValidator(_checked_epsilon)] = 1.0
    """Smoothness of smooth_cosine (eq. 1), in the unit of the vectors' norms; 0 is the plain cosine. The smallest other
    value is 1e-6, because float32 cannot add smaller ones to norms of 1. Unused with cosine and dot."""

    @property
    def has_epsilon(self) -> bool:
        """Whether the similarity is smooth."""
        return self.similarity == "smooth_cosine"


@ScorerSettings.add
class TwoTowersSettings(SimilaritySettings):
    """The similarity of two encodings (paper, sections 3.1 to 3.3)."""

    implementation: ClassVar[str] = "models.rankers.two_towers.TwoTowers"

    kind: Literal["two_towers"] = "two_towers"
    encoder: TextEncoderSettings = MeanSettings()
    """The encoder of a text's words as a vector."""
    embedding_dim: Count = 64
    """Length of a word's, a query's and a document's vector."""

    @classmethod
    def with_encoder(cls, encoder: str, **settings: Any) -> "TwoTowersSettings":
        """Returns the settings of towers with an encoder of the given kind, with its defaults."""
        return cls.model_validate({"encoder": encoder, **settings})

    def modules(self) -> Iterator[str]:
        """Yields the modules of the towers and of the encoder."""
        yield from super().modules()
        yield from self.encoder.modules()

    def training_defaults(self) -> TrainingDefaults:
        """Returns the encoder's values."""
        return self.encoder.trained

    @property
    def channel(self) -> str:
        """The name of the similarity."""
        return self.similarity

    @property
    def reads(self) -> Reading:
        """The terms that the encoder reads."""
        return self.encoder.reads

    @property
    def has_only_tables(self) -> bool:
        """Whether all weights of the encoder are tables of words."""
        return self.encoder.has_only_tables

    @property
    def word_width(self) -> int | None:
        """`embedding_dim`."""
        return self.embedding_dim


@ScorerSettings.add
class EncoderHeadSettings(SimilaritySettings):
    """A trained head over the pre-trained encoder of `channels.encoder`: a square matrix for queries and another for
    documents, which start as the identity."""

    implementation: ClassVar[str] = "models.encoders.encoder_head.EncoderHead"
    reads_words: ClassVar[bool] = False

    kind: Literal["encoder_head"] = "encoder_head"
    penalty: Annotated[float, Field(ge=0, le=1e12)] = 2e-5
    """Weight of the squared distance of the maps from the identity."""


class WordScorerSettings(ScorerSettings):
    """A ranker of Cohen et al. 2018, with its own word embeddings."""

    trained: ClassVar[TrainingDefaults] = DEEP

    embedding_dim: Count = 64
    """Length of a word's vector."""
    initial_scale: Scale = 0.1
    """Standard deviation of the random initial embeddings."""
    dropout: Share = 0.0
    """Share of the components of the word embeddings that a training step leaves out."""
    query_words: Count = 20
    """Number of a query's first words that are read."""

    @property
    def word_width(self) -> int | None:
        """`embedding_dim`."""
        return self.embedding_dim


@ScorerSettings.add
class CosSimSettings(WordScorerSettings):
    """The cosine of two texts' states in a shared LSTM (Tan et al. 2015)."""

    implementation: ClassVar[str] = "models.rankers.cos_sim.CosSim"
    indexed_by: ClassVar[IndexedBy] = "vectors"

    kind: Literal["cossim"] = "cossim"
    units: Count = 64
    """Length of a state, in each direction."""


@ScorerSettings.add
class DuetSettings(WordScorerSettings):
    """Layers over the products of a query's and a document's vectors (Mitra et al. 2017)."""

    implementation: ClassVar[str] = "models.rankers.duet_distributed.DuetDistributed"

    kind: Literal["duet_distributed"] = "duet_distributed"
    initial_scale: Scale = 0.03
    """Standard deviation of the random initial embeddings."""
    filters: Count = 128
    """Number of filters over word trigrams, and width of each later layer."""
    window: Count = 100
    """Number of a document's words in a window, which has a single vector."""


Weight: TypeAlias = Annotated[
    Annotated[float, Field(ge=0, le=1e12)] | Literal["fitted", "held_out"],
    in_one_sentence(f"a number from 0 to 1e12, {FITTED} or {HELD_OUT}"),
]
"""The weight of a channel: a number, `fitted` on the eval split, or fitted on training domains that are `held_out`."""


class ChannelSettings(Implemented):
    """A channel of the score besides the trained scorer.

    Its class is a `models.rankers.scorer.Scorer`, made by its class method `make`.
    """

    kinds: ClassVar[dict[str, type[Any]]] = {}
    indexed_by: ClassVar[IndexedBy] = None

    kind: str
    """Kind of the channel: cl_lsi, or a kind that was added, see CONTRIBUTING.md."""
    weight: Weight = 0.5
    """Weight of the channel; fitted: the best of 0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.2, 2, 3, 4, 6, 8, 12 and
    16 on the eval split, by ndcg_5 + 0.1 p_mr_1; held_out: the best on average over training domains, on each domain's
    eval split with a ranker and a lexicon that have not seen the domain."""
    in_training: bool = False
    """Whether a channel that is learned before the training is part of the score in training, with its weight, or 0.5
    if the weight is fitted. A trained channel always is."""

    def for_training(self) -> "ChannelSettings":
        """Returns the settings that a training uses; the others are defaults, so that they do not change its
        identity."""
        return self
