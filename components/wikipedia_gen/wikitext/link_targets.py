"""The targets of a page's links."""

import re
from typing import Final

from components.wikipedia_gen.wikitext.conventions import Conventions

# A label holds no other link; that makes each stretch of a page be looked at twice at most, whatever stands open.
_LINK: Final = re.compile(r"\[\[([^\[\]|{}<>\n]+)(?:\|[^\[\]]*(?:(?:\](?!\])|\[(?!\[))[^\[\]]*)*)?\]\]")


def link_targets(wikitext: str, conventions: Conventions) -> tuple[str, ...]:
    """The targets of all links of a page, each once, in the order of their first mention.

    They are as they stand, with sections, colons and underscores, and those of other projects and languages among
    them; links to files and categories are left out. A link in a template's argument counts, for it is one in
    the wikitext; the links that a template brings along do not.

    Args:
      wikitext: as `visible` leaves it.
      conventions: of the wiki.

    Example:
      >>> from components.wikipedia_gen.wikitext.conventions import conventions_for
      >>> link_targets("[[File:A.jpg|of [[b#c|d]]]] {{e|[[f_g]]}} [[b#c]]", conventions_for("en", {}))
      ('b#c', 'f_g')
    """
    targets = dict.fromkeys(_LINK.findall(wikitext))
    return tuple(
        target
        for target in targets
        if ":" not in target or target.partition(":")[0].strip().lower() not in conventions.hidden_namespaces
    )
