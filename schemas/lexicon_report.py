"""The report of a learned lexicon, `lexicon/report.json`."""

from typing import Any

from schemas.drops import ReadReport
from schemas.json_record import JsonRecord
from schemas.wikiclir import Reason


class LexiconReport(JsonRecord):
    """The content of `report.json`."""

    kind: str
    """The kind of matching: lexicon, bm25 or tfidf."""
    train_pairs: int
    """Number of pairs of a train query and one of its MR documents."""
    pairs: dict[str, Any] | None = None
    """The account of the lines of `channels.lexicon.pairs` (see `schemas.drops`); None without such a file."""
    pairs_weight: float = 1.0
    """Weight of a pair of `channels.lexicon.pairs`, times its own weight; a train pair has the weight 1."""
    title_pairs_weight: float = 1.0
    """Weight of a pair of titles."""
    translations_weight: float = 1.0
    """Weight of a sentence and its translation by `channels.lexicon.translator`."""
    terms: int
    """Number of stems, or words, of the collection and the pairs."""
    translations: int
    """Number of entries of the translation table."""
    translated: int
    """Number of query terms with a translation."""
    documents: int
    """Number of documents in the collection."""

    def describe(self) -> list[str]:
        """The report in a few lines for a person."""
        learned = f"{self.translations:,} translations of {self.translated:,}, from {self.train_pairs:,} train pairs"
        terms = f"{self.kind}: {self.terms:,} terms"
        pair_lines = [ReadReport.from_dict(self.pairs, Reason).describe()] if self.pairs else []
        weights = {
            "channels.lexicon.pairs": self.pairs_weight,
            "titles": self.title_pairs_weight,
            "translations": self.translations_weight,
        }
        return [
            f"{terms}, {learned}" if self.kind == "lexicon" else terms,
            *(f"further pairs: {line}" for line in pair_lines),
            *(f"each pair of {name} counts {weight:g} times" for name, weight in weights.items() if weight != 1),
        ]
