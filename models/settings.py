"""Settings of the model, its loss and its training. Importing this file does not import TensorFlow."""

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from models.choices import (
    CHANNELS,
    ENCODERS,
    FITTED,
    SCORERS,
    ChannelWeightSetting,
    OwnSettings,
    TrainedDeclaration,
    in_one_sentence,
)
from models.losses.declarations import LOSSES, number_of_thresholds, theta_fault
from schemas.settings import InputPath, OneOf, Settings

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

    scorer: Annotated[str, AfterValidator(OneOf(SCORERS))] = "two_towers"
    """Scorer of a query and its documents: two_towers, the similarity of two encodings (the paper's), or one of the
    rankers of Cohen et al. 2018: cossim, the cosine of two texts' states of one LSTM (Tan et al. 2015), and
    duet_distributed, layers over the products of a query's and a document's vectors (Mitra et al. 2017). encoder_head
    is a trained head over a pre-trained encoder, see `encoder.head`."""
    scorer_settings: Annotated[dict[str, Any], AfterValidator(OwnSettings(SCORERS, "scorer"))] = {}
    """Settings that the scorer alone has, by name: `penalty` of encoder_head, the weight of the squared distance of its
    maps from the identity (default 2e-5); `units` of each direction of cossim's LSTM (default 64); `filters`
    of duet_distributed, the width of its layers (128), and `window`, the words of a document that one vector stands for
    (100); and `query_words` of both, the first words of a query that count (20). two_towers has none but those below
    that the others refuse: the encoder's, the similarity's, and those of stems and word dropout."""
    encoder: Annotated[str, AfterValidator(OneOf(ENCODERS))] = "mean"
    """Encoder of a text's words into one vector: mean (the paper's average pooling), cnn or lstm (its baselines
    DSSM-CNN and DSSM-LSTM), or polynomial (a linear map of the text's tf-idf vector: Polynomial Semantic Indexing, Bai
    et al. 2009)."""
    encoder_settings: Annotated[dict[str, Any], AfterValidator(OwnSettings(ENCODERS, "encoder"))] = {}
    """Settings that the encoder alone has, by name: `filters` of cnn (default 300), `units` of each direction of lstm
    (default 64), `degree` of polynomial (2, the default, or 3)."""
    terms: Literal["words", "stems"] = "words"
    """Terms that a text is encoded by: its words, or their stems (their first letters, see `models.texts.stems`), for
    the encoder polynomial alone."""
    pooling: Literal["mean", "idf"] = "mean"
    """Mean of the encoder mean: of a text's words alike, or weighted by their inverse document frequencies in the train
    split (idf)."""
    start: Literal["random", "lexicon"] = "random"
    """Start of the encoder polynomial: random, or the largest singular vectors of the lexicon's table of translations
    (lexicon), which needs `lexicon.kind` lexicon and `terms` stems. Queries and documents then have one vocabulary."""
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
    initial_scale: Annotated[float | None, Field(ge=1e-12, le=1e12)] = None
    """Standard deviation of the random initial embeddings; null: the encoder's or the scorer's own (polynomial and
    duet_distributed: 0.03; others: 0.1)."""
    dropout: Annotated[float | None, Field(ge=0, le=0.999)] = None
    """Share of the components of the word embeddings that a training step leaves out; null: the encoder's or the
    scorer's own (cnn and lstm: 0.4; others: 0)."""
    word_dropout: Annotated[float, Field(ge=0, le=0.999)] = 0.0
    """Share of a text's words that a training step leaves out; for the encoder mean alone."""
    stem_embeddings: bool = False
    """Add an embedding of each word's stem (its first letters, see `models.texts.stems`) to the word's; for the encoder
    mean alone."""

    @field_validator("epsilon")
    @classmethod
    def _check_epsilon(cls, epsilon: float) -> float:
        if fault := epsilon_fault(epsilon):
            raise ValueError(fault)
        return epsilon

    @field_validator(
        "encoder", "encoder_settings", "terms", "pooling", "start", "similarity", "epsilon", "word_dropout",
        "stem_embeddings",
    )  # fmt: skip
    @classmethod
    def _check_scorer(cls, value: Any, info: ValidationInfo) -> Any:
        scorer, default = info.data.get("scorer", ""), cls.model_fields[str(info.field_name)].default
        kind = "has_similarity" if info.field_name in ("similarity", "epsilon") else "has_encoders"
        if value != default and scorer in SCORERS and not getattr(SCORERS[scorer], kind):
            takers = ", ".join(name for name, declaration in SCORERS.items() if getattr(declaration, kind))
            default_text, got = (str(shown).lower() if isinstance(shown, bool) else shown for shown in (default, value))
            raise ValueError(f"must be {default_text} for {scorer}: it is for the scorer {takers} alone; got {got}")
        return value

    @field_validator("initial_scale", "dropout")
    @classmethod
    def _fill_default(cls, value: float | None, info: ValidationInfo) -> float | None:
        scorer = SCORERS.get(info.data.get("scorer", ""))
        declaration = ENCODERS.get(info.data.get("encoder", "")) if scorer and scorer.has_encoders else scorer
        if declaration is None or value is not None:
            return value
        own: float = getattr(declaration, f"default_{info.field_name}")
        return own

    @field_validator("pooling", "word_dropout", "stem_embeddings")
    @classmethod
    def _check_mean_encoder(cls, value: str | float | bool, info: ValidationInfo) -> str | float | bool:
        encoder, default = info.data.get("encoder", "mean"), cls.model_fields[str(info.field_name)].default
        if value != default and encoder != "mean":
            default_text, got = (
                str(shown).lower() if isinstance(shown, bool | str) else f"{shown:g}" for shown in (default, value)
            )
            raise ValueError(f"must be {default_text} for {encoder}: it is for the encoder mean alone; got {got}")
        return value

    @field_validator("terms", "start")
    @classmethod
    def _check_stem_encoder(cls, value: str, info: ValidationInfo) -> str:
        encoder, default = info.data.get("encoder", "mean"), cls.model_fields[str(info.field_name)].default
        if value != default and encoder in ENCODERS and not ENCODERS[encoder].takes_stems:
            raise ValueError(f"must be {default} for {encoder}: it is for the encoder polynomial alone; got {value}")
        return value

    @field_validator("start")
    @classmethod
    def _check_lexicon_start(cls, start: str, info: ValidationInfo) -> str:
        if start == "lexicon" and info.data.get("terms", "stems") != "stems":
            raise ValueError("must be random for the terms words: the lexicon translates stems; got lexicon")
        return start

    @property
    def defaults(self) -> TrainedDeclaration:
        """The encoder or the scorer whose own values null stands for."""
        scorer = SCORERS[self.scorer]
        return ENCODERS[self.encoder] if scorer.has_encoders else scorer

    @property
    def has_epsilon(self) -> bool:
        """Whether epsilon changes the score."""
        return SCORERS[self.scorer].has_similarity and self.similarity == "smooth_cosine"

    @property
    def has_words(self) -> bool:
        """Whether words have embeddings."""
        return self.terms == "words" and SCORERS[self.scorer].reads_words

    @property
    def has_stems(self) -> bool:
        """Whether stems have embeddings, alone or beside those of words."""
        return self.stem_embeddings or self.terms == "stems"

    @property
    def has_idf(self) -> bool:
        """Whether the encoder weighs its terms by their inverse document frequencies."""
        return self.pooling == "idf" or ENCODERS[self.encoder].has_idf

    @property
    def channel(self) -> str:
        """The name of the trained scorer among the channels of the score: two towers are named for their similarity."""
        return self.similarity if self.scorer == "two_towers" else self.scorer


class ChannelSettings(Settings):
    """A further channel of the score."""

    kind: Annotated[str, AfterValidator(OneOf(CHANNELS))]
    """Kind of the channel: cl_lsi; `lexicon.kind` chooses lexicon, bm25 or tfidf, and `encoder.kind` encoder."""
    weight: ChannelWeightSetting = 0.5
    """Weight of the channel; fitted: the best on the eval split, of the values that `lexicon.weight` lists; held_out:
    the best on domains that training has not seen, see there."""
    settings: Annotated[dict[str, Any], AfterValidator(OwnSettings(CHANNELS, "kind"))] = {}
    """Settings that this kind alone has, by name: `dim` of cl_lsi."""
    in_training: bool = False
    """Whether a channel that is learned before the training counts in the training's loss, with its weight; 0.5 where
    that is fitted. A channel that is trained always counts."""


class EmbeddingDigests(Settings):
    """SHA-256 of the tables, in hexadecimal; a resolved configuration holds them, and a rerun checks them."""

    query: str | None = None
    """Digest of `embeddings.query`."""
    document: str | None = None
    """Digest of `embeddings.document`."""


class EmbeddingSettings(Settings):
    """Pre-trained word vectors (paper, section 5: Polyglot's, of length 64); see docs/formats.md."""

    query: Annotated[str | None, Field(min_length=1), InputPath("vectors")] = None
    """Path of the query language's word vectors; null starts all words at random."""
    document: Annotated[str | None, Field(min_length=1), InputPath("vectors")] = None
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
    segmented: bool = False
    """Whether white space alone parts words."""


class FeedbackSettings(Settings):
    """The second pass of every ranking (pseudo-relevance feedback), which raises documents similar to the best of the
    first pass."""

    gain: Annotated[
        Annotated[float, Field(ge=0, le=1e6)] | Literal["fitted"],
        in_one_sentence(f"a number from 0 to 1e6, or {FITTED}"),
    ] = 0.0
    """Weight of the second pass in the score; 0: the first pass alone; fitted: the best of 0, 2, 4, 8, 12, 20, 30 and
    50 on the eval split, by ndcg_5 + 0.1 p_mr_1, and 0 where no other adds 0.002; after the weights of the channels,
    also where these are held_out. It needs a `lexicon.kind` and a scorer that an index can search. `--feedback` tries
    others on a pushed model."""
    documents: Literal[1, 2, 3, 5, "fitted"] = 2
    """Number of the best documents of the first pass that it takes for relevant ones; fitted: the best of 1, 2, 3 and
    5, likewise."""

    @field_validator("documents")
    @classmethod
    def _check_documents(cls, documents: int | str, info: ValidationInfo) -> int | str:
        if documents == FITTED and info.data.get("gain") == 0:
            raise ValueError(f"must be a number where feedback.gain is 0, which takes no documents; got {documents}")
        return documents


class LossSettings(Settings):
    """The training loss (paper, sections 3.4 and 5)."""

    name: Annotated[str, AfterValidator(OneOf(LOSSES))] = "sosl"
    """One of sosl (the paper's), mse, proportional_odds, three_part_l2 (its baselines), softmax, approx_ndcg and
    pairwise_hinge (TF-Ranking's), and those of the rankers of Cohen et al. 2018: worst_hinge (the MR document against
    the highest score of a lower grade) and log_likelihood (the MR document in a softmax over the list)."""
    settings: Annotated[dict[str, Any], AfterValidator(OwnSettings(LOSSES, "name"))] = {}
    """Settings that the loss alone has, by name: `margin` of worst_hinge (default 0.2). The others have none but those
    below."""
    theta: tuple[float, ...] | None = None
    """Thresholds, increasing within (-1, 1): for sosl, mse and proportional_odds as many as `data.top_grade`, but two
    for binary grades, between which lies no grade's band; for three_part_l2 three, for the others none; null: the
    paper's (0.2, 0.7; three_part_l2: 0.2, 0.55, 0.9), and for more grades others evenly spaced between these."""
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

    @field_validator("theta")
    @classmethod
    def _fill_theta(cls, theta: tuple[float, ...] | None, info: ValidationInfo) -> tuple[float, ...] | None:
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
    def _check_learn_theta(cls, learn_theta: bool, info: ValidationInfo) -> bool:
        name = info.data.get("name", "")
        if learn_theta and name in LOSSES and (reason := LOSSES[name].fixed_theta):
            raise ValueError(f"must be false for {name}, {reason}; got true")
        return learn_theta

    @field_validator("in_batch")
    @classmethod
    def _check_in_batch(cls, in_batch: bool, info: ValidationInfo) -> bool:
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
        if self.theta is None or declaration.theta_length is not None:
            return None
        if self.learn_theta and top_grade == 1:
            return "learn_theta must be false with data.top_grade 1, where nothing holds two thresholds apart; got true"
        expected = number_of_thresholds(top_grade)
        if len(self.theta) == expected:
            return None
        return (
            f"theta must hold {expected} thresholds for {self.name} and data.top_grade {top_grade}, or be null; got "
            f"{list(self.theta)}"
        )
