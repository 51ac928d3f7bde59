"""From a configuration to the loss that it names."""

import importlib
from typing import Any

from tensorflow import keras

from models.losses.declarations import ENDS, LOSSES
from models.losses.ranking_loss import RankingLoss
from models.settings import LossSettings


def make_loss(settings: LossSettings, ends: tuple[float, float] = ENDS) -> RankingLoss:
    """The Keras loss that a configuration names, one value a list; made within `strategy.scope()` if it learns.

    Args:
      settings: see there.
      ends: the lowest and the highest score of the scorer, between which thresholds lie.
    """
    module, name = LOSSES[settings.name].keras_class.rsplit(".", 1)
    # A loss takes no arguments but its own.
    arguments: dict[str, Any] = {}
    if settings.theta is not None:
        arguments |= {"theta": settings.theta, "ends": ends}
    if settings.learn_theta:
        arguments["learn_theta"] = True
    loss: RankingLoss = getattr(importlib.import_module(module), name)(
        **arguments, reduction=keras.losses.Reduction.NONE
    )
    return loss
