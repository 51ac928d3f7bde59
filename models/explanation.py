"""What a score is made of: channels, and words that match."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from models.exported import words_channel
from models.ranker import SCORES
from schemas.json_record import JsonRecord


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


def explain_scores(model: Any, query: str, documents: Sequence[str]) -> list[tuple[ScorePart, ...]]:
    """The parts of documents' scores, whose sum is the score; that of words that match is the last.

    Args:
      model: an exported model.
      query: a text.
      documents: texts, none of them empty.
    """
    signatures = model.signatures
    lists = signatures["score"](query=tf.constant([query]), documents=tf.constant([documents], tf.string))
    scores = {name: of_lists.numpy()[0].tolist() for name, of_lists in lists.items()}
    total = scores.pop(SCORES)
    channels = scores or {SCORES: total}  # a model of an earlier version names no channel
    weights = signatures["channel_weights"]() if "channel_weights" in signatures else dict.fromkeys(channels, 1.0)
    words = words_channel(model)
    return [
        tuple(
            ScorePart(
                name=name,
                part=float(weights[name]) * of_documents[place],
                words=_words(signatures["explain"], query, document, float(weights[name])) if name == words else (),
            )
            for name, of_documents in sorted(channels.items(), key=lambda one: (one[0] == words, one[0]))
        )
        for place, document in enumerate(documents)
    ]


def _words(explain: Any, query: str, document: str, weight: float) -> tuple[WordPart, ...]:
    found = explain(query=tf.constant(query), document=tf.constant(document))
    columns = (found[name].numpy().tolist() for name in ("query_term", "document_term", "part"))
    parts = [
        WordPart(query_term=asked.decode(), document_term=answer.decode(), part=weight * part)
        for asked, answer, part in zip(*columns, strict=True)
    ]
    return tuple(sorted(parts, key=lambda one: one.part, reverse=True))
