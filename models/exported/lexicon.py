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
    weight: float


class StemTranslations(JsonRecord):
    """A stem of queries and its translations, best first; the stem itself is not among them."""

    stem: str
    translations: tuple[Translation, ...]

    @classmethod
    def of(cls, outputs: _Arrays) -> "list[StemTranslations]":
        """Returns the translations of each stem, from the outputs of `translate`."""
        by_stem: dict[str, list[Translation]] = {}
        for stem, answer, weight in _entries(outputs):
            answers = by_stem.setdefault(stem, [])
            if answer != stem:
                answers.append(Translation(stem=answer, weight=weight))
        return [cls(stem=stem, translations=(*answers,)) for stem, answers in by_stem.items()]


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
