"""Passages: overlapping parts of a long document, each with an id of its own, which are trained on and searched for."""

from typing import Annotated, Final

from pydantic import Field, ValidationInfo, field_validator

from schemas.settings import Settings

_SEPARATOR: Final = "\x1f"
"""The unit separator, which no id holds, because Python counts it as white space."""


class PassageSettings(Settings):
    """The passages of a document; see `models.texts.passages.split_passages`."""

    words: Annotated[int, Field(ge=1, lt=2**31)]
    """Number of words of a passage, counted as for `data.max_document_tokens`; the last passage may have fewer."""
    overlap: Annotated[int, Field(ge=0, lt=2**31)] = 0
    """Number of words that a passage shares with the next, less than `words`."""

    @field_validator("overlap")
    @classmethod
    def _advances(cls, overlap: int, info: ValidationInfo) -> int:
        if overlap >= info.data.get("words", overlap + 1):
            raise ValueError(f"must be less than words, or no passage would end; got {overlap}")
        return overlap


def passage_id(doc_id: str, number: int) -> str:
    """Returns the id of a document's passage, from its number, from 0.

    Example:
      >>> document_of(passage_id("d1", 3)), passage_number(passage_id("d1", 3)), passage_number("d1")
      ('d1', 3, None)
    """
    return f"{doc_id}{_SEPARATOR}{number}"


def document_of(identifier: str) -> str:
    """Returns the document of a passage's id; a document's own id stays as it is."""
    return identifier.partition(_SEPARATOR)[0]


def passage_number(identifier: str) -> int | None:
    """Returns the number of a passage by its id; None for a document's own id."""
    number = identifier.partition(_SEPARATOR)[2]
    return int(number) if number else None


def readable_id(identifier: str) -> str:
    """Returns the id of a passage without a control character, for other programs; a document's own id stays as it is.

    Example:
      >>> readable_id(passage_id("d1", 3)), readable_id("d1")
      ('d1#3', 'd1')
    """
    return identifier.replace(_SEPARATOR, "#")


def is_first_passage(identifier: str) -> bool:
    """Whether an id is that of a document's first passage, or of a whole document."""
    return not passage_number(identifier)
