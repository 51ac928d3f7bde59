"""The identity of a machine translator: its translation of a fixed sentence, by which another one is noticed."""

from models.translators.load_translator import with_probe
from models.translators.settings import TranslatorSettings
from pipeline.config import RunConfig
from schemas.errors import ConfigError


def with_translator_probes(config: RunConfig) -> RunConfig:
    """Returns the configuration with the probes of its translators, which are asked for them.

    Raises:
      DataError: a translator fails, or is not allowed.
      ConfigError: it does not have the probe that the configuration gives.
    """
    languages = config.data.languages
    translator = _with_probe("lexicon.translator", config.lexicon.translator, languages)
    query_translator = _with_probe("evaluation.query_translator", config.evaluation.query_translator, languages[::-1])
    return config.model_copy(
        update={
            "lexicon": config.lexicon.model_copy(update={"translator": translator}),
            "evaluation": config.evaluation.model_copy(update={"query_translator": query_translator}),
        }
    )


def _with_probe(name: str, settings: TranslatorSettings, languages: tuple[str, str]) -> TranslatorSettings:
    if settings.kind == "none":
        return settings
    translator = with_probe(settings, languages)
    if settings.probe not in (None, translator.probe):
        raise ConfigError(
            [
                f"{name}.probe: the translator must be the one that the configuration was resolved with, which "
                f"translated a sentence to {settings.probe!r}; got {translator.probe!r}. Install that translator, or "
                f"remove {name}.probe."
            ]
        )
    return translator
