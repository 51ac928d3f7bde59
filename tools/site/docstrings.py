"""Rewrites this project's docstrings for Griffe: section titles that it knows, text that Markdown keeps."""

import re
from typing import Any

import griffe

TITLES = {
    "Call arguments:": "Args: Call arguments:",
    "Example:": "Examples: Example:",
    "Outputs:": "Attributes: Outputs:",
}
"""Section titles that Griffe does not know, as a known kind with a title of its own."""


def for_markdown(line: str) -> str:
    """Keeps `<q, d>` from being a tag and `[lists][list_size]` from being a reference, outside code.

    >>> for_markdown("<g(q), g(d)> of [lists][list_size], `a < b`")
    '&lt;g(q), g(d)> of [lists]\\\\[list_size], `a < b`'
    """
    if line.startswith("    ") or ">>>" in line:
        return line
    parts = re.split(r"(`[^`]*`)", line)
    parts[::2] = [re.sub(r"<(?=[\w/!])", "&lt;", part).replace("][", r"]\[") for part in parts[::2]]
    return "".join(parts)


def for_griffe(docstring: str) -> str:
    """Rewrites a docstring for Griffe's parser and for Markdown."""
    return "\n".join(TITLES.get(line) or for_markdown(line) for line in docstring.splitlines())


class Docstrings(griffe.Extension):
    """Rewrites every docstring once, before it is parsed."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Rewrites the docstring of a module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = for_griffe(obj.docstring.value)
