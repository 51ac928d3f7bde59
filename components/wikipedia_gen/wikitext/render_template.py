"""A template's text, for the few that are part of a sentence."""

import re
from typing import Final

from components.wikipedia_gen.wikitext.conventions import Conventions

_PLACE: Final = re.compile(r"\{([^{}]+)\}")


def render_template(content: str, conventions: Conventions) -> str | None:
    """The text of a template, or None if nothing of it is kept.

    Args:
      content: what stands between its braces, in which other templates and links are text by now.
      conventions: of the wiki.

    Example:
      >>> from components.wikipedia_gen.wikitext.conventions import conventions_for
      >>> render_template("convert|5|km|mi", conventions_for("en", {}))
      '5 km'
    """
    name, bar, rest = content.partition("|")
    pattern = conventions.kept_template(name)
    if pattern is None:
        # A parser function has its first argument after a colon.
        name, colon, first = name.partition(":")
        pattern = conventions.kept_template(f"{name}:") if colon else None
        if pattern is None:
            return None
        rest, bar = f"{first}{bar}{rest}", "|"
    if "{" not in pattern:
        return pattern
    arguments = _arguments(rest) if bar else {}
    for choice in pattern.split("|"):
        places = _PLACE.findall(choice)
        if all(place in arguments for place in places):
            return _PLACE.sub(lambda found: arguments[found[1]], choice)
    return None


def _arguments(rest: str) -> dict[str, str]:
    """A template's arguments that are not empty, those without a name by their number."""
    arguments: dict[str, str] = {}
    number = 0
    for argument in rest.split("|"):
        # An attribute in a tag has an equals sign, too.
        name, equals, value = argument.partition("=")
        if not equals or "<" in name:
            number += 1
            name, value = str(number), argument
        if value := value.strip():
            arguments[name.strip().lower()] = value
    return arguments
