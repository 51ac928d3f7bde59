"""Splits long documents into passages."""

from collections.abc import Iterator

import numpy as np
import tensorflow as tf

from models.texts.token_offsets import tokenize_with_offsets
from models.texts.tokens import word_parts
from schemas.passages import PassageSettings, passage_id
from schemas.wikiclir import Text
from schemas.word_characters import PARTS
from schemas.word_rules import WordRules


def passages_of(document: Text, passages: PassageSettings, segmented: bool) -> Iterator[Text]:
    """Yields the passages of a document, each with its title and its line; see `split_passages`."""
    for number, text in enumerate(split_passages(document.text, passages, segmented)):
        yield document._replace(id=passage_id(document.id, number), text=text)


def split_passages(text: str, passages: PassageSettings, segmented: bool = False) -> list[str]:
    """Splits a text into overlapping passages of equal numbers of words, which together hold all of it.

    A passage begins `words - overlap` words after the one before it, and the last ends with the text. As for the limit
    on a text's words, the short words of scripts without spaces count for less than one (see `models.texts.tokens`).

    Args:
      text: a text.
      passages: the lengths.
      segmented: whether white space alone parts words.

    Returns:
      the passages in order, without white space at their ends; a short text is a single passage.

    Example:
      >>> split_passages("One, two. Three four five!", PassageSettings(words=3, overlap=1))
      ['One, two. Three', 'Three four five!']
    """
    if len(text) <= passages.words:  # a word has at least one character
        return [text]
    rules = WordRules(segmented=segmented)
    words = tokenize_with_offsets(tf.constant(text), rules)
    is_located = words.start.numpy() >= 0
    starts, parts = words.start.numpy()[is_located], word_parts(words.tokens, rules).numpy()
    before = (np.cumsum(parts) - parts)[is_located]
    length, step = PARTS * passages.words, PARTS * (passages.words - passages.overlap)
    number = 1 + max(0, -(-(int(parts.sum()) - length) // step))
    content = text.encode()
    offsets = np.append(starts, len(content))
    # The first word at or behind each bound; the ends of the text are its own.
    first, end = (offsets[np.searchsorted(before, step * np.arange(number) + offset)] for offset in (0, length))
    bounds = zip([0, *first[1:].tolist()], [*end[:-1].tolist(), len(content)], strict=True)
    parts_of_text = (content[begin:stop].decode().strip() for begin, stop in bounds)
    # A part of words without offsets is empty.
    return [part for part in parts_of_text if part] or [text]
