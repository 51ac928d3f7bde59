"""The names of the files of a collection that was made of dumps, the WikiCLIR release's where that has one."""

from typing import Final

PAIRS_FILE: Final = "title_pairs.tsv"
"""Titles of both languages that mean the same, for `lexicon.pairs`."""
CANDIDATES_FILE: Final = "candidates.tsv"
"""Fixed lists, where a wiki is paired with itself: a page is no NR document of its own query."""
MANIFEST_FILE: Final = "manifest.json"
CARD_FILE: Final = "README.md"


def queries_file(query_language: str) -> str:
    """As the WikiCLIR release names it."""
    return f"wiki_{query_language}.queries"


def documents_file(document_language: str) -> str:
    """As the WikiCLIR release names it."""
    return f"wiki_{document_language}.documents"


def judgments_file(query_language: str, document_language: str) -> str:
    """As the WikiCLIR release names it."""
    return f"{query_language}2{document_language}.rel"
