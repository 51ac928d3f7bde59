"""The parts of a score: channels, and words that match."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from models.exported.model import CallableModel
from models.rankers.ranker import SCORES
from schemas.errors import DataError
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


class DocumentWord(JsonRecord):
    """A word of a document and its shares in the score."""

    text: str
    """As it stands in the document: `document[start:end]`."""
    start: int
    """Characters (code points) from the document's beginning."""
    end: int
    dense: float | None
    """What it adds by the channels of vectors; None where that is not available."""
    lexicon: float | None
    """What it adds by the channel of words that match; None where there is none."""
    is_scored: bool
    """Whether it is within the limit on a document's length: no word beyond it counts."""


class LexiconEntry(WordPart):
    """What a term of a document adds, and the words that have these terms, as they stand in the texts, each once."""

    query_words: tuple[str, ...]
    document_words: tuple[str, ...]


class Explanation(JsonRecord):
    """Why a document has its score for a query."""

    parts: tuple[ScorePart, ...]
    """Of the channels, whose sum is the score; that of words that match is the last, and is told in `lexicon`."""
    words: tuple[DocumentWord, ...]
    """Those of the document, in its order and without overlap. The sums of their shares are the channels' parts."""
    lexicon: tuple[LexiconEntry, ...]
    """What words that match add, the largest first."""
    theta: tuple[float, ...]
    """The thresholds between the grades, on the scale of the parts of vectors alone; empty where the loss has none."""
    notes: tuple[str, ...]
    """What a reader of the shares must know: what is not available, and what they do not tell."""


def explain_document(model: CallableModel, query: str, document: str) -> Explanation:
    """Why a document has its score for a query.

    A word without a place of its own (see `models.texts.tokens`) is counted with the word before it, within whose
    characters it begins.

    Args:
      model: an exported model, here or in a TF Serving.
      query: a text.
      document: a text, not empty.

    Raises:
      DataError: the model cannot explain words.
    """
    if "explain_words" not in model.signatures:
        raise DataError(
            "the model must have the signature explain_words to tell the shares of words; those of earlier versions, "
            "and those whose score is no inner product, lack it. A new `clir run` exports one."
        )
    (parts,) = score_parts(model, query, [document])
    found = model.call("explain_words", {"query": as_texts(query), "document": as_texts(document)})
    asked, held = _Words.of(query, found, "query_"), _Words.of(document, found, "")
    is_scored = found["is_scored"].astype(bool)
    dense = found["dense"].astype(float) if "dense" in found else None
    matching = parts[-1] if "explain" in model.signatures else None
    entries = matching.words if matching else ()
    lexicon = _shares(entries, held.terms, is_scored) if matching else None
    names = [part.name for part in parts if part is not matching]
    dense_of, lexicon_of = (None if one is None else held.sums(one) for one in (dense, lexicon))
    query_words, document_words = asked.by_term(), held.by_term()
    return Explanation(
        parts=tuple(ScorePart(name=part.name, part=part.part) for part in parts),
        words=tuple(
            DocumentWord(
                text=held.texts[place],
                start=int(held.start[place]),
                end=int(held.end[place]),
                dense=None if dense_of is None else float(dense_of[place]),
                lexicon=None if lexicon_of is None else float(lexicon_of[place]),
                is_scored=bool(is_scored[place]),
            )
            for place in np.unique(held.owner[held.owner >= 0])
        ),
        lexicon=tuple(
            LexiconEntry(
                **entry.model_dump(),
                query_words=query_words.get(entry.query_term, ()),
                document_words=document_words.get(entry.document_term, ()),
            )
            for entry in entries
        ),
        theta=tuple(model.call("grade_bands", {})["theta"].tolist()) if "grade_bands" in model.signatures else (),
        notes=tuple(_notes(" + ".join(names), dense is not None, int(np.sum(~is_scored)))),
    )


class _Words(NamedTuple):
    """The words of a text, as `explain_words` tells them."""

    start: npt.NDArray[np.int64]
    """In characters."""
    end: npt.NDArray[np.int64]
    owner: npt.NDArray[np.int64]
    """The place, among the words, of the one with which each is counted: itself, or the one before; -1 for none."""
    texts: list[str]
    """As that one stands in the text."""
    terms: list[str]
    """Those of the channel of words that match."""

    @classmethod
    def of(cls, text: str, found: Mapping[str, npt.NDArray[Any]], side: str) -> "_Words":
        """Of the outputs whose names begin so."""
        starts, ends = (found[f"{side}{name}"].astype(np.int64) for name in ("start", "end"))
        owner = np.maximum.accumulate(np.where(starts >= 0, np.arange(len(starts)), -1))
        is_first_byte = (np.frombuffer(text.encode(), np.uint8) & 0xC0) != 0x80
        characters = np.concatenate([[0], np.cumsum(is_first_byte)])
        start, end = (characters[np.maximum(one, 0)] for one in (starts, ends))
        texts = [text[start[place] : end[place]] if place >= 0 else "" for place in owner]
        return cls(start, end, owner, texts, [term.decode() for term in found[f"{side}stem"].tolist()])

    def by_term(self) -> dict[str, tuple[str, ...]]:
        """The words that have each term, each once."""
        found: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for text, term in zip(self.texts, self.terms, strict=True):
            if text:
                found[term][text] = None
        return {term: tuple(texts) for term, texts in found.items()}

    def sums(self, shares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The shares of each word, with those that are counted with it."""
        is_owned = self.owner >= 0
        return np.bincount(self.owner[is_owned], shares[is_owned], len(self.owner)).astype(np.float64)


def _shares(
    entries: Sequence[WordPart], terms: Sequence[str], is_scored: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float64]:
    """What each word of a document adds as an answer: those of one term alike."""
    count = Counter(term for term, one in zip(terms, is_scored, strict=True) if one)
    added: defaultdict[str, float] = defaultdict(float)
    for entry in entries:
        added[entry.document_term] += entry.part
    return np.array([added[term] / count[term] if one else 0.0 for term, one in zip(terms, is_scored, strict=True)])


def _notes(dense: str, is_available: bool, unscored: int) -> list[str]:
    notes = [
        f"{dense}: the shares of words add up to its part; without a word, those of the others would change, too."
        if is_available
        else f"{dense}: the shares of words are not available, for this model's vectors are no sums over words."
    ]
    if unscored:
        notes.append(f"limit: the last words, {unscored} of them, lie beyond the limit on a text and are not scored.")
    return notes
