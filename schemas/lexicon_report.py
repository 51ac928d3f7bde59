"""What a lexicon was learned from, as `lexicon/report.json` has it."""

from typing import Any

from schemas.drops import ReadReport
from schemas.json_record import JsonRecord
from schemas.wikiclir import Reason


class LexiconReport(JsonRecord):
    """The content of `report.json`."""

    kind: str
    """What matches: lexicon, bm25 or tfidf."""
    train_pairs: int
    """Queries of the train split with a MR document each."""
    pairs: dict[str, Any] | None = None
    """What became of the lines of `lexicon.pairs`, see `schemas.drops`; None without such a file."""
    terms: int
    """Of the collection and the pairs: stems, or words."""
    translations: int
    """Entries of the table."""
    translated: int
    """Terms of queries with a translation."""
    documents: int
    """Of the collection."""

    def describe(self) -> list[str]:
        """The report in a few lines for a person."""
        learned = f"{self.translations:,} translations of {self.translated:,}, from {self.train_pairs:,} train pairs"
        terms = f"{self.kind}: {self.terms:,} terms"
        of_pairs = [ReadReport.from_dict(self.pairs, Reason).describe()] if self.pairs else []
        return [
            f"{terms}, {learned}" if self.kind == "lexicon" else terms,
            *(f"lexicon.pairs: {line}" for line in of_pairs),
        ]
