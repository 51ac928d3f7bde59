"""Finds signs that the first sentence of a page has lost a part, or kept markup."""

import re
from typing import Final

from smooth_clir.wikipedia.wikitext.words import count_words

FEWEST_WORDS: Final = 4
"""Smallest number of words of a plausible sentence, as `count_words` counts them: seven Han characters are four."""

_PAIRS: Final = ("()", "[]", "{}", "（）", "「」", "『』")
_MARKUP: Final = re.compile(r"\||''|\[\[|\]\]|\{\{|\}\}|</?[a-z]|&\w+;|&#\d+;|__[A-Z]|\w=\"")
_NOTHING: Final = re.compile(
    "|".join(
        [
            r"[(（]\s*(?:[,;:،؛、)）]|\.(?!\.))",  # (, Italy)
            r"[(（](?:[^()（）]*[,،、])?\s*[-–—]\s",  # (Rome, – 1950)
            r"[,;،؛、]\s*[,;،؛、)）]",
            r"(?<![-–—])\s[)）]",
            r"\d\s[-–](?:[.,]|\s[a-z]{1,3}\s)",  # 5 – in length
            r"(?<!\w)([a-zà-ÿа-я]{1,3})\s\1(?!\w)",  # de de
            # Words of Romance, Germanic and Slavic languages that a measure parts.
            r"(?<![\w'’-])(?:d(?:e|['’])[,.]|de\s(?:au|aux|et|à|y)(?![\w'’-]))",  # de au total
            r"(?<![\w'’-])(?:di\s(?:e|al|sul)|of\s(?:and|in\stotal|above\ssea))(?![\w-])",
            r"(?<!\w)(?:between\sand|entre\s(?:et|y|e|i)|tra\se|fra\se|zwischen\sund|между\sи|między\sa)(?!\w)",
            r"(?<!\w)(?:from\sto|desde\shasta|od\sdo|от\sдо)(?!\w)",
        ]
    )
)
# Units that are not words of a language. In some languages the number follows.
_UNIT: Final = re.compile(r"(?<![\d½¼¾⅓⅔]\s)(?<![\d\w/])(?:km|cm|mm|kg|km²|km2)\b(?!\s?[²³/]?\s?\d)")


def residue(sentence: str) -> str | None:
    """Describes what is suspicious about a first sentence; None if nothing is.

    A suspicion may be wrong: some good sentences are short. A share of more than a few per cent means that a wiki's
    templates or files are unknown.

    Example:
      >>> residue("thumb|A view Alba is a town."), residue("Alba is a town of about km."), residue("Alba is a town.")
      ('with markup', 'with a unit without a number', None)
      >>> residue("Alba est une commune d'une superficie de au total.")
      'with signs or words around nothing'
    """
    if _MARKUP.search(sentence):
        return "with markup"
    if any(sentence.count(left) != sentence.count(right) for left, right in _PAIRS):
        return "with an unbalanced bracket"
    if _NOTHING.search(sentence):
        return "with signs or words around nothing"
    if _UNIT.search(sentence):
        return "with a unit without a number"
    if count_words(sentence) < FEWEST_WORDS:
        return f"of fewer than {FEWEST_WORDS} words"
    return None
