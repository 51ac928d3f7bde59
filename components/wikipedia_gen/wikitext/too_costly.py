"""A page that passes a limit."""

from enum import Enum


class Limit(Enum):
    """What a page may hold, so that none takes long; a page's limits are known before its text is cleaned."""

    LEAD = "a lead of more than {:,} characters"
    OPEN_MARKUP = "more than {:,} templates, tables and links that stand open at one place"


class TooCostly(Exception):  # noqa: N818  it is a fate of a page, counted by its limit, and no error of anybody's
    """A page passes a limit.

    Args:
      limit: the one.
      most: what it allows.

    Attributes:
      limit: the one.
    """

    def __init__(self, limit: Limit, most: int) -> None:
        super().__init__(limit.value.format(most))
        self.limit = limit
