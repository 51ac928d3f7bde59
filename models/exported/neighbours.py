"""The words whose vectors lie nearest to a word's (Bai et al. 2009, Table 5)."""

import os
from collections.abc import Collection, Sequence
from itertools import islice
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.exported.model import LoadedModel
from models.exported.signatures import as_texts
from schemas import features as f
from schemas.byte_streams import raw_lines
from schemas.errors import DataError
from schemas.json_record import JsonRecord

Side = Literal["query", "document"]

_BATCH: Final = 4096
_VOCABULARY_OF: Final[dict[Side, str]] = {"query": f.QUERY_VOCABULARY, "document": f.DOCUMENT_VOCABULARY}
_OTHER: Final[dict[Side, Side]] = {"query": "document", "document": "query"}

_Vectors = npt.NDArray[np.float32]


class Neighbour(JsonRecord):
    """A word near another."""

    word: str
    value: float
    """Distance of the two vectors, or their inner product."""


class Neighbours(JsonRecord):
    """The words nearest to a word; both are empty where the model does not know it."""

    word: str
    own_side: tuple[Neighbour, ...]
    """Words of its own side, queries or documents, by the Euclidean distance of the vectors, the nearest first."""
    other_side: tuple[Neighbour, ...]
    """Words of the other side by the inner product with its vector, the score of a text of each word alone, the largest
    first."""


def nearest_words(model: LoadedModel, words: Sequence[str], side: Side, limit: int) -> list[Neighbours]:
    """Finds the words of the vocabularies that lie nearest to each word.

    A word's vector is that of a text of this word alone: a column of the matrices U and V of Polynomial Semantic
    Indexing.

    Args:
      model: its score must have vectors, `encode_query` and `encode_document`.
      words: words of queries or of documents, as `side` says.
      side: see `words`.
      limit: the largest number of words in each list.

    Raises:
      DataError: a vocabulary is missing.
    """
    if model.encoder_record and not model.encoder_record.encoder.is_in_graph:
        raise DataError(
            f"{model} must hold its pre-trained encoder, for the vectors of all words are needed; the encoder is of "
            f"the kind {model.encoder_record.encoder.kind}."
        )
    own, opposite = (_Vocabulary(model, vocabulary_side) for vocabulary_side in (side, _OTHER[side]))
    neighbours = []
    for word, vector in zip(words, _encode(model, side, words), strict=True):
        if not vector.any():
            neighbours.append(Neighbours(word=word, own_side=(), other_side=()))
            continue
        # Only the model knows its own rules of words.
        outputs = model.call("explain_words", {"query": as_texts(word), "document": as_texts(word)})
        itself = {token.decode() for token in outputs["token"].tolist()}
        distances = np.linalg.norm(own.vectors - vector, axis=1)
        neighbours.append(
            Neighbours(
                word=word,
                own_side=own.first(distances, distances, limit, itself),
                other_side=opposite.first(-(opposite.vectors @ vector), opposite.vectors @ vector, limit),
            )
        )
    return neighbours


class _Vocabulary:
    """The known words of a side, and their vectors."""

    def __init__(self, model: LoadedModel, side: Side) -> None:
        path = os.path.join(model.path, tf.saved_model.ASSETS_DIRECTORY, _VOCABULARY_OF[side])
        if not tf.io.gfile.exists(path):
            raise DataError(f"{model} must hold the words of the {side} side; {path} is missing.")
        with tf.io.gfile.GFile(path, "rb") as file:
            self._words = [word.decode() for word in raw_lines(file)]
        self.vectors = _encode(model, side, self._words)

    def first(
        self, order: _Vectors, values: _Vectors, limit: int, left_out: Collection[str] = ()
    ) -> tuple[Neighbour, ...]:
        """Returns the words with the lowest values of an order; of equal values, the most frequent words first."""
        rows = (row for row in np.argsort(order, kind="stable").tolist() if self._words[row] not in left_out)
        return tuple(Neighbour(word=self._words[row], value=float(values[row])) for row in islice(rows, limit))


def _encode(model: LoadedModel, side: Side, texts: Sequence[str]) -> _Vectors:
    """Returns the vectors of texts: float32 [texts, dim]."""
    signature = f"encode_{side}"
    parts = [
        model.call(signature, {side: as_texts(texts[start : start + _BATCH])})["vector"]
        for start in range(0, len(texts), _BATCH)
    ]
    vectors: _Vectors = np.concatenate(parts)
    return vectors
