"""Small translators: programs of Python, and a translator of this process that counts."""

import sys
from collections import Counter
from collections.abc import Sequence

from models.translators.settings import TranslatorSettings
from models.translators.translator import Translator, probe_of

UPPER = "sys.stdout.write(sys.stdin.read().upper())"
"""Translates into capitals."""


def program(code: str) -> list[str]:
    """A command that runs code of Python."""
    return [sys.executable, "-c", f"import os, sys, time; {code}"]


def settings_of(*codes: str, **values: object) -> TranslatorSettings:
    """The settings of programs of Python in a row."""
    return TranslatorSettings.model_validate({"kind": "command", "command": [*map(program, codes)], **values})


class CountingTranslator(Translator):
    """Translates into capitals, "nothing" into nothing, and counts the texts.

    Attributes:
      seen: how often each text was translated, without probes.
      fails_at: the number of the call, from 1, that raises an error; None for none.
      changes_at: the number of the text, from 0, from which on it is another translator; None for none.
    """

    def __init__(self) -> None:
        super().__init__(COUNTING, "fr", "en")
        self.seen: Counter[str] = Counter()
        self.calls = 0
        self.fails_at: int | None = None
        self.changes_at: int | None = None

    @property
    def name(self) -> str:
        return "the counting translator"

    def _translate(self, texts: Sequence[str]) -> list[str]:
        self.calls += 1
        if self.calls == self.fails_at:
            raise KeyboardInterrupt
        translations = []
        for text in texts:
            has_changed = self.changes_at is not None and sum(self.seen.values()) >= self.changes_at
            translations.append("" if text == "nothing" else text[::-1] if has_changed else text.upper())
            self.seen.update({text} - {probe_of("fr")})
        return translations


COUNTING = settings_of(UPPER, probe=probe_of("fr").upper())
