"""The texts and words that the limit on a text's words cuts off."""

from collections.abc import Iterable
from typing import Final

from schemas.json_record import JsonRecord

CUT_FILE: Final = "cut_texts.json"
"""The `CutReport` in the transform graph; only the Transform of one process writes it."""


class CutTexts(JsonRecord):
    """Numbers of texts and words, and of those that a limit cuts.

    Example:
      >>> CutTexts(texts=50, cut_texts=10, words=9_000, cut_words=1_800).sentence("documents", 200)
      '20.0% of the documents are longer than data.max_document_tokens (200 words): 20.0% of all words are cut off'
      >>> CutTexts(texts=50, words=9_000).sentence("documents", 200)
      'none of the documents is longer than data.max_document_tokens (200 words)'
    """

    texts: int = 0
    cut_texts: int = 0
    words: int = 0
    cut_words: int = 0

    @classmethod
    def sum(cls, parts: Iterable["CutTexts"]) -> "CutTexts":
        """Adds the numbers of parts."""
        all_parts = list(parts)
        return cls(**{name: sum(getattr(part, name) for part in all_parts) for name in cls.model_fields})

    @property
    def is_much(self) -> bool:
        """Whether more than a tenth of the words is cut off, enough for a warning."""
        return self.cut_words > self.words / 10

    def sentence(self, noun: str, limit: int) -> str:
        """The shares of texts and words that are cut.

        Args:
          noun: the word for the texts, in the plural.
          limit: the value of `data.max_document_tokens`.
        """
        longer = f"longer than data.max_document_tokens ({limit:,} words)"
        if not self.cut_texts:
            return f"none of the {noun} is {longer}"
        texts, words = self.cut_texts / self.texts, self.cut_words / self.words
        return f"{texts:.1%} of the {noun} are {longer}: {words:.1%} of all words are cut off"


class CutReport(JsonRecord):
    """Numbers of the distinct queries and documents, and of those that a limit cuts.

    Example:
      >>> report = CutReport(limit=200, queries=CutTexts(texts=9, words=81), documents=CutTexts(texts=5, words=900))
      >>> CutReport.from_json(report.to_json()) == report
      True
    """

    limit: int
    """The value of `data.max_document_tokens`."""
    queries: CutTexts
    documents: CutTexts

    @property
    def sides(self) -> dict[str, CutTexts]:
        """The numbers of each side, by the word for its texts."""
        return {"queries": self.queries, "documents": self.documents}
