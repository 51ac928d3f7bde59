"""Settings of the channels that are learned from the train pairs. Importing this file does not import TensorFlow."""

from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

from pydantic import Field, ValidationInfo, field_validator

from models.choices import FITTED, in_one_sentence
from models.rankers.settings import ChannelSettings, IndexedBy
from models.translators.settings import TranslatorSettings
from schemas.settings import InputPath, Settings

PairsWeight: TypeAlias = Annotated[float, Field(gt=0, le=1e6)]
"""Weight of a pair of texts; a train pair has the weight 1."""

_WEIGHED: Final = {"pairs_weight": "pairs", "title_pairs_weight": "title_pairs", "translations_weight": "translator"}
"""From each weight to the setting that it weighs."""


class LexiconDigests(Settings):
    """SHA-256 digests of input files in hexadecimal, held in a resolved configuration and checked by a rerun."""

    pairs: str | None = None
    """Digest of `channels.lexicon.pairs`."""


class MatchingSettings(ChannelSettings):
    """The channel of matching words, which the stage LexiconGen learns."""

    kinds: ClassVar[dict[str, type[Any]]] = {}
    default_kind: ClassVar[str | None] = "lexicon"
    indexed_by: ClassVar[IndexedBy] = "terms"

    kind: str
    """Kind of the channel: lexicon (translations learned from the train pairs; probabilistic structured queries), bm25
    or tfidf (equal words)."""
    in_training: bool = False
    """Whether the channel is part of the score in training, with its weight, or 0.5 if the weight is fitted. With the
    kind tfidf, the weight 1 and the encoder polynomial, it is the identity of Bai et al. 2009."""

    def for_training(self) -> ChannelSettings:
        """Returns the settings that a training uses; the lexicon itself is an input."""
        return self.model_validate({"kind": self.kind, "weight": self.weight, "in_training": self.in_training})


@ChannelSettings.add
@MatchingSettings.add
class LexiconSettings(MatchingSettings):
    """Translations learned from the train pairs (probabilistic structured queries)."""

    implementation: ClassVar[str] = "models.lexicon.structured_queries.StructuredQueries"

    kind: Literal["lexicon"] = "lexicon"
    pairs: Annotated[str | None, Field(min_length=1), InputPath("pairs")] = None
    """Path of further pairs to learn from, such as a bilingual dictionary, parallel text or a translation table: a
    file, or a pattern of several. Each line holds a text in the query language and a text in the document language,
    tab-separated, with an optional weight; `docs/formats.md` has further forms. Where texts are in several languages,
    each file should hold the pairs of two, because translations are learned file by file."""
    pairs_weight: PairsWeight = 1.0
    """Weight of each pair of `pairs`, times its own weight if it has one; a train pair has the weight 1."""
    title_pairs: bool = False
    """Whether to learn also from the titles of pages about the same thing, from the dumps of `data.wikipedia`, without
    pages that only eval and test queries are about."""
    title_pairs_weight: PairsWeight = 1.0
    """Weight of each pair of titles; a train pair has the weight 1."""
    translator: TranslatorSettings | None = None
    """The machine translator from the document language into the query language; the lexicon is also learned from its
    translations of the collection's sentences."""
    translations_weight: PairsWeight = 0.1
    """Weight of each pair of a sentence and its translation; a train pair has the weight 1."""
    sha256: LexiconDigests = LexiconDigests()
    """Expected digest of `pairs`; every run writes it into its resolved configuration."""

    @field_validator("pairs_weight", "title_pairs_weight", "translations_weight")
    @classmethod
    def _check_weight(cls, weight: float, info: ValidationInfo) -> float:
        name = str(info.field_name)
        weighed, default = _WEIGHED[name], cls.model_fields[name].default
        if weight != default and weighed in info.data and not info.data[weighed]:
            raise ValueError(f"must be {default:g} without {weighed}, which it weighs; got {weight:g}")
        return weight


@ChannelSettings.add
@MatchingSettings.add
class Bm25Settings(MatchingSettings):
    """BM25 of equal words."""

    implementation: ClassVar[str] = "models.lexicon.structured_queries.StructuredQueries"

    kind: Literal["bm25"] = "bm25"


@ChannelSettings.add
@MatchingSettings.add
class TfIdfSettings(MatchingSettings):
    """The inner product of tf-idf vectors of equal words."""

    implementation: ClassVar[str] = "models.lexicon.tf_idf.TfIdf"

    kind: Literal["tfidf"] = "tfidf"


@ChannelSettings.add
class ClLsiSettings(ChannelSettings):
    """The cosine in a space that is learned from the train pairs (cross-language latent semantic indexing)."""

    implementation: ClassVar[str] = "models.lexicon.cl_lsi.ClLsi"
    indexed_by: ClassVar[IndexedBy] = "vectors"

    kind: Literal["cl_lsi"] = "cl_lsi"
    dim: Annotated[
        Annotated[int, Field(strict=True, ge=1, le=4096)] | Literal["fitted"],
        in_one_sentence(f"a whole number from 1 to 4096, or {FITTED}"),
    ] = 100
    """Length of the vectors; fitted: the best on the eval split of 50, 100, 200, 500 and 1000."""
