"""The sample's pages as wikitext, and what its files make of them."""

import re
from pathlib import Path
from typing import NamedTuple

SAMPLE = Path(__file__).parents[4] / "data" / "sample"


class Page(NamedTuple):
    """A page of the sample."""

    title: str
    wikitext: str


def pages(language: str) -> list[Page]:
    """The pages of a language, in the order of the sample's files; a level-1 heading starts a page."""
    found = []
    for file in sorted((SAMPLE / language).glob("*.wiki")):
        _, *parts = re.split(r"^= (.+?) =$", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
        found += [Page(*one) for one in zip(parts[::2], parts[1::2], strict=True)]
    return found


def rows(name: str) -> list[tuple[str, ...]]:
    """The rows of one of the sample's files."""
    lines = (SAMPLE / name).read_text(encoding="utf-8").split("\n")[:-1]
    return [tuple(line.split("\t")) for line in lines]
