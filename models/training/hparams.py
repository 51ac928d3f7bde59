"""The settings and the results of trainings for TensorBoard's HParams."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any, Final

import tensorflow as tf
from tensorboard.plugins.hparams import api

from models.job import TrainingJob

_SECTIONS: Final = ("channels", "loss", "training", "adversary", "feedback")
_MACHINE_SETTINGS: Final = ("training.device", "training.replicas", "training.workers")
"""Settings that affect where a training runs, but not its results."""


def write_hparams(folder: str, settings: Mapping[str, Any], figures: Mapping[str, float] | None = None) -> None:
    """Writes the settings of a training, or of a trial with its figures.

    Args:
      folder: the folder of the run in TensorBoard.
      settings: from dotted names to values.
      figures: from names to final values; a training's events already have them.
    """
    with closing(tf.summary.create_file_writer(folder)) as writer, writer.as_default(step=0):
        api.hparams({name: _shown(value) for name, value in settings.items()})
        for name, value in (figures or {}).items():
            tf.summary.scalar(name, value)


def settings_of(job: TrainingJob) -> dict[str, Any]:
    """The settings of a job that affect its training's results, by dotted names.

    Example:
      >>> from schemas.word_rules import WordRules
      >>> job = TrainingJob(languages=("en", "fr"), rules=WordRules(), top_grade=2)
      >>> settings_of(job)["channels.towers.epsilon"], settings_of(job)["loss.kind"]
      (1.0, 'sosl')
    """
    content = job.model_dump(mode="json", exclude_none=True)
    content["channels"] = {"towers": content["towers"], **content["channels"]}
    used = [name for name in _SECTIONS if name != "adversary" or job.adversary.weight]
    flat = _flat({name: content[name] for name in used})
    return {name: value for name, value in flat if name not in _MACHINE_SETTINGS}


def _flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _shown(value: Any) -> bool | float | str:
    """Writes lists as text, because TensorBoard does not take them."""
    return value if isinstance(value, bool | int | float | str) else str(value)
