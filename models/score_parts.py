"""The parts of a score: channels, and words that match."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from models.callable_model import CallableModel
from models.ranker import SCORES
from schemas.json_record import JsonRecord

_COLUMNS: Final = ("query_term", "document_term", "part")


class WordPart(JsonRecord):
    """What a term of a document adds to the score, as an answer to a term of the query."""

    query_term: str
    document_term: str
    part: float


class ScorePart(JsonRecord):
    """A part of a score: that of a channel, its weight times its score."""

    name: str
    part: float
    words: tuple[WordPart, ...] = ()
    """Of a channel of words that match: its parts in turn, the largest first."""


def score_parts(model: CallableModel, query: str, documents: Sequence[str]) -> list[tuple[ScorePart, ...]]:
    """The parts of documents' scores, whose sum is the score; that of words that match is the last.

    Args:
      model: an exported model, here or in a TF Serving.
      query: a text.
      documents: texts, none of them empty.
    """
    lists = model.call("score", {"query": as_texts([query]), "documents": as_texts([documents])})
    scores = {name: of_lists[0].tolist() for name, of_lists in lists.items()}
    total = scores.pop(SCORES)
    channels = scores or {SCORES: total}  # a model of an earlier version names no channel
    weights: dict[str, Any] = dict.fromkeys(channels, 1.0)
    words = None
    if len(channels) > 1:
        weights = model.call("channel_weights", {})
        if "words_channel" in model.signatures:
            words = np.asarray(model.call("words_channel", {})["name"]).item().decode()
    return [
        tuple(
            ScorePart(
                name=name,
                part=float(weights[name]) * of_documents[place],
                words=_words(model, query, document, float(weights[name])) if name == words else (),
            )
            for name, of_documents in sorted(channels.items(), key=lambda one: (one[0] == words, one[0]))
        )
        for place, document in enumerate(documents)
    ]


def as_texts(texts: Any) -> npt.NDArray[Any]:
    """A text, or lists of texts, as a model takes them."""
    return np.array(texts, object)


def _words(model: CallableModel, query: str, document: str, weight: float) -> tuple[WordPart, ...]:
    found = model.call("explain", {"query": as_texts(query), "document": as_texts(document)})
    parts = [
        WordPart(query_term=asked.decode(), document_term=answer.decode(), part=weight * part)
        for asked, answer, part in zip(*(found[name].tolist() for name in _COLUMNS), strict=True)
    ]
    return tuple(sorted(parts, key=lambda one: one.part, reverse=True))
