"""The lexicon of an exported model, from the outputs of its signatures: translations, and statistics of documents."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from schemas.json_record import JsonRecord

_Arrays = Mapping[str, npt.NDArray[Any]]


class Translation(JsonRecord):
    """A stem of documents that answers a stem of queries."""

    stem: str
    words: tuple[str, ...] = ()
    """The most frequent words with this stem in the training's documents; empty if the stem is the only one, and in
    models of earlier releases."""
    weight: float


class StemTranslations(JsonRecord):
    """A stem of queries and its translations, best first; the stem itself is not among them."""

    stem: str
    is_known: bool | None = None
    """Whether the lexicon has the stem, of a query or of a document; None in models of earlier releases."""
    equal: Translation
    """The equal stem of documents, which always matches, with the weight 1."""
    translations: tuple[Translation, ...]

    @classmethod
    def of(
        cls, outputs: _Arrays, words: Mapping[str, tuple[str, ...]], known: Mapping[str, bool]
    ) -> "list[StemTranslations]":
        """Returns the translations of each stem.

        Args:
          outputs: those of `translate`.
          words: document stem to its words.
          known: whether the lexicon has a stem.
        """
        by_stem: dict[str, dict[str, Translation]] = {}
        for stem, answer, weight in _entries(outputs):
            translation = Translation(stem=answer, words=words.get(answer, ()), weight=weight)
            by_stem.setdefault(stem, {})[answer] = translation
        return [
            cls(stem=stem, is_known=known.get(stem), equal=answers.pop(stem), translations=(*answers.values(),))
            for stem, answers in by_stem.items()
        ]


class ModelStatistics(NamedTuple):
    """Statistics of the documents that a model's lexicon was made of."""

    kind: str
    """Kind of the lexicon."""
    documents: int
    mean_length: float
    """Mean length of a document, in terms."""
    document_frequency: dict[bytes, float]
    """Document frequency of every term that the lexicon knows."""

    @classmethod
    def of(cls, kind: str, outputs: _Arrays) -> "ModelStatistics":
        """Returns the statistics of a kind of lexicon, from the outputs of `collection_statistics`."""
        frequencies = outputs["document_frequency"].astype(np.float64).tolist()
        frequency = dict(zip(outputs["term"].tolist(), frequencies, strict=True))
        return cls(kind, int(outputs["documents"]), float(outputs["mean_length"]), frequency)


def translation_weights(outputs: _Arrays) -> dict[tuple[str, str], float]:
    """Returns the weight of each translation by (query stem, document stem), from the outputs of `translate`.

    A stem also answers itself, with the weight 1; this is left out.
    """
    # The shortest decimal of a float32 has no digits that the model does not have.
    return {
        (stem, answer): float(str(np.float32(weight))) for stem, answer, weight in _entries(outputs) if answer != stem
    }


def _entries(outputs: _Arrays) -> Iterator[tuple[str, str, float]]:
    """Yields query stem, document stem and weight of each translation."""
    columns = (outputs[name].tolist() for name in ("query_term", "document_term", "weight"))
    for stem, answer, weight in zip(*columns, strict=True):
        yield stem.decode(), answer.decode(), weight
