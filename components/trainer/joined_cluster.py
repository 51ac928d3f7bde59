"""The cluster that this process was started in, if any."""

import os
from typing import Final

from models.settings import TrainingSettings
from models.training.workers import Cluster
from schemas.errors import ConfigError

_VARIABLE: Final = "TF_CONFIG"


def joined_cluster(settings: TrainingSettings) -> Cluster | None:
    """What TF_CONFIG says where it names several workers, as Kubernetes' training operators set it.

    Args:
      settings: of the training.

    Raises:
      ConfigError: it cannot be read, or has another number of workers than `training.workers`.
    """
    text = os.environ.get(_VARIABLE, "")
    cluster = Cluster.of(text) if '"cluster"' in text else None
    if cluster is None or cluster.workers == 1:
        return None
    if settings.workers not in (None, cluster.workers):
        raise ConfigError(
            [f"training.workers must be null, or {cluster.workers}, as TF_CONFIG says; got {settings.workers}."]
        )
    return cluster
