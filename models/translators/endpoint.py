"""A translator behind an HTTP endpoint that speaks LibreTranslate's protocol."""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from models.json_endpoint import JsonEndpoint
from models.translators.settings import TranslatorEndpointSettings
from models.translators.translator import Translator
from schemas.json_files import parse_json

_PATH: Final = "/translate"
_BYTES_OF_CHARACTER: Final = 60
"""Largest number of bytes of an answer per character: ten characters, which JSON may escape."""
_BYTES_OF_TEXT: Final = 1000


class EndpointTranslator(Translator):
    """Asks an endpoint that answers `POST {address}/translate` for a list of texts.

    Args:
      settings, source, target: see `Translator`.
    """

    def __init__(self, settings: TranslatorEndpointSettings, source: str, target: str) -> None:
        super().__init__(settings, source, target)
        remedies = {
            400: f"Does it translate from {source} to {target}? If a text or the list is too long for it, lower "
            "channels.lexicon.translator.batch.",
            404: "Check channels.lexicon.translator.address.",
        }
        self._batch_size = settings.batch
        self._endpoint = JsonEndpoint(
            "channels.lexicon.translator",
            settings.address,
            _PATH,
            settings.key_variable,
            settings.timeout_s,
            settings.retries,
            remedies,
            key_field="api_key",
        )

    @property
    def name(self) -> str:
        """The endpoint's address."""
        return self._endpoint.name

    def _translate(self, texts: Sequence[str]) -> list[str]:
        size = self._batch_size
        return [text for at in range(0, len(texts), size) for text in self._batch(texts[at : at + size])]

    def _batch(self, texts: Sequence[str]) -> list[str]:
        content = {"q": list(texts), "source": self._source, "target": self._target, "format": "text"}
        largest = sum(len(text) * _BYTES_OF_CHARACTER + _BYTES_OF_TEXT for text in texts)
        read = partial(_read_translations, len(texts))
        return self._endpoint.ask(json.dumps(content).encode(), largest, f"{len(texts)} texts", read)


def _read_translations(texts: int, body: bytearray) -> list[str] | str:
    """Returns the translations in an answer, or what the answer must be and is not."""
    content: Any = parse_json(body)
    translations = content.get("translatedText") if isinstance(content, dict) else None
    if not isinstance(translations, list) or not all(isinstance(text, str) for text in translations):
        return 'must be JSON of the form {"translatedText": [texts]}'
    if len(translations) != texts:
        return f"must hold one translation for each of {texts} texts; got {len(translations)}"
    return translations
