"""From settings to a translator, and its identity."""

import hashlib
import json

from models.translators.settings import TranslatorSettings
from models.translators.translator import Translator


def load_translator(settings: TranslatorSettings, languages: tuple[str, str]) -> Translator:
    """Makes a translator.

    Args:
      settings: of any kind but none.
      languages: of the translations, and of the texts.

    Raises:
      DataError: it cannot be used.
      ValueError: the kind is none.
    """
    target, source = languages
    if settings.kind == "command":
        from models.translators.command import CommandTranslator

        return CommandTranslator(settings, source, target)
    if settings.kind == "endpoint":
        from models.translators.endpoint import EndpointTranslator

        return EndpointTranslator(settings, source, target)
    raise ValueError(f"the kind must be command or endpoint; got {settings.kind}")


def with_probe(settings: TranslatorSettings, languages: tuple[str, str]) -> TranslatorSettings:
    """Returns the settings with the translation of the probe, for which the translator is asked."""
    return settings.model_copy(update={"probe": load_translator(settings, languages).probe()})


def translator_digest(settings: TranslatorSettings, languages: tuple[str, str]) -> str:
    """Returns SHA-256 of all that decides the translations.

    Args:
      settings: with the probe.
      languages: of the translations, and of the texts.
    """
    parts = settings.model_dump(mode="json", include={"kind", "command", "address", "probe"})
    return hashlib.sha256(json.dumps({**parts, "languages": languages}, sort_keys=True).encode()).hexdigest()
