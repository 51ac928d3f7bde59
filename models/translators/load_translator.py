"""From settings to a translator, and its identity."""

import hashlib
import json

from models.translators.settings import Side, TranslatorSettings
from models.translators.translator import Translator


def load_translator(settings: TranslatorSettings, side: Side, languages: tuple[str, str]) -> Translator:
    """Makes the translator of one side's texts.

    Args:
      settings: of any kind but none.
      side: the texts to translate.
      languages: of queries and of documents.

    Raises:
      DataError: it cannot be used.
      ValueError: the kind is none.
    """
    source, target = languages if side == "query" else languages[::-1]
    if settings.kind == "command":
        from models.translators.command import CommandTranslator

        return CommandTranslator(settings, side, source, target)
    if settings.kind == "endpoint":
        from models.translators.endpoint import EndpointTranslator

        return EndpointTranslator(settings, side, source, target)
    raise ValueError(f"the kind must be command or endpoint; got {settings.kind}")


def with_probes(settings: TranslatorSettings, languages: tuple[str, str]) -> TranslatorSettings:
    """Returns the settings with the translations of the probes, for which each translator is asked."""
    probes = {side: load_translator(settings, side, languages).probe() for side in settings.sides}
    return settings.model_copy(update={"probes": probes})


def translator_digest(settings: TranslatorSettings, side: Side, languages: tuple[str, str]) -> str:
    """Returns SHA-256 of all that decides the translations of one side's texts.

    Args:
      settings: with probes.
      side: the texts to translate.
      languages: of queries and of documents.
    """
    parts = {
        "kind": settings.kind,
        "commands": settings.commands(side),
        "address": settings.address,
        "probe": settings.probes.get(side),
        "side": side,
        "languages": languages,
    }
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
