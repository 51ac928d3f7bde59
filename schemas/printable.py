"""Text of users' files and libraries as a terminal may show it."""

import re


def printable(text: str, most: int) -> str:
    """A text on one line, without control sequences, and no longer than `most` characters.

    Tabs and line ends become spaces; any other character that cannot be printed becomes a sign for that: an escape
    sequence could colour, move or overwrite what stands on the screen.

    Example:
      >>> printable("a\\x1b[31mred\\tone", most=8)
      'a\ufffd[31mre…'
    """
    text = re.sub(r"[\t\r\n]", " ", text[: most + 1])
    shown = "".join(character if character.isprintable() else "\ufffd" for character in text)
    return shown if len(shown) <= most else shown[:most] + "…"
