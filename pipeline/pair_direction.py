"""The direction of pairs of texts: which of their columns is in which language, by the words of a collection."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from schemas.lexicon_pairs import TextPair

_FEWEST_PAIRS: Final = 10
"""Fewer pairs may show a direction by chance."""
_SHARE: Final = 0.8
"""The share of the pairs with a direction that must show the wrong one."""


def direction_fault(pairs: Sequence[TextPair], queries: Iterable[str], documents: Iterable[str]) -> str | None:
    """Returns an error message for pairs with swapped columns, or None.

    A pair shows a direction by the words and letters that only queries or only documents have. Languages that share
    nearly all of their words show none.

    Args:
      pairs: the pairs.
      queries, documents: texts of the collection.

    Example:
      >>> pairs = [TextPair(f"loup{number}", f"wolf{number}") for number in range(20)]
      >>> direction_fault(pairs, [pair.document for pair in pairs], [pair.query for pair in pairs])
      'the first column must be in the language of the queries; 20 of 20 pairs that show a direction have it second'
      >>> direction_fault(pairs, [pair.query for pair in pairs], [pair.document for pair in pairs])
    """
    query_features, document_features = _features(queries), _features(documents)
    only_queries, only_documents = query_features - document_features, document_features - query_features
    directions = [_direction(pair, only_queries, only_documents) for pair in pairs]
    right, wrong = (sum(sign * direction > 0 for direction in directions) for sign in (1, -1))
    if wrong < _FEWEST_PAIRS or wrong < _SHARE * (right + wrong):
        return None
    return (
        f"the first column must be in the language of the queries; {wrong:,} of {right + wrong:,} pairs that show a "
        "direction have it second"
    )


def _direction(pair: TextPair, query_features: frozenset[str], document_features: frozenset[str]) -> int:
    """Counts the features of a pair that show the right direction, less those that show the wrong one."""
    first, second = _features([pair.query]), _features([pair.document])
    right = len(first & query_features) + len(second & document_features)
    return right - len(first & document_features) - len(second & query_features)


def _features(texts: Iterable[str]) -> frozenset[str]:
    """The words of texts, and their letters, which are the words of scripts without spaces."""
    words = {word for text in texts for word in re.findall(r"[^\W\d_]+", text.casefold())}
    return frozenset(words | {letter for word in words for letter in word})
