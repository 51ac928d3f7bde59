"""The identity of a machine translator: its translation of a fixed sentence, by which another one is noticed."""

from models.translators.load_translator import with_probe
from pipeline.config import RunConfig
from schemas.errors import ConfigError


def with_translator_probe(config: RunConfig) -> RunConfig:
    """Returns the configuration with the probe of its translator, which is asked for it; without one, as it is.

    Raises:
      DataError: the translator fails, or is not allowed.
      ConfigError: it does not have the probe that the configuration gives.
    """
    settings = config.lexicon.translator
    if settings.kind == "none":
        return config
    translator = with_probe(settings, config.data.languages)
    if settings.probe not in (None, translator.probe):
        raise ConfigError(
            [
                "lexicon.translator.probe: the translator must be the one that the configuration was resolved with, "
                f"which translated a sentence to {settings.probe!r}; got {translator.probe!r}. Install that "
                "translator, or remove lexicon.translator.probe."
            ]
        )
    return config.model_copy(update={"lexicon": config.lexicon.model_copy(update={"translator": translator})})
