"""Settings of the channel beside the vectors. Importing this file does not import TensorFlow."""

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from models.choices import ChannelWeightSetting
from schemas.settings import InputPath, Settings


class LexiconDigests(Settings):
    """SHA-256 in hexadecimal; a resolved configuration holds it, and a rerun checks it."""

    pairs: str | None = None
    """Of `lexicon.pairs`."""


class LexiconSettings(Settings):
    """A second channel of the score, of words that match: the score is the similarity's plus its weight times this."""

    kind: Literal["lexicon", "bm25", "tfidf", "none"] = "none"
    """What scores words that match: lexicon (translations learned from the train pairs; probabilistic structured
    queries), bm25 or tfidf (equal words), or none, which leaves the similarity alone."""
    weight: ChannelWeightSetting = 0.5
    """Weight of the channel; fitted: of 0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8 and 1.2 the best on the eval split,
    by ndcg_5 + 0.1 p_mr_1."""
    pairs: Annotated[str | None, Field(min_length=1), InputPath("pairs")] = None
    """Path of further pairs to learn from, a bilingual dictionary or parallel text: query-language text and
    document-language text, tab-separated; of one file, or a pattern of several. For the kind lexicon alone."""
    title_pairs: bool = False
    """Learn also from the titles of pages about the same thing, which the dumps of `data.wikipedia` give; those of
    pages in eval and test lists are not among them. For the kind lexicon alone."""
    sha256: LexiconDigests = LexiconDigests()
    """Digest that `pairs` must have; filled in by every run in its resolved configuration."""

    @field_validator("pairs")
    @classmethod
    def _pairs_are_learned_from(cls, pairs: str | None, info: ValidationInfo) -> str | None:
        kind = info.data.get("kind", "lexicon")
        if pairs is not None and kind != "lexicon":
            raise ValueError(f"must be null for the kind {kind}, which learns nothing; got {pairs!r}")
        return pairs

    @field_validator("title_pairs")
    @classmethod
    def _titles_are_learned_from(cls, title_pairs: bool, info: ValidationInfo) -> bool:
        kind = info.data.get("kind", "lexicon")
        if title_pairs and kind != "lexicon":
            raise ValueError(f"must be false for the kind {kind}, which learns nothing; got true")
        return title_pairs
