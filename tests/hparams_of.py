"""Reads the settings of a run as TensorBoard's HParams does."""

from pathlib import Path

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams.metadata import SESSION_START_INFO_TAG
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData


def hparams_of(folder: Path) -> dict[str, bool | float | str]:
    """Returns the settings of the run in a folder of events, by name."""
    events = EventAccumulator(str(folder)).Reload()
    content = HParamsPluginData.FromString(events.SummaryMetadata(SESSION_START_INFO_TAG).plugin_data.content)
    shown = content.session_start_info.hparams
    return {name: getattr(value, str(value.WhichOneof("kind"))) for name, value in shown.items()}
