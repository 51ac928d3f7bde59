"""The identity of a machine translator: its translation of a fixed sentence, which reveals another translator."""

from models.lexicon.settings import LexiconSettings
from models.translators.settings import TranslatorSettings
from models.translators.translator import with_probe
from pipeline.config import RunConfig, with_channel
from schemas.errors import ConfigError


def with_translator_probes(config: RunConfig) -> RunConfig:
    """Returns the configuration with the probe of each translator, which this function runs.

    Raises:
      DataError: a translator fails, or is not allowed.
      ConfigError: a translator has another probe than the configuration.
    """
    languages = config.data.languages
    lexicon = config.channels.lexicon
    if isinstance(lexicon, LexiconSettings):
        translator = _with_probe("channels.lexicon.translator", lexicon.translator, languages)
        config = with_channel(config, "lexicon", lexicon.model_copy(update={"translator": translator}))
    query_translator = _with_probe("evaluation.query_translator", config.evaluation.query_translator, languages[::-1])
    evaluation = config.evaluation.model_copy(update={"query_translator": query_translator})
    return config.model_copy(update={"evaluation": evaluation})


def _with_probe(
    name: str, settings: TranslatorSettings | None, languages: tuple[str, str]
) -> TranslatorSettings | None:
    if settings is None:
        return None
    translator = with_probe(settings, languages)
    if settings.probe not in (None, translator.probe):
        raise ConfigError(
            [
                f"{name}.probe: the translator has changed since the configuration was resolved: it translates a "
                f"sentence as {translator.probe!r}, not as {settings.probe!r}. Install the earlier translator, or "
                f"remove {name}.probe."
            ]
        )
    return translator
