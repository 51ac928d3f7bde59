"""Settings of word vectors and of the second pass. Importing this file does not import TensorFlow."""

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from models.choices import FITTED, in_one_sentence
from schemas.settings import InputPath, Settings


class EmbeddingDigests(Settings):
    """SHA-256 of the tables in hexadecimal, held in a resolved configuration and checked by a rerun."""

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
    """Train the pre-trained vectors further; false keeps them unchanged, and leaves out all other words."""
    sha256: EmbeddingDigests = EmbeddingDigests()
    """Expected digests of the tables; every run writes them into its resolved configuration."""


class WordTableSource(Settings):
    """The source of a language's word vectors, and limits on them."""

    path: str
    """Path of the file."""
    sha256: str
    """Expected digest of the file, in hexadecimal."""
    width: int
    """Length of a vector."""
    most_words: int
    """Number of words after which reading stops."""
    max_bad_share: float
    """Largest allowed share of bad entries."""
    train: bool
    """Whether the vectors are trained further."""
    segmented: bool = False
    """Whether words are split only at white space."""


class FeedbackSettings(Settings):
    """The second pass of every ranking (pseudo-relevance feedback), which raises documents similar to the best
    documents of the first pass."""

    gain: Annotated[
        Annotated[float, Field(ge=0, le=1e6)] | Literal["fitted"],
        in_one_sentence(f"a number from 0 to 1e6, or {FITTED}"),
    ] = 0.0
    """Weight of the second pass in the score; 0: no second pass; fitted: the best of 0, 2, 4, 8, 12, 20, 30 and 50 on
    the eval split, by ndcg_5 + 0.1 p_mr_1, and 0 unless another adds 0.002; fitted after the weights of the channels.
    Needs a `channels.lexicon` and a scorer that an index can search. `--feedback` tries other values on a pushed
    model."""
    documents: Literal[1, 2, 3, 5, "fitted"] = 2
    """Number of the best documents of the first pass that count as relevant; fitted: the best of 1, 2, 3 and 5 on the
    eval split."""

    @field_validator("documents")
    @classmethod
    def _check_documents(cls, documents: int | str, info: ValidationInfo) -> int | str:
        if documents == FITTED and info.data.get("gain") == 0:
            raise ValueError(f"must be a number where feedback.gain is 0, which takes no documents; got {documents}")
        return documents
