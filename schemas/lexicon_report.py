"""What a lexicon was learned from, as `lexicon/report.json` has it."""

from typing import Any

from schemas.json_record import JsonRecord


class LexiconReport(JsonRecord):
    """The content of `report.json`."""

    kind: str
    """What matches: lexicon, bm25 or tfidf."""
    train_pairs: int
    """Queries of the train split with a MR document each."""
    pairs: dict[str, Any] | None = None
    """What became of the lines of `lexicon.pairs`, see `schemas.read_report`; None without such a file."""
    terms: int
    """Of the collection and the pairs: stems, or words."""
    translations: int
    """Entries of the table."""
    translated: int
    """Terms of queries with a translation."""
    documents: int
    """Of the collection."""
