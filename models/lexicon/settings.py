"""Settings of the channel of words that match. Importing this file does not import TensorFlow."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, ValidationInfo, field_validator

from models.choices import ChannelWeightSetting
from models.translators.settings import TranslatorSettings
from schemas.settings import InputPath, Settings

PairsWeight: TypeAlias = Annotated[float, Field(gt=0, le=1e6)]
"""How often a pair of texts counts beside a train pair."""


class LexiconDigests(Settings):
    """SHA-256 digests of input files in hexadecimal; a resolved configuration holds them, and a rerun checks them."""

    pairs: str | None = None
    """Digest of `lexicon.pairs`."""


class LexiconSettings(Settings):
    """The channel of words that match. The score is the similarity plus `weight` times this channel's score."""

    kind: Literal["lexicon", "bm25", "tfidf", "none"] = "none"
    """Scorer of words that match: lexicon (translations learned from the train pairs; probabilistic structured
    queries), bm25 or tfidf (equal words), or none for the similarity alone."""
    weight: ChannelWeightSetting = 0.5
    """Weight of the channel; fitted: the best of 0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.2, 2, 3, 4, 6, 8, 12 and
    16 on the eval split, by ndcg_5 + 0.1 p_mr_1; held_out: the best on the eval split of each training domain, in the
    mean over domains, with a ranker and a lexicon that have not seen it."""
    in_training: bool = False
    """Whether the channel counts in the training's loss, with its weight; 0.5 where that is fitted. With the kind tfidf
    and the weight 1 beside the encoder polynomial, it is the identity of Bai et al. 2009."""
    pairs: Annotated[str | None, Field(min_length=1), InputPath("pairs")] = None
    """Path of further pairs to learn from, a bilingual dictionary, parallel text or a translation table: one file, or a
    pattern of several. Each line holds a text in the query language and a text in the document language, tab-separated,
    perhaps with a weight; `docs/formats.md` has the forms of other tables. Only for the kind lexicon."""
    pairs_weight: PairsWeight = 1.0
    """How often each pair of `pairs` counts beside a train pair; multiplied by its own weight, if it has one."""
    title_pairs: bool = False
    """Whether to learn also from the titles of pages about the same thing, from the dumps of `data.wikipedia`. The
    titles of pages that only eval and test queries are about are left out. Only for the kind lexicon."""
    title_pairs_weight: PairsWeight = 1.0
    """How often each of these pairs of titles counts beside a train pair."""
    translator: TranslatorSettings = TranslatorSettings()
    """The machine translator from the document language into the query language, whose translations of the collection's
    sentences are learned from."""
    translations_weight: PairsWeight = 0.1
    """How often each pair of a sentence and its translation counts beside a train pair."""
    sha256: LexiconDigests = LexiconDigests()
    """Expected digest of `pairs`; every run fills it in in its resolved configuration."""

    @field_validator("pairs")
    @classmethod
    def _check_pairs(cls, pairs: str | None, info: ValidationInfo) -> str | None:
        kind = info.data.get("kind", "lexicon")
        if pairs is not None and kind != "lexicon":
            raise ValueError(f"must be null for the kind {kind}, which learns nothing; got {pairs!r}")
        return pairs

    @field_validator("in_training")
    @classmethod
    def _check_in_training(cls, in_training: bool, info: ValidationInfo) -> bool:
        if in_training and info.data.get("kind", "none") == "none":
            raise ValueError("must be false for the kind none, which is no channel; got true")
        return in_training

    @field_validator("title_pairs")
    @classmethod
    def _check_title_pairs(cls, title_pairs: bool, info: ValidationInfo) -> bool:
        kind = info.data.get("kind", "lexicon")
        if title_pairs and kind != "lexicon":
            raise ValueError(f"must be false for the kind {kind}, which learns nothing; got true")
        return title_pairs

    @field_validator("translator")
    @classmethod
    def _check_translator(cls, translator: TranslatorSettings, info: ValidationInfo) -> TranslatorSettings:
        kind = info.data.get("kind", "lexicon")
        if translator.kind != "none" and kind != "lexicon":
            raise ValueError(f"kind must be none for lexicon.kind {kind}, which learns nothing; got {translator.kind}")
        return translator

    @field_validator("pairs_weight", "title_pairs_weight")
    @classmethod
    def _check_pairs_weights(cls, weight: float, info: ValidationInfo) -> float:
        key = str(info.field_name).removesuffix("_weight")
        if weight != 1 and key in info.data and not info.data[key]:
            raise ValueError(f"must be 1 without lexicon.{key}, which it weighs; got {weight:g}")
        return weight

    @field_validator("translations_weight")
    @classmethod
    def _check_translations_weight(cls, weight: float, info: ValidationInfo) -> float:
        default = cls.model_fields["translations_weight"].default
        if weight != default and "translator" in info.data and info.data["translator"].kind == "none":
            raise ValueError(f"must be {default} without lexicon.translator, which makes translations; got {weight:g}")
        return weight
