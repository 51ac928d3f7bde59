"""Batches of texts for what counts their words."""

from collections.abc import Iterable, Iterator
from typing import Final

from schemas.sharded_texts import Text

_LENGTH: Final = 1 << 24
"""Of the texts of a batch: some 150 MB with all that is made of them. The larger it is, the fewer words come anew."""


def text_batches(texts: Iterable[Text]) -> Iterator[list[Text]]:
    """Texts in lists, each of which ends with the text that fills it."""
    batch: list[Text] = []
    length = 0
    for text in texts:
        batch.append(text)
        length += len(text)
        if length >= _LENGTH:
            yield batch
            batch, length = [], 0
    if batch:
        yield batch
