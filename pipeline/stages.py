"""What runners tell of the stages they run."""

from typing import NamedTuple


class StageEnd(NamedTuple):
    """A stage that is done."""

    number: int
    total: int
    name: str
    cached: bool
    seconds: float
