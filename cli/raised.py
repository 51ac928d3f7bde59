"""What an exception tells of: the exceptions behind it, and those of which runners pass on the words alone."""

import builtins
import re
from collections.abc import Iterator
from typing import NamedTuple

_OURS = {
    one.__name__
    for one in (ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError, TypeError)
} | {"RecursionError", "NotImplementedError", "SyntaxError", "ValueError"}
_ENDS = "(?:[Ee]rror|Exception|Interrupt|Exit|BadGzipFile)"
"""How the names of exceptions end that matter here."""
_TRACEBACK = "Traceback (most recent call last):\n"


class Raised(NamedTuple):
    """An exception, or what is left of one in words.

    Example:
      >>> [*raised_in(RuntimeError("OSError: [Errno 13] Permission denied: '/x' [while running 'Write']"))][1]
      Raised(names=('OSError', 'Exception', 'BaseException'), text="[Errno 13] Permission denied: '/x'", error=None)
    """

    names: tuple[str, ...]
    """Of its class and the classes above; that of one of ours, or of a library's, with its module's."""
    text: str
    """What it says."""
    error: BaseException | None
    """Itself; None where there are words alone."""

    @property
    def is_a_slip(self) -> bool:
        """Whether code is wrong that raises such a one, as far as its class tells."""
        return not _OURS.isdisjoint(self.names)


def raised_in(error: BaseException) -> Iterator[Raised]:
    """An exception, those that its words tell of, and those behind it, the last that was raised first.

    What was handled when a slip was made is not behind it, unless the slip was made of it (`raise ... from`).
    """
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        raised = Raised(_names(type(one)), str(one), one)
        yield from _with_words(raised)
        may_follow = not (raised.is_a_slip or one.__suppress_context__)
        one = one.__cause__ or (one.__context__ if may_follow else None)


def _with_words(raised: Raised) -> Iterator[Raised]:
    """An exception, and those that its words tell of, which are then theirs and not its own."""
    words = [] if raised.is_a_slip else list(_in_words(raised.text))
    yield raised._replace(text="") if words else raised
    yield from words


def _in_words(text: str) -> Iterator[Raised]:
    """The exceptions that a text names at its start, or at the end of a traceback, the last first."""
    for part in reversed(text.split(_TRACEBACK)):
        said = without_step(re.split(r"\n\n(?:During handling|The above exception)", part)[0])
        # Of a traceback's lines the first that is not indented; what follows belongs to its message.
        found = re.search(rf"^([A-Za-z_][\w.]*{_ENDS})(?:: (.*))?\Z", said, re.MULTILINE | re.DOTALL)
        if found:
            kind = getattr(builtins, found[1], None)
            names = _names(kind) if isinstance(kind, type) else (found[1],)
            yield from _with_words(Raised(names, found[2] or "", None))


def without_step(text: str) -> str:
    """What was said, without the steps of Beam that it went through."""
    return re.sub(r"(?: \[while running '[^\n]*'\])+\s*\Z", "", text).rstrip()


def _names(kind: type) -> tuple[str, ...]:
    above = (one for one in kind.__mro__ if one is not object)
    return tuple(one.__name__ if one.__module__ == "builtins" else f"{one.__module__}.{one.__name__}" for one in above)
