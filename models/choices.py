"""Names of the parts of a score and of the baselines in configurations, models and reports. Importing this file does
not import TensorFlow."""

from typing import Any, Final

import pydantic
from pydantic import ValidatorFunctionWrapHandler, WrapValidator

FEEDBACK: Final = "feedback"
"""The name of the second pass among the parts of a score."""
FITTED: Final = "fitted"
HELD_OUT: Final = "held_out"
FEW_LISTS: Final = 100
"""With fewer train lists, vectors seldom add to matching words, and their fitted weight is 0; see
docs/design/models.md."""
FIRST_WEIGHT: Final = 0.5
"""The weight during training of a channel whose weight is fitted afterwards."""


def in_one_sentence(values: str) -> WrapValidator:
    """Makes a validator that describes a wrong value in one sentence, where Pydantic has a sentence for each type.

    Args:
      values: the allowed values, in words.
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
"""The names of the baselines: the rankers that Bai et al. 2009 compare with, two rankers by the lexicon, and BM25 on
stems, also of machine-translated queries; see `models.rivals.rank_lists`."""
COLLECTION_RIVALS: Final = ("bm25_stems", "translated_bm25", "translated_rm3")
"""The baselines that need statistics of the whole collection."""
MACHINE_TRANSLATING: Final = ("translated_bm25", "translated_rm3")
"""The baselines that need a translator."""
ACROSS_LANGUAGES: Final = ("translated", "structured_queries", "cl_lsi_lexicon", *MACHINE_TRANSLATING)
"""The baselines that need two languages."""
TRANSLATING: Final = (
    "translated", "structured_queries", "cl_lsi_lexicon", "query_expansion", "lsi", "lsi_mixed", "cl_lsi_mixed",
)  # fmt: skip
"""The baselines that use the lexicon where documents have another language."""

SCORES: Final = "scores"
"""The name of the sum among the scores of its channels."""
FIRST_PASS: Final = "first_pass"
"""The name of the sum before a second pass, among the same scores."""

WITH_VECTORS: Final = "_with_vectors"
"""The end of the name of an exported model's signature that takes texts with their vectors by a pre-trained encoder."""

ENCODER: Final = "encoder"
"""The kind and the name of the channel of a pre-trained encoder without a head."""
