"""Explanations of scores: the parts of channels, and the shares of a document's words."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from models.choices import FEEDBACK
from schemas.json_record import JsonRecord

_Arrays = Mapping[str, npt.NDArray[Any]]

_COLUMNS: Final = ("query_term", "document_term", "part")


class WordPart(JsonRecord):
    """The part of a document's term in the score, as an answer to a term of the query."""

    query_term: str
    document_term: str
    part: float


class ScorePart(JsonRecord):
    """The part of a channel in a score: its weight times its score."""

    name: str
    part: float
    words: tuple[WordPart, ...] = ()
    """Parts of words that match, the largest first; empty for other channels."""


def feedback_part(added: float) -> ScorePart:
    """Returns the part of the second pass: the similarity to the first documents, see `models.lists.feedback`."""
    return ScorePart(name=FEEDBACK, part=added)


class DocumentWord(JsonRecord):
    """A word of a document and its shares in the score."""

    text: str
    """Text of the word in the document: `document[start:end]`."""
    start: int
    """Start in characters (code points)."""
    end: int
    dense: float | None
    """Share by the channels of vectors; None where it is not available."""
    lexicon: float | None
    """Share by the channel of words that match; None without that channel."""
    is_scored: bool
    """Whether the word is within the limit on a document's length; no word beyond it counts."""


class LexiconEntry(WordPart):
    """The part of a document's term, and the words of both texts that have these terms, each word once."""

    query_words: tuple[str, ...]
    document_words: tuple[str, ...]


class Explanation(JsonRecord):
    """The explanation of a document's score for a query."""

    parts: tuple[ScorePart, ...]
    """Parts of the channels, whose sum is the score; words that match are the last, detailed in `lexicon`. After them
    comes that of the second pass, `feedback`, for a document that a search with one found."""
    words: tuple[DocumentWord, ...]
    """Words of the document, in order and without overlap; the sums of their shares are the parts of the channels that
    have shares."""
    lexicon: tuple[LexiconEntry, ...]
    """Parts of words that match, the largest first."""
    without_shares: tuple[str, ...]
    """Names of the channels that have no shares of words: the part of each is one number for the whole text."""
    theta: tuple[float, ...]
    """Thresholds between the grades, on the scale of the vectors' part alone; empty where the loss has none."""
    notes: tuple[str, ...]
    """Notes for readers of the shares: missing shares, and the limits of their meaning."""


def score_parts(
    scores: Mapping[str, Sequence[float]], weights: Mapping[str, float], words: Sequence[_Arrays]
) -> list[tuple[ScorePart, ...]]:
    """Returns the parts of documents' scores.

    Args:
      scores: each channel's scores of the documents, in the channels' order.
      weights: each channel's weight.
      words: outputs of the signature `explain` for each document, which detail the last channel; or empty.
    """
    last = list(scores)[-1]
    return [
        tuple(
            ScorePart(
                name=name,
                part=weights[name] * channel_scores[row],
                words=_word_parts(words[row], weights[name]) if words and name == last else (),
            )
            for name, channel_scores in scores.items()
        )
        for row in range(len(scores[last]))
    ]


def _word_parts(outputs: _Arrays, weight: float) -> tuple[WordPart, ...]:
    """Returns the parts of words that match, the largest first."""
    parts = [
        WordPart(query_term=query_term.decode(), document_term=answer.decode(), part=weight * part)
        for query_term, answer, part in zip(*(outputs[name].tolist() for name in _COLUMNS), strict=True)
    ]
    return tuple(sorted(parts, key=lambda part: part.part, reverse=True))


def explanation_of(
    query: str,
    document: str,
    outputs: _Arrays,
    parts: tuple[ScorePart, ...],
    theta: tuple[float, ...],
    has_words: bool,
) -> Explanation:
    """Makes the explanation of a document's score.

    A word without offsets of its own (see `models.texts.token_offsets`) is counted with the word before it, in which it
    begins.

    Args:
      query, document: the texts.
      outputs: outputs of the signature `explain_words` for them.
      parts: of the score, see `score_parts`.
      theta: the thresholds between the grades.
      has_words: whether the last part is that of words that match.
    """
    query_tokens, document_tokens = _Words.of(query, outputs, "query_"), _Words.of(document, outputs, "")
    is_scored = outputs["is_scored"].astype(bool)
    dense = outputs["dense"].astype(float) if "dense" in outputs else None
    matching = parts[-1] if has_words else None
    entries = matching.words if matching else ()
    lexicon = _shares(entries, document_tokens.terms, is_scored) if matching else None
    names = [part.name for part in parts if part is not matching]
    without_shares = tuple(names if dense is None else _names(outputs))
    dense_of, lexicon_of = (None if shares is None else document_tokens.sums(shares) for shares in (dense, lexicon))
    query_words, document_words = query_tokens.by_term(), document_tokens.by_term()
    return Explanation(
        parts=tuple(ScorePart(name=part.name, part=part.part) for part in parts),
        words=tuple(
            DocumentWord(
                text=document_tokens.texts[row],
                start=int(document_tokens.start[row]),
                end=int(document_tokens.end[row]),
                dense=None if dense_of is None else float(dense_of[row]),
                lexicon=None if lexicon_of is None else float(lexicon_of[row]),
                is_scored=bool(is_scored[row]),
            )
            for row in np.unique(document_tokens.owner[document_tokens.owner >= 0])
        ),
        lexicon=tuple(
            LexiconEntry(
                **entry.model_dump(),
                query_words=query_words.get(entry.query_term, ()),
                document_words=document_words.get(entry.document_term, ()),
            )
            for entry in entries
        ),
        without_shares=without_shares,
        theta=theta,
        notes=tuple(_notes(names, without_shares, int(np.sum(~is_scored)))),
    )


class _Words(NamedTuple):
    """The words of a text, from the outputs of `explain_words`."""

    start: npt.NDArray[np.int64]
    """Start of each word, in characters."""
    end: npt.NDArray[np.int64]
    """End of each word, in characters."""
    owner: npt.NDArray[np.int64]
    """Row of the word with which each word is counted: itself, or a word before it; -1 for none."""
    texts: list[str]
    """Text of that word, as it stands in the whole text."""
    shown: list[str]
    """The same, but whole pairs of characters, whose offsets are those of the first character."""
    terms: list[str]
    """Terms of the channel of words that match."""

    @classmethod
    def of(cls, text: str, outputs: _Arrays, side: str) -> "_Words":
        """Reads the outputs whose names begin with `side`."""
        starts, ends = (outputs[f"{side}{name}"].astype(np.int64) for name in ("start", "end"))
        owner = np.maximum.accumulate(np.where(starts >= 0, np.arange(len(starts)), -1))
        is_first_byte = (np.frombuffer(text.encode(), np.uint8) & 0xC0) != 0x80
        characters = np.concatenate([[0], np.cumsum(is_first_byte)])
        start, end = (characters[np.maximum(offsets, 0)] for offsets in (starts, ends))
        texts = [text[start[row] : end[row]] if row >= 0 else "" for row in owner]
        tokens = [token.decode() for token in outputs[f"{side}token"].tolist()]
        shown = [
            token if len(token) > len(text) and owner[row] == row else text
            for row, (text, token) in enumerate(zip(texts, tokens, strict=True))
        ]
        return cls(start, end, owner, texts, shown, [term.decode() for term in outputs[f"{side}stem"].tolist()])

    def by_term(self) -> dict[str, tuple[str, ...]]:
        """Returns the words of each term, each word once."""
        term_texts: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for text, term in zip(self.shown, self.terms, strict=True):
            if text:
                term_texts[term][text] = None
        return {term: tuple(texts) for term, texts in term_texts.items()}

    def sums(self, shares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Returns the share of each word together with the words that are counted with it."""
        is_owned = self.owner >= 0
        return np.bincount(self.owner[is_owned], shares[is_owned], len(self.owner)).astype(np.float64)


def _shares(
    entries: Sequence[WordPart], terms: Sequence[str], is_scored: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float64]:
    """Returns each document word's share as an answer; words of one term share its part equally."""
    count = Counter(term for term, scored in zip(terms, is_scored, strict=True) if scored)
    sums: defaultdict[str, float] = defaultdict(float)
    for entry in entries:
        sums[entry.document_term] += entry.part
    return np.array([sums[term] / count[term] if known else 0.0 for term, known in zip(terms, is_scored, strict=True)])


def _names(outputs: _Arrays) -> list[str]:
    """Returns the names of the channels whose words have no shares."""
    return [name.decode() for name in outputs["without_shares"].tolist()] if "without_shares" in outputs else []


def _notes(channels: Sequence[str], without_shares: Sequence[str], unscored: int) -> list[str]:
    shared = " + ".join(name for name in channels if name not in without_shares)
    notes = []
    if shared:
        notes.append(
            f"{shared}: the shares of words add up to its part; without a word, those of the others would change, too."
        )
    if without_shares:
        named = " + ".join(without_shares)
        notes.append(f"{named}: the shares of words are not available, because the vectors are not sums over words.")
    if unscored:
        notes.append(f"limit: the last words, {unscored} of them, lie beyond the limit on a text and are not scored.")
    return notes
