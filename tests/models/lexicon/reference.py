"""The lexicon's formulas in dictionaries and loops, with which `models/lexicon` is compared."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log, sqrt

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

TEXTS = st.lists(st.sampled_from("abcde"), max_size=8)
"""Their words are stems, and the two languages share them."""
PAIRS = st.lists(st.tuples(TEXTS, TEXTS), max_size=6)

K1, B = 1.2, 0.75

Text = Sequence[str]
"""Its terms."""
Table = Mapping[str, Mapping[str, float]]
"""Weights of document terms, by query terms."""


def model_1(pairs: Iterable[tuple[Text, Text]], iterations: int = 5) -> Table:
    """The shares of model 1, before anything is left out; NULL, which no text holds, is the empty term."""
    pairs = list(pairs)
    t: dict[tuple[str, str], float] = defaultdict(lambda: 1.0)
    expected: dict[tuple[str, str], float] = {}
    occurrences = Counter(q for query, _ in pairs for q in set(query))
    for _ in range(iterations):
        generated: dict[str, float] = defaultdict(float)
        for (_, w), value in expected.items():
            generated[w] += value
        for (q, w), value in expected.items():
            smoothed = (value + 0.01) / (generated[w] + 0.01 * len(occurrences))
            t[q, w] = smoothed**2 / t[q, w]
        expected = defaultdict(float)
        for query, document in pairs:
            counts = Counter(document) + Counter([""])
            for q in set(query):
                total = sum(count * t[q, w] for w, count in counts.items())
                for w, count in counts.items():
                    expected[q, w] += count * t[q, w] / total
    table: dict[str, dict[str, float]] = {}
    for (q, w), value in expected.items():
        if w:
            table.setdefault(q, {})[w] = value / occurrences[q]
    return table


def kept(table: Table, min_share: float, max_shares: int) -> Table:
    """The largest shares of each term, to nine decimals; ties by the other term."""
    kept_shares = {}
    for q, shares in table.items():
        rounded = {w: round(share, 9) for w, share in shares.items() if round(share, 9) >= min_share}
        if rounded:
            kept_shares[q] = dict(sorted(rounded.items(), key=lambda entry: (-entry[1], entry[0]))[:max_shares])
    return kept_shares


def translations(pairs: Iterable[tuple[Text, Text]]) -> Table:
    """A: model 1 in both directions, joined."""
    pairs = list(pairs)
    forward = kept(model_1(pairs), 0.001, 200)
    backward = kept(model_1([(document, query) for query, document in pairs]), 0.001, 200)
    table: dict[str, dict[str, float]] = {}
    for q, shares in forward.items():
        powers = {w: share**0.6 * backward[w][q] ** 0.4 for w, share in shares.items() if q in backward.get(w, {})}
        table[q] = {w: sum(shares.values()) * power / sum(powers.values()) for w, power in powers.items()}
    return kept(table, 0.005, 50)


@dataclass(frozen=True)
class Reference:
    """The statistics of a collection, and the scores that follow from them.

    Attributes:
      documents: of the collection.
      table: A.
    """

    documents: Sequence[Text]
    table: Table = field(default_factory=dict)

    @property
    def mean_length(self) -> float:
        return sum(map(len, self.documents)) / max(len(self.documents), 1)

    def translation(self, q: str, w: str) -> float:
        """T[q, w]."""
        return max(self.table.get(q, {}).get(w, 0.0), float(q == w))

    def frequency(self, q: str, document: Text) -> float:
        """tf'(q, d)."""
        return sum(self.translation(q, w) for w in document)

    def document_frequency(self, q: str) -> float:
        """df'(q)."""
        return sum(min(1.0, self.frequency(q, document)) for document in self.documents)

    def idf(self, q: str) -> float:
        frequency = self.document_frequency(q)
        return log(1 + (len(self.documents) - frequency + 0.5) / (frequency + 0.5))

    def score(self, query: Text, document: Text) -> float:
        """The score of `StructuredQueries`."""
        norm = K1 * (1 - B + B * len(document) / (self.mean_length or 1))
        frequencies = {q: self.frequency(q, document) for q in query}
        parts = [self.idf(q) * tf * (K1 + 1) / (tf + norm) for q, tf in frequencies.items()]
        return sum(parts) / max(len(parts), 1)

    def cosine(self, query: Text, document: Text) -> float:
        """The score of `TfIdf`."""
        first, second = (
            {
                w: count * log((len(self.documents) + 1) / (sum(w in held for held in self.documents) + 0.5))
                for w, count in Counter(text).items()
            }
            for text in (query, document)
        )
        norms = [sqrt(sum(weight**2 for weight in vector.values())) for vector in (first, second)]
        return sum(first[w] * second[w] for w in first.keys() & second.keys()) / (norms[0] * norms[1] or 1)


def cl_lsi(
    pairs: Sequence[tuple[Text, Text]],
    texts: tuple[Sequence[Text], Sequence[Text]],
    dim: int,
    query: Text,
    document: Text,
) -> float:
    """The cosine of a query and a document in the space of cross-language latent semantic indexing.

    Args:
      pairs: query and MR document.
      texts: the distinct queries and the distinct documents of the train lists, by which terms are weighted.
      dim: length of the vectors.
      query, document: the texts to compare.
    """
    idfs = [
        {t: log((len(side) + 1) / (sum(t in text for text in side) + 0.5)) for text in side for t in text}
        for side in texts
    ]
    terms = [sorted({t for pair in pairs for t in pair[side]}) for side in (0, 1)]

    def weights(text: Text, side: int) -> npt.NDArray[np.float64]:
        return np.array([text.count(t) * idfs[side][t] for t in terms[side]])

    def unit(vector: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return vector / (np.linalg.norm(vector) or 1.0)

    rows = np.array([unit(np.concatenate([weights(pair[side], side) for side in (0, 1)])) for pair in pairs])
    space = np.linalg.svd(rows, full_matrices=False)[2][:dim].T
    u, v = space[: len(terms[0])], space[len(terms[0]) :]
    return float(unit(weights(query, 0) @ u) @ unit(weights(document, 1) @ v))
