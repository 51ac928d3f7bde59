"""A page's wikitext without what is no wikitext: comments, formulas, code."""

import re
from typing import Final

from components.wikipedia_gen.wikitext.without_elements import MARK, Elements, without_elements

# A comment that never ends takes the rest of the page.
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)

_NOWIKI: Final = "nowiki"
# No later step takes these for markup, until entities are decoded.
_AS_ENTITIES: Final = {ord(sign): f"&#{ord(sign)};" for sign in "&<>[]{}|'=*#:;_"} | {ord("\n"): " "}
_RAW: Final = Elements(
    """
    nowiki includeonly math chem ce pre syntaxhighlight source timeline score hiero graph mapframe maplink templatedata
    templatestyles
    """.split()
)


def visible(wikitext: str) -> str:
    """The wikitext of a page without what MediaWiki does not read as wikitext.

    Comments, formulas, code and the like go; what stands in <nowiki> stays, as entities. References, tables and
    galleries stay, for their links are links of the page.

    Example:
      >>> visible("A<!-- [[b]] --> is <nowiki>''c''</nowiki><math>[[</math>.")
      'A is &#39;&#39;c&#39;&#39;.'
    """
    if MARK in wikitext:
        wikitext = wikitext.replace(MARK, "")
    if "\r" in wikitext:
        wikitext = wikitext.replace("\r\n", "\n").replace("\r", "\n")
    if "<!--" in wikitext:
        wikitext = _COMMENT.sub("", wikitext)
    return without_elements(wikitext, _RAW, instead=_shown) if "<" in wikitext else wikitext


def _shown(name: str, content: str) -> str:
    """What an element shows as text."""
    return content.translate(_AS_ENTITIES) if name == _NOWIKI else ""
