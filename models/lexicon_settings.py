"""Settings of the channel beside the vectors. Importing this file does not import TensorFlow."""

from typing import Annotated, Literal

from pydantic import Field

from schemas.settings import Settings


class LexiconSettings(Settings):
    """A second channel of the score, of words that match: the score is the similarity's plus its weight times this."""

    kind: Literal["lexicon", "bm25", "tfidf", "none"] = "none"
    """What scores words that match: lexicon (translations learned from the train pairs; probabilistic structured
    queries), bm25 or tfidf (equal words), or none, which leaves the similarity alone."""
    weight: Annotated[float, Field(ge=0, le=1e12)] | Literal["fitted"] = 0.5
    """Weight of the channel; fitted: the best on the eval split of 0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8 and 1.2, by
    NDCG@5 + 0.1 P_mr@1."""
    pairs: Annotated[str | None, Field(min_length=1)] = None
    """Path of further pairs to learn from, a bilingual dictionary or parallel text: query-language text and
    document-language text, tab-separated; of one file, or a pattern of several. For the kind lexicon alone."""
    sha256: str | None = None
    """Digest that `pairs` must have; filled in by every run in its resolved configuration."""
