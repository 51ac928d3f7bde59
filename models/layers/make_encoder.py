"""From a configuration to the encoder that it names."""

import importlib
from typing import Any

from models.layers.text_encoder import TextEncoder
from models.settings import ENCODERS, ModelSettings


def make_encoder(settings: ModelSettings, vocabulary_size: int, seed: int | None, **arguments: Any) -> TextEncoder:
    """One tower's encoder: the Keras layer that a configuration names, with its own settings.

    Args:
      settings: the model's.
      vocabulary_size, seed: see `TextEncoder`.
      **arguments: others of the encoder's, which no setting names.
    """
    if settings.word_dropout:
        arguments["word_dropout"] = settings.word_dropout
    module, class_name = ENCODERS[settings.encoder].keras_class.rsplit(".", 1)
    encoder: TextEncoder = getattr(importlib.import_module(module), class_name)(
        vocabulary_size,
        settings.embedding_dim,
        settings.initial_scale,
        seed,
        settings.dropout,
        **settings.encoder_settings,
        **arguments,
    )
    return encoder
