"""A case of bad input."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

AT_ONCE: Final = "Refused before anything runs"
BY_THE_RUN: Final = "Refused by the run"
LEFT_OUT: Final = "Counted and left out"
ACCEPTED: Final = "Accepted"

RUN: Final = ("run", "run.yaml")

Make = Callable[[Path], None]


@dataclass(frozen=True)
class Case:
    """One kind of bad input.

    Attributes:
      name: of its test.
      wrong: a sentence for people: what is wrong.
      treatment: what becomes of it, one of the four above.
      make: spoils the good collection in a folder (see `write_collection`).
      says: texts that the message must hold.
      arguments: of `clir`, in that folder.
      most_bytes: the size beyond which no file can grow, where the case needs a process of its own.
      varies: a pattern of numbers that differ between versions of Python; the page has … for them.
    """

    name: str
    wrong: str
    treatment: str
    make: Make
    says: tuple[str, ...] = ()
    arguments: tuple[str, ...] = RUN
    most_bytes: int | None = None
    varies: str = "(?!)"
