"""Turns a paragraph without templates and links into plain text."""

import html
import re
from typing import Final

from smooth_clir.wikipedia.wikitext.conventions import Conventions
from smooth_clir.wikipedia.wikitext.markup import MARK, keep_group

_EXTERNAL: Final = re.compile(r"\[(?:https?:|ftp:|mailto:|news:|irc:)?//([^\[\]\n]*)\]", re.IGNORECASE)
_BLOCKS: Final = frozenset(
    "blockquote br center dd div dl dt hr li ol p poem table tbody td th thead tr ul h1 h2 h3 h4 h5 h6".split()
)
_TAGS: Final = sorted(
    _BLOCKS
    | frozenset(
        """
        a abbr b bdi bdo big caption cite code data del dfn em embed font i ins kbd mark noinclude nowiki onlyinclude q
        rb rbc rp rt rtc ruby s samp section small span strike strong sub sup time tt u var wbr ref references gallery
        includeonly math translate tvar languages indicator
        """.split()
    )
)
_TAG: Final = re.compile(rf"</?({'|'.join(_TAGS)})\b[^<>]*>", re.IGNORECASE)
_SWITCH: Final = re.compile(r"__\w+?__")
# Controls, soft hyphens, word joiners, direction marks. Keeps other joiners, which belong to words in some scripts.
_INVISIBLE: Final = re.compile(
    "[\x01-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ud800-\udfff\ufeff]"
)
_MARKUP: Final = re.compile(r"\[\[|\]\]|\{\{|\}\}|</?ref\b[^<>]*>?", re.IGNORECASE)

# A reference was between the word and the comma; no language has a space there.
_SPACE_BEFORE: Final = re.compile(r" ([,.،。、])(?= |$)")


def plain_inline(paragraph: str, conventions: Conventions) -> str:
    """Returns the text of a paragraph, on a single line.

    Args:
      paragraph: a paragraph from `prose`.
      conventions: the wiki's conventions.

    Example:
      >>> from smooth_clir.wikipedia.wikitext.conventions import conventions_for
      >>> plain_inline("The '''[http://a.example Ain]'''<br>is&nbsp;H<sub>2</sub>O.", conventions_for("en", {}))
      'The Ain is H2O.'
    """
    text = "\n".join(map(without_quotes, paragraph.split("\n"))) if "''" in paragraph else paragraph
    if "//" in text:
        # An external link without a text shows a number, which is left out.
        text = _EXTERNAL.sub(lambda match: match[1].partition(" ")[2], text)
    if "<" in text:
        text = _TAG.sub(lambda match: " " if match[1].lower() in _BLOCKS else "", text)
    if "__" in text:
        # A switch is in capitals, or in a script without them.
        text = _SWITCH.sub(lambda match: "" if match[0] == match[0].upper() else match[0], text)
    if "&" in text:
        text = html.unescape(text)
    if not text.isprintable():
        text = _INVISIBLE.sub("", text.replace("\u200b", " "))  # the zero-width space parts words
    text = without_shells(text, conventions)
    # Entities may spell markup, and removals may have joined it; no text should look like markup.
    if _MARKUP.search(text):
        text = _MARKUP.sub(" ", text)
    return keep_group(_SPACE_BEFORE, " ".join(text.split()))


_QUOTES: Final = re.compile("('{2,})")


def without_quotes(line: str) -> str:
    """Removes the apostrophes of bold and italics from a line.

    As in MediaWiki, the first of four apostrophes is text, and so are all but the last five of more than five. If both
    bold and italics stay open, a bold mark is read as an apostrophe and italics, preferably after a word of one letter.

    Example:
      >>> without_quotes("L''''Ain''' est l'''Isère'' des ''Alpes''.")
      "L'Ain est l'Isère des Alpes."
    """
    if "''" not in line:
        return line
    parts = _QUOTES.split(line)
    bold, italics = [], 0
    for index in range(1, len(parts), 2):
        length = len(parts[index])
        if length == 4 or length > 5:
            parts[index - 1] += "'" * (1 if length == 4 else length - 5)
            length = 3 if length == 4 else 5
        if length != 2:
            bold.append(index)
        italics += length != 3
        parts[index] = "'" * length
    if len(bold) % 2 and italics % 2 and (marks := [index for index in bold if len(parts[index]) == 3]):
        parts[min(marks, key=lambda index: _rank(parts[index - 1])) - 1] += "'"
    return "".join(parts[::2])


def _rank(before: str) -> int:
    """Ranks a bold mark by the text before it: the lowest rank is most likely an apostrophe and italics."""
    if before[-1:] == " ":
        return 2
    return 0 if before[-2:-1] == " " else 1


_PARENTHESIS: Final = re.compile(r"\(([^()（）]*)\)|（([^()（）]*)）")
_SEPARATOR: Final = re.compile(r"([;,،؛；、，])")
_MAX_NESTED: Final = 3
# In brackets or between slashes, with a sign that only phonetic writing has: U+0250 to U+02AF, stress and length marks.
_PHONETIC: Final = re.compile(r"\[[^\[\]]*\]|/[^/\[\]]*[ɐ-ʯˈˌː][^/\[\]]*/")
_PHONETIC_SIGN: Final = re.compile("[ɐ-ʯˈˌː]")
_EMPTY: Final = re.compile(r"[\s;,:.،؛；、，–—-]*")
_BETWEEN_COMMAS: Final = re.compile(rf"([,،、，;；])\s?{MARK}[\s{MARK}]*[,،、，;；]")
_GAP: Final = re.compile(rf"\s*{MARK}[\s{MARK}]*(?P<sign>(?<!\s)[,.;:!?)،؛؟。、，）»”]|)")
_NO_WORDS: Final = f" \n{MARK}"


def without_shells(text: str, conventions: Conventions) -> str:
    """Removes what a dropped template leaves empty (parentheses, commas, spaces), and pronunciations.

    A parenthesis is read as parts between commas and semicolons. A part is removed
      - if only punctuation is left in it,
      - if a template was dropped there, and the rest ends with a colon ("French:") or has only words that lead up to
        such templates ("born", "pronounced");
      - if it contains phonetic writing in brackets or between slashes;
    and the parenthesis is removed with its last part.

    Args:
      text: a text with a `MARK` in place of each template.
      conventions: the wiki's conventions, for the words.

    Example:
      >>> from smooth_clir.wikipedia.wikitext.conventions import conventions_for
      >>> without_shells("France (French: [fʁɑ̃s]; \\0, born 5 May) is \\0.", conventions_for("en", {}))
      'France (born 5 May) is.'
    """
    for _ in range(_MAX_NESTED):
        if "(" not in text and "（" not in text:
            break
        cleaned = _PARENTHESIS.sub(lambda match: _kept(match, conventions), text)
        if cleaned == text:
            break
        text = cleaned
    if MARK in text:
        text = _GAP.sub(_closed, keep_group(_BETWEEN_COMMAS, text))
    return text


def _kept(match: re.Match[str], conventions: Conventions) -> str:
    """Returns the rest of a parenthesis; a mark if nothing is left."""
    whole = match[0]
    content = whole[1:-1]
    if MARK not in content and not _PHONETIC_SIGN.search(content) and not _EMPTY.fullmatch(content):
        return whole
    parts = _SEPARATOR.split(content)
    kept = ""
    for index in range(0, len(parts), 2):
        part = parts[index]
        if not _is_shell(part, conventions):
            kept += (parts[index - 1] if kept else "") + part
    return f"{whole[0]}{kept.strip(_NO_WORDS)}{whole[-1]}" if kept else MARK


def _is_shell(part: str, conventions: Conventions) -> bool:
    """Returns whether a part of a parenthesis says nothing."""
    if phonetic := _PHONETIC.search(part):
        return bool(_PHONETIC_SIGN.search(phonetic[0])) or MARK in phonetic[0]
    text = part.replace(MARK, " ")
    if _EMPTY.fullmatch(text):
        return True
    if MARK not in part:
        return False
    return part.rstrip(f" {MARK}").endswith((":", "：")) or all(
        word in conventions.shell_words for word in text.lower().split()
    )


def _closed(match: re.Match[str]) -> str:
    """Returns the replacement of a dropped template: a space if there was a space, but none before punctuation."""
    if match["sign"]:
        return match["sign"]
    return " " if match[0].strip(MARK) else ""
