"""Names by which configurations, models and reports call the parts of a score, and the baselines. Importing this file
imports no TensorFlow."""

from typing import Any, Final

import pydantic
from pydantic import ValidatorFunctionWrapHandler, WrapValidator

FEEDBACK: Final = "feedback"
"""The name of the second pass among the parts of a score."""
FITTED: Final = "fitted"
HELD_OUT: Final = "held_out"
FIRST_WEIGHT: Final = 0.5
"""The weight of a channel during training, where its weight is fitted afterwards."""


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


RIVALS: Final = (
    "tfidf", "translated", "query_expansion", "lsi", "lsi_mixed", "cl_lsi", "cl_lsi_mixed", "perceptron", "hash_kernel",
    "structured_queries", "cl_lsi_lexicon", "bm25_stems", "translated_bm25", "translated_rm3",
)  # fmt: skip
"""The rankers that Bai et al. 2009 compare with, two of the lexicon, and BM25 on stems, also of machine translated
queries, as baselines by their names; see `models.rivals.rank_lists`."""
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

ENCODER: Final = "encoder"
"""The kind, and the name, of the channel of a pre-trained encoder without a head."""
