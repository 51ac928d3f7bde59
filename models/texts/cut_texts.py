"""How much of texts lies beyond the limit on their words."""

from collections.abc import Iterable
from dataclasses import astuple, dataclass

from models.texts.word_counts import DistinctWords


@dataclass(frozen=True)
class CutTexts:
    """Numbers of texts and words, and of those that a limit cuts.

    Example:
      >>> CutTexts(texts=50, cut_texts=10, words=9_000, cut_words=1_800).sentence("documents", 200)
      '20.0% of the documents are longer than data.max_document_tokens (200 words): 20.0% of all words are cut off'
    """

    texts: int = 0
    cut_texts: int = 0
    words: int = 0
    cut_words: int = 0

    @classmethod
    def of(cls, found: DistinctWords) -> "CutTexts":
        """Counts texts whose words were found with a limit."""
        cut = found.whole_lengths - found.lengths
        return cls(len(cut), int((cut > 0).sum()), int(found.whole_lengths.sum()), int(cut.sum()))

    @classmethod
    def sum(cls, parts: Iterable["CutTexts"]) -> "CutTexts":
        """Adds the numbers of parts."""
        return cls(*map(sum, zip(astuple(cls()), *map(astuple, parts), strict=True)))

    @property
    def is_much(self) -> bool:
        """Whether more than a tenth of the words is cut off, which a person should know."""
        return self.cut_words > self.words / 10

    def sentence(self, what: str, limit: int) -> str:
        """The shares of texts and words that are cut.

        Args:
          what: the texts, in the plural.
          limit: the value of `data.max_document_tokens`.
        """
        texts, words = self.cut_texts / max(self.texts, 1), self.cut_words / max(self.words, 1)
        return (
            f"{texts:.1%} of the {what} are longer than data.max_document_tokens ({limit:,} words): {words:.1%} of all "
            "words are cut off"
        )
