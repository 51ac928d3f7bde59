"""wikipedia/collection/leaks.py: texts that are nearly the same are found."""

import random

import numpy as np
import pytest

from smooth_clir.wikipedia.collection.leaks import HASHES, near_duplicates, signature

TEXTS = 150
LETTERS = {
    "Latin": "abcdefghijklmnopqrstuvwxyz",
    "Cyrillic": "абвгдежзийклмнопрстуфхцчшщ",
    "kana": "あいうえおかきくけこさしす",
}
SHINGLE = 16


def words(letters: str, count: int, generator: random.Random) -> list[str]:
    return ["".join(generator.choices(letters, k=generator.randint(2, 9))) for _ in range(count)]


def resemblance(first: str, second: str) -> float:
    """The Jaccard similarity of two texts' runs of bytes."""
    a, b = (
        {content[at : at + SHINGLE] for at in range(len(content) - SHINGLE + 1)}
        for content in (first.encode(), second.encode())
    )
    return len(a & b) / len(a | b)


@pytest.mark.parametrize(("letters", "changed"), [("Latin", 1), ("Cyrillic", 5), ("kana", 25)])
def test_signatures_agree_at_as_many_places_as_the_texts_resemble_each_other(letters: str, changed: int) -> None:
    generator = random.Random(changed)
    agreeing, alike = [], []
    for _ in range(TEXTS):
        text = words(LETTERS[letters], 100, generator)
        changed_words = list(text)
        for index in generator.sample(range(100), changed):
            changed_words[index] = words(LETTERS[letters], 1, generator)[0]
        original, changed_text = " ".join(text), " ".join(changed_words)
        agreeing.append((signature(original) == signature(changed_text)).mean())
        alike.append(resemblance(original, changed_text))
    # Six places of 150 texts: a standard deviation of at most .02, and a little more for that they share their text.
    assert abs(np.mean(agreeing) - np.mean(alike)) < 0.05


@pytest.mark.parametrize("text", ["", "a", "短", "fifteen letters"])
def test_a_text_that_is_shorter_than_a_shingle_is_its_own_duplicate_alone(text: str) -> None:
    assert [(signature(text) == signature(f"{text}{end}")).sum() == HASHES for end in ("", "b")] == [True, False]


def test_of_each_held_out_text_the_first_near_duplicate_is_found() -> None:
    generator = random.Random(1)
    text, unlike = (words(LETTERS["Latin"], 200, generator) for _ in range(2))
    nearly = " ".join([*text[:-1], "end"])
    signatures = np.array([signature(item) for item in (" ".join(text), " ".join(unlike), nearly, nearly, "short")])
    texts = [np.array(numbers, np.int64) for numbers in ([0, 1, 4], [3, 2, 0])]
    assert list(near_duplicates(signatures, *texts)) == [(0, 2)]
