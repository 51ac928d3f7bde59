"""From a configuration to the loss that it names."""

import importlib

from tensorflow import keras

from models.losses.ranking_loss import RankingLoss
from models.settings import LOSSES, LossSettings


def make_loss(settings: LossSettings) -> RankingLoss:
    """The Keras loss that a configuration names, one value a list; made within `strategy.scope()` if it learns."""
    module, name = LOSSES[settings.name].keras_class.rsplit(".", 1)
    # A loss takes no arguments but its own.
    given = {"theta": settings.theta, "learn_theta": settings.learn_theta or None}
    arguments = {key: value for key, value in given.items() if value is not None}
    loss: RankingLoss = getattr(importlib.import_module(module), name)(
        **arguments, reduction=keras.losses.Reduction.NONE
    )
    return loss
