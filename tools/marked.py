"""What is written into a page between two marks."""

import re
from collections.abc import Iterable


def with_marked(page: str, name: str, lines: Iterable[str]) -> str:
    """The page with lines between the comments `name` and `/name`."""
    marked = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)
    return marked.sub(lambda _: "".join(f"{line}\n" for line in lines), page)
