"""Settings of the channels that the train pairs teach. Importing this file does not import TensorFlow."""

from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

from pydantic import Field, ValidationInfo, field_validator

from models.choices import FITTED, in_one_sentence
from models.rankers.settings import ChannelSettings, IndexedBy
from models.translators.settings import TranslatorSettings
from schemas.settings import InputPath, Settings

PairsWeight: TypeAlias = Annotated[float, Field(gt=0, le=1e6)]
"""How often a pair of texts counts beside a train pair."""


_WEIGHED: Final = {
    "pairs_weight": "pairs",
    "title_pairs_weight": "title_pairs",
    "translations_weight": "translator",
}
"""The setting that each weight is for."""


class LexiconDigests(Settings):
    """SHA-256 digests of input files in hexadecimal; a resolved configuration holds them, and a rerun checks them."""

    pairs: str | None = None
    """Digest of `channels.lexicon.pairs`."""


class MatchingSettings(ChannelSettings):
    """The channel of words that match, which the stage LexiconGen learns."""

    kinds: ClassVar[dict[str, type[Any]]] = {}
    default_kind: ClassVar[str | None] = "lexicon"
    indexed_by: ClassVar[IndexedBy] = "terms"

    kind: str
    """Kind of the channel: lexicon (translations learned from the train pairs; probabilistic structured queries), bm25
    or tfidf (equal words)."""
    in_training: bool = False
    """Whether the channel counts in the training's loss, with its weight; 0.5 where that is fitted. With the kind tfidf
    and the weight 1 beside the encoder polynomial, it is the identity of Bai et al. 2009."""

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
    """Path of further pairs to learn from, a bilingual dictionary, parallel text or a translation table: one file, or a
    pattern of several. Each line holds a text in the query language and a text in the document language, tab-separated,
    perhaps with a weight; `docs/formats.md` has the forms of other tables."""
    pairs_weight: PairsWeight = 1.0
    """How often each pair of `pairs` counts beside a train pair; multiplied by its own weight, if it has one."""
    title_pairs: bool = False
    """Whether to learn also from the titles of pages about the same thing, from the dumps of `data.wikipedia`. The
    titles of pages that only eval and test queries are about are left out."""
    title_pairs_weight: PairsWeight = 1.0
    """How often each of these pairs of titles counts beside a train pair."""
    translator: TranslatorSettings | None = None
    """The machine translator from the document language into the query language, whose translations of the collection's
    sentences are learned from."""
    translations_weight: PairsWeight = 0.1
    """How often each pair of a sentence and its translation counts beside a train pair."""
    sha256: LexiconDigests = LexiconDigests()
    """Expected digest of `pairs`; every run fills it in in its resolved configuration."""

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
