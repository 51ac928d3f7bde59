"""The identity of a machine translator: translations of a fixed sentence, by which another translator is noticed."""

from models.translators.load_translator import with_probes
from pipeline.config import RunConfig
from schemas.errors import ConfigError


def with_translator_probes(config: RunConfig) -> RunConfig:
    """Returns the configuration with the probes of its translator, which is asked for them; without one, as it is.

    Raises:
      DataError: the translator fails, or is not allowed.
      ConfigError: it does not have the probes that the configuration gives.
    """
    settings = config.lexicon.translator
    if settings.kind == "none":
        return config
    translator = with_probes(settings, config.data.languages)
    if settings.probes and translator.probes != settings.probes:
        raise ConfigError(
            [
                "lexicon.translator.probes: the translator must be the one that the configuration was resolved with, "
                f"whose translations of a sentence are {settings.probes}; got {translator.probes}. Install that "
                "translator, or remove lexicon.translator.probes."
            ]
        )
    return config.model_copy(update={"lexicon": config.lexicon.model_copy(update={"translator": translator})})
