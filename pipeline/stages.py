"""What runners tell of the stages they run."""

from typing import Literal, NamedTuple

How = Literal["run", "cached", "restored"]
"""A restored stage came from the cache, but files of it were lost, and it was repeated to bring them back."""


class StageEnd(NamedTuple):
    """A stage that is done."""

    number: int
    total: int
    name: str
    how: How
    seconds: float
