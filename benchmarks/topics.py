"""A generated collection: documents of topics, whose words are as frequent as Zipf's law has it, and queries for them.

Both languages have a made-up word for each meaning. Sixty of a hundred words of a document are its topic's, which has
400 of its own; the others are drawn from all 100,000.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

MEANINGS, TOPICS, OF_A_TOPIC, WORDS, OWN = 100_000, 5_000, 400, 100, 0.6
_LETTERS: Final = list("eaisnrtoludcmpvqfbghjxyz")
_AT_ONCE: Final = 10_000

_Meanings = npt.NDArray[np.int64]


class Topics:
    """What documents are drawn from; the same each time."""

    def __init__(self) -> None:
        generator = np.random.default_rng(1)
        self._of_topic = generator.integers(0, MEANINGS, (TOPICS, OF_A_TOPIC))
        self._common, self._own = (np.cumsum(1 / np.arange(1, size + 1)) for size in (MEANINGS, OF_A_TOPIC))
        self.query_words, self.document_words = _made_up(2), _made_up(3)

    def documents(self, number: int) -> Iterator[_Meanings]:
        """The meanings of each document's words, int [WORDS]."""
        generator = np.random.default_rng(4)
        for start in range(0, number, _AT_ONCE):
            shape = (min(_AT_ONCE, number - start), WORDS)
            topics = generator.integers(0, TOPICS, shape[0])
            own = self._of_topic[topics[:, np.newaxis], _drawn(generator, self._own, shape)]
            yield from np.where(generator.random(shape) < OWN, own, _drawn(generator, self._common, shape))

    def write(self, folder: Path, documents: int, queries: int, query_length: int = 15) -> None:
        """Writes a collection in the form of the input files; each query is made of words of a document, translated.

        Args:
          folder: to write `documents`, `queries`, `judgments` and `run.yaml` to.
          documents: how many.
          queries: how many, for the first documents.
          query_length: words of a query.
        """
        folder.mkdir(parents=True, exist_ok=True)
        generator = np.random.default_rng(5)
        with (
            open(folder / "documents", "w", encoding="utf-8") as texts,
            open(folder / "queries", "w", encoding="utf-8") as asked,
            open(folder / "judgments", "w", encoding="utf-8") as judged,
        ):
            for number, meanings in enumerate(self.documents(documents)):
                texts.write(f"d{number}\tTitle {number}\t{' '.join(self.document_words[meanings])}\n")
                if number < queries:
                    chosen = generator.choice(meanings, query_length, replace=False)
                    asked.write(f"q{number}\t\t{' '.join(self.query_words[chosen])}\n")
                    judged.write(f"q{number}\td{number}\t2\n")
        settings = {
            "data": {
                **{role: role for role in ("queries", "documents", "judgments")},
                "query_language": "en",
                "document_language": "fr",
            },
            "training": {"epochs": 3},
            "evaluation": {"minimums": {}},
            "output": "out",
        }
        (folder / "run.yaml").write_text(json.dumps(settings), encoding="utf-8")


def _made_up(seed: int) -> npt.NDArray[np.object_]:
    generator = np.random.default_rng(seed)
    lengths = generator.integers(3, 10, MEANINGS)
    letters, ends = generator.choice(_LETTERS, lengths.sum()), np.cumsum(lengths)
    return np.array(["".join(letters[end - size : end]) for end, size in zip(ends, lengths, strict=True)], object)


def _drawn(generator: np.random.Generator, sums: npt.NDArray[np.float64], shape: tuple[int, int]) -> _Meanings:
    return np.searchsorted(sums, generator.random(shape) * sums[-1])
