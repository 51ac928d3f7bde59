"""pipeline/pair_direction.py: columns of pairs in each other's place are noticed, and no others."""

import pytest

from pipeline.pair_direction import direction_fault
from schemas.lexicon_pairs import TextPair

WORDS = {
    "en": "wolf cat dog river mountain volcano rock forest winter bread water house year king road night".split(),
    "fr": "loup chat chien fleuve montagne volcan roche forêt hiver pain eau maison année roi route nuit".split(),
    "de": "Wolf Katze Hund Fluss Berg Vulkan Fels Wald Winter Brot Wasser Haus Jahr König Straße Nacht".split(),
    "ja": "狼 猫 犬 川 山 火山 岩 森 冬 パン 水 家 年 王 道 夜".split(),
    "ar": "ذئب قط كلب نهر جبل بركان صخر غابة شتاء خبز ماء بيت سنة ملك طريق ليل".split(),
}
NAMES = [f"Name{letter}" for letter in "abcdefghijklmnop"]


def texts(language: str) -> list[str]:
    """Texts with all words of a language, and names."""
    separator = "" if language == "ja" else " "
    return [separator.join(WORDS[language]), " ".join(NAMES), "Paris 1984"]


def fault(first: list[str], second: list[str], languages: tuple[str, str]) -> str | None:
    pairs = [TextPair(query, document) for query, document in zip(first, second, strict=True)]
    return direction_fault(pairs, *map(texts, languages))


@pytest.mark.parametrize("language", ["fr", "de", "ja", "ar"])
def test_columns_in_each_other_s_place_are_noticed_in_any_script(language: str) -> None:
    english, translations = WORDS["en"], WORDS[language]
    assert fault(english, translations, ("en", language)) is None
    assert fault(translations, english, (language, "en")) is None
    assert "language of the queries" in (fault(translations, english, ("en", language)) or "")
    # With lines that are the same in both languages, and some that show no direction or the right one.
    mixed = [*translations, *NAMES, *english[:2], "zzz"], [*english, *NAMES, *translations[:2], "qqq"]
    assert fault(*mixed, ("en", language))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (NAMES, NAMES),
        (WORDS["fr"][:5], WORDS["en"][:5]),
        (WORDS["fr"] + WORDS["en"], WORDS["en"] + WORDS["fr"]),
        (["zzz"] * 20, ["qqq"] * 20),
        ([], []),
    ],
    ids=["names", "few", "both directions", "unknown words", "none"],
)
def test_pairs_that_show_no_direction_are_taken(first: list[str], second: list[str]) -> None:
    assert fault(first, second, ("en", "fr")) is None


def test_a_collection_in_one_language_has_no_direction() -> None:
    assert fault(WORDS["en"], WORDS["en"], ("en", "en")) is None
