"""From a configuration to the loss that it names."""

import importlib

from tensorflow import keras

from models.settings import LOSSES, LossSettings


def make_loss(settings: LossSettings) -> keras.losses.Loss:
    """The Keras loss that a configuration names, one value a list."""
    module, name = LOSSES[settings.name].keras_class.rsplit(".", 1)
    theta = {} if settings.theta is None else {"theta": settings.theta}
    loss: keras.losses.Loss = getattr(importlib.import_module(module), name)(
        **theta, reduction=keras.losses.Reduction.NONE
    )
    return loss
