"""Generated collections with their configurations: random words in any shape, or topics with fitting queries."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

_LETTERS: Final = "eaisnrtoludcmpvqfbghjxyz"
_ACCENTS: Final = "éàè"
_VOCABULARY: Final = 200_000
_JUDGED: Final = 14
_MEANINGS, _TOPICS, _TOPIC_MEANINGS, _TOPIC_SHARE = 100_000, 5_000, 400, 0.6
_BLOCK_SIZE: Final = 10_000

_Ids = npt.NDArray[np.int64]


def write_random(
    folder: Path,
    documents: int,
    queries: int,
    words: int = 100,
    negatives: int = 40,
    has_candidates: bool = False,
    **settings: Any,
) -> Path:
    """Writes a collection of random words with Zipf's frequencies; returns the path of its configuration.

    Args:
      folder: an existing folder.
      documents, queries: their numbers; each query has 14 judgments.
      words: the length of a document.
      negatives: the number of NR documents of a list.
      has_candidates: whether a file names the lists; otherwise the run draws the NR documents.
      **settings: sections of the configuration.
    """
    generator = np.random.default_rng(0)

    def write(name: str, count: int, length: int) -> None:
        vocabulary = _made_up_words(generator, _VOCABULARY, (2, 9), accents=0.4)
        texts = (vocabulary[np.minimum(generator.zipf(1.2, length), _VOCABULARY) - 1] for _ in range(count))
        _write_texts(folder / name, name[0], texts)

    write("documents", documents, words)
    write("queries", queries, 15)
    with (
        open(folder / "judgments", "w", encoding="utf-8") as judgments,
        open(folder / "candidates", "w", encoding="utf-8") as candidates,
    ):
        for number in range(queries):
            listed = generator.choice(documents, _JUDGED + negatives, replace=False)
            grades = [2] + [1] * (_JUDGED - 1) + [0] * negatives
            split = ("train", "train", "train", "eval", "test")[number % 5]
            lines = [f"q{number}\td{document}\t{grade}" for document, grade in zip(listed, grades, strict=True)]
            judgments.writelines(f"{line}\n" for line in lines[:_JUDGED])
            candidates.writelines(f"{line}\t{split}\n" for line in lines)
    lists = {"candidates": "candidates"} if has_candidates else {"negatives": negatives}
    return _write_config(folder, lists, {"training": {"epochs": 1}, **settings})


def write_topics(folder: Path, documents: int, queries: int, query_length: int = 15) -> Path:
    """Writes a collection whose queries translate words of their documents; returns the path of its configuration.

    Both languages have a made-up word for each of 100,000 meanings. A document has 100 words: 60 of 100 come from the
    400 meanings of its topic, the others from all meanings, both with Zipf's frequencies.

    Args:
      folder: made if it is missing.
      documents, queries: their numbers; query n is for document n.
      query_length: words of a query.
    """
    folder.mkdir(parents=True, exist_ok=True)
    query_words, document_words = (_made_up_words(np.random.default_rng(seed), _MEANINGS, (3, 10)) for seed in (2, 3))
    _write_texts(folder / "documents", "d", (document_words[meanings] for meanings in _topic_documents(documents)))
    generator = np.random.default_rng(5)
    chosen = (generator.choice(meanings, query_length, replace=False) for meanings in _topic_documents(queries))
    _write_texts(folder / "queries", "q", (query_words[meanings] for meanings in chosen), has_titles=False)
    judgments = "".join(f"q{number}\td{number}\t2\n" for number in range(queries))
    (folder / "judgments").write_text(judgments, encoding="utf-8")
    return _write_config(folder, {}, {"training": {"epochs": 3}})


def _topic_documents(number: int) -> Iterator[_Ids]:
    """The meanings of each document's words, int [100]."""
    generator = np.random.default_rng(1)
    topics = generator.integers(0, _MEANINGS, (_TOPICS, _TOPIC_MEANINGS))
    all_sums, topic_sums = (np.cumsum(1 / np.arange(1, size + 1)) for size in (_MEANINGS, _TOPIC_MEANINGS))
    generator = np.random.default_rng(4)

    def drawn(sums: npt.NDArray[np.float64], shape: tuple[int, int]) -> _Ids:
        ids: _Ids = np.searchsorted(sums, generator.random(shape) * sums[-1])
        return ids

    for start in range(0, number, _BLOCK_SIZE):
        # Always draws a whole block, so that a smaller collection is the beginning of a larger one.
        document_topics = topics[generator.integers(0, _TOPICS, _BLOCK_SIZE)]
        shape = (_BLOCK_SIZE, 100)
        topic_words = np.take_along_axis(document_topics, drawn(topic_sums, shape), axis=1)
        words = np.where(generator.random(shape) < _TOPIC_SHARE, topic_words, drawn(all_sums, shape))
        yield from words[: number - start]


def _made_up_words(
    generator: np.random.Generator, number: int, lengths: tuple[int, int], accents: float = 0.0
) -> npt.NDArray[np.object_]:
    """Random words; `accents` is the weight of an accented letter, where a plain letter has 1."""
    weights = np.array([1.0] * len(_LETTERS) + [accents] * len(_ACCENTS))
    sizes = generator.integers(*lengths, number)
    letters = generator.choice([*_LETTERS, *_ACCENTS], sizes.sum(), p=weights / weights.sum())
    ends = np.cumsum(sizes)
    return np.array(["".join(letters[end - size : end]) for end, size in zip(ends, sizes, strict=True)], object)


def _write_texts(path: Path, prefix: str, texts: Iterator[npt.NDArray[np.object_]], has_titles: bool = True) -> None:
    with open(path, "w", encoding="utf-8") as file:
        for number, words in enumerate(texts):
            title = f"Title {number}" if has_titles else ""
            file.write(f"{prefix}{number}\t{title}\t{' '.join(words)}\n")


def _write_config(folder: Path, data: dict[str, Any], settings: dict[str, Any]) -> Path:
    content = {
        "data": {
            **{role: role for role in ("queries", "documents", "judgments")},
            **data,
            "query_language": "en",
            "document_language": "fr",
        },
        "evaluation": {"minimums": {}},
        "output": "out",
        **settings,
    }
    path = folder / "run.yaml"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path
