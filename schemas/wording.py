"""Text for people: users' text made safe to show, and estimates in round numbers."""

import math
import re
from typing import Final


def printable(text: str, limit: int) -> str:
    """A text on one line, without control sequences, and no longer than `limit` characters.

    Tabs and line ends become spaces; all other unprintable characters become a sign, because an escape sequence could
    colour, move or overwrite text on a screen.

    Example:
      >>> printable("a\\x1b[31mred\\tone", limit=8)
      'a\ufffd[31mre…'
    """
    text = re.sub(r"[\t\r\n]", " ", text[: limit + 1])
    shown = "".join(character if character.isprintable() else "\ufffd" for character in text)
    return shown if len(shown) <= limit else shown[:limit] + "…"


_PREAMBLE: Final = ("Graph execution error", "Detected at node", "<stack traces")
"""First lines of TensorFlow's messages, before the line with the cause."""


def first_line(message: object) -> str:
    """Returns the first line of a message that names the cause, without its full stop; empty if it has none.

    Example:
      >>> first_line("Graph execution error:\\n\\n  No space left.\\n  at line 7")
      'No space left'
    """
    lines = (line.strip() for line in str(message).splitlines())
    return next((line for line in lines if line and not line.startswith(_PREAMBLE)), "").rstrip(".")


def first_bytes(text: str, max_bytes: int) -> str:
    """Cuts a text to `max_bytes` bytes of UTF-8, at the end of a character.

    Example:
      >>> first_bytes("abc", max_bytes=2), first_bytes("aéé", max_bytes=4)
      ('ab', 'aé')
    """
    return text.encode()[:max_bytes].decode(errors="ignore")


def rounded(number: float) -> int:
    """A number, rounded to two digits.

    Example:
      >>> rounded(1_234_567)
      1200000
    """
    return int(round(number, 1 - int(math.log10(max(number, 1)))))


def rounded_size(count: float) -> str:
    """A number of bytes in words.

    Example:
      >>> rounded_size(1_234_567_890), rounded_size(12_345_678)
      ('1.2 GB', '12 MB')
    """
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{max(count / 1e6, 1):.0f} MB"


def rounded_duration(seconds: float) -> str:
    """A number of seconds in words.

    Example:
      >>> [rounded_duration(seconds) for seconds in (0.2, 80, 100, 1_000, 10_000)]
      ['1 s', '80 s', '1.7 min', '17 min', '2.8 h']
    """
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    if seconds < 570:
        return f"{seconds / 60:.1f} min"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def relevant_percentage(share: float) -> str:
    """A share of relevant documents for a person; an estimate is never 0 % or 100 %.

    Example:
      >>> relevant_percentage(0.824), relevant_percentage(0.001), relevant_percentage(0.999)
      ('82 % relevant', '<1 % relevant', '>99 % relevant')
    """
    percent = round(100 * share)
    return f"{'<1' if percent < 1 else '>99' if percent > 99 else percent} % relevant"
