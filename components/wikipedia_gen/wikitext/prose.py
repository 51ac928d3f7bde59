"""The paragraphs of prose of a page."""

import re
from typing import Final, NamedTuple

from components.wikipedia_gen.wikitext.conventions import Conventions
from components.wikipedia_gen.wikitext.without_elements import MARK

_DEEPEST: Final = 6
_RULE: Final = re.compile("-{4,}")
_NO_WORDS: Final = f" \t{MARK}"


class Prose(NamedTuple):
    """A page's paragraphs, with their line ends, bold, italics, tags and entities."""

    lead: list[str]
    sections: list[str]
    """The paragraphs below the first heading."""
    has_sections: bool
    """Whether there is a heading at all: the lead is complete."""


def prose(skeleton: str, conventions: Conventions) -> Prose:
    """The paragraphs of a page that are prose.

    A paragraph is a run of lines. Left out are lists, indented lines (hatnotes, formulas, quotations), rows of
    tables that lost their beginning, lines that are in italics as a whole (hatnotes made by hand), headings, and the
    sections that `Conventions.skipped_headings` names, with those below them.

    Args:
      skeleton: what `skeleton` makes of the page.
      conventions: of the wiki.

    Example:
      >>> from components.wikipedia_gen.wikitext.conventions import conventions_for
      >>> prose("A is\\nb.\\n* c\\n== D ==\\nE.\\n== See also ==\\nF.", conventions_for("en", {}))
      Prose(lead=['A is\\nb.'], sections=['E.'], has_sections=True)
    """
    lead: list[str] = []
    sections: list[str] = []
    paragraphs = lead
    lines: list[str] = []
    skipped_level = 0
    for raw in [*skeleton.split("\n"), ""]:
        line = raw.strip(_NO_WORDS)
        level = _level_of(line) if line[:1] == "=" else 0
        if line and not level and not _is_no_prose(line):
            if not skipped_level:
                # The marks stay: the shells of what was dropped go with them later.
                lines.append(raw.strip())
            continue
        if lines and (line or not raw.strip()):
            paragraphs.append("\n".join(lines))
            lines = []
        if level:
            paragraphs = sections
            if not skipped_level or level <= skipped_level:
                skipped_level = level if _name_of(line[level:-level]) in conventions.skipped_headings else 0
    return Prose(lead, sections, paragraphs is sections)


def _level_of(line: str) -> int:
    """A heading's level: how many equals signs stand at both ends, a name between them; 0 if it is none."""
    before, behind = (len(line) - len(rest) for rest in (line.lstrip("="), line.rstrip("=")))
    return min(before, behind, (len(line) - 1) // 2, _DEEPEST)


def _is_no_prose(line: str) -> bool:
    """Whether a line is a list's, a table's, a rule or a hatnote."""
    if line[0] in "*#:;|":
        return True
    if line[0] == "'" and line.startswith("''") and line.endswith("''") and line[2:3] != "'":
        return "''" not in line[2:-2]
    return line[0] == "-" and _RULE.match(line) is not None


def _name_of(heading: str) -> str:
    """A heading as the conventions list it."""
    return heading.replace("'", "").replace("’", "").replace(MARK, "").strip().lower()
