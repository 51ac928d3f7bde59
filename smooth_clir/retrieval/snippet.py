"""Chooses the piece of a document's text that best shows why the document is a hit."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from models.exported.model import ExportedModel
from models.exported.signatures import as_texts
from schemas.json_record import JsonRecord

CHARACTERS: Final = 280
_MIN_SHARE: Final = 0.1
"""Smallest share of a marked word, relative to the largest; without a limit every article would be marked."""
_NEAR: Final = 60
"""A snippet that would begin within this many characters of the text's beginning begins there."""


class Piece(JsonRecord):
    """A piece of a snippet."""

    text: str
    is_match: bool
    """Whether the piece is a word that answers a word of the query."""


class Snippet(JsonRecord):
    """A piece of a document's text."""

    pieces: tuple[Piece, ...]
    """The pieces in order; together they are the snippet's text."""
    is_beginning: bool
    """Whether the snippet begins at the text's beginning."""
    is_end: bool
    """Whether the snippet ends at the text's end."""


class Word(NamedTuple):
    """A word of a text."""

    start: int
    """Position in characters from the text's beginning."""
    end: int
    term: str
    share: float
    """The part of the score that the word's term adds."""


def make_snippet(text: str, words: Sequence[Word], characters: int = CHARACTERS) -> Snippet:
    """Makes the snippet with the largest sum of shares, each term counted once.

    Args:
      text: a document's text.
      words: the text's words, in order and without overlap.
      characters: longest snippet; words are not cut.

    Example:
      >>> words = [Word(0, 4, "a", 0.0), Word(5, 9, "b", 0.5), Word(10, 14, "c", 0.0)]
      >>> [piece.text for piece in make_snippet("aaaa bbbb cccc", words, 9).pieces]
      ['aaaa ', 'bbbb']
    """
    min_share = max((word.share for word in words), default=0.0) * _MIN_SHARE
    matches = [word for word in words if word.share > 0 and word.share >= min_share]
    first, last = _best_stretch(matches, characters)
    begin, end = _window(text, words, first, last, characters)
    pieces, position = list[Piece](), begin
    for word in matches:
        if begin <= word.start and word.end <= end:
            pieces += [Piece(text=text[position : word.start], is_match=False)] if position < word.start else []
            pieces.append(Piece(text=text[word.start : word.end], is_match=True))
            position = word.end
    pieces += [Piece(text=text[position:end], is_match=False)] if position < end else []
    return Snippet(pieces=tuple(pieces), is_beginning=begin == 0, is_end=end == len(text))


def matching_words(model: ExportedModel, query: str, text: str) -> list[Word]:
    """Returns the scored words of a text with their shares.

    The shares come from the channel of words that match, or from the vectors if the model lacks this channel. A model
    without the signature `explain_words` gives no words.
    """
    if "explain_words" not in model.signatures:
        return []
    inputs = {"query": as_texts(query), "document": as_texts(text)}
    explained = model.call("explain_words", inputs)
    is_shown = explained["is_scored"].astype(bool) & (explained["start"] >= 0)
    start, end = (_characters(text)[explained[name][is_shown]].tolist() for name in ("start", "end"))
    if "explain" in model.signatures:
        added: defaultdict[bytes, float] = defaultdict(float)
        parts = model.call("explain", inputs)
        for stem, part in zip(parts["document_term"].tolist(), parts["part"].tolist(), strict=True):
            added[stem] += part
        terms = explained["stem"][is_shown].tolist()
        shares = [added[term] for term in terms]
    else:
        terms = explained["token"][is_shown].tolist()
        shares = explained["dense"][is_shown].tolist() if "dense" in explained else [0.0] * len(terms)
    return [*map(Word, start, end, (term.decode() for term in terms), shares)]


def _best_stretch(matches: Sequence[Word], characters: int) -> tuple[int, int]:
    """Returns the beginning and the end of the stretch with the best words."""
    best, stretch = 0.0, (0, 0)
    for number, first in enumerate(matches):
        terms, last = dict[str, float](), first
        for word in matches[number:]:
            if word.end - first.start > characters:
                break
            terms[word.term], last = word.share, word
        if (total := sum(terms.values())) > best:
            best, stretch = total, (first.start, last.end)
    return stretch


def _window(text: str, words: Sequence[Word], first: int, last: int, characters: int) -> tuple[int, int]:
    """Extends the stretch equally at both ends, without cutting words."""
    begin = max(0, first - max(0, characters - (last - first)) // 2)
    begin = 0 if last <= characters and begin < _NEAR else begin
    end = min(len(text), begin + characters)
    begin = 0 if begin == 0 else max(0, min(begin, end - characters))
    if begin > 0:
        begin = min((word.start for word in words if begin <= word.start <= first), default=first)
    if end < len(text):
        ends = [word.end for word in words if begin < word.end <= end]
        end = max(ends) if ends else _last_space(text, begin, end)
    return begin, end


def _last_space(text: str, begin: int, end: int) -> int:
    """Returns the end of the last whole word of a text without known words."""
    position = text.rfind(" ", begin + 1, end)
    return position if position > 0 else end


def _characters(text: str) -> npt.NDArray[Any]:
    """Returns the number of characters before each byte of a text's UTF-8, and before its end."""
    is_first_byte = (np.frombuffer(text.encode(), np.uint8) & 0xC0) != 0x80
    return np.concatenate([[0], np.cumsum(is_first_byte)])
