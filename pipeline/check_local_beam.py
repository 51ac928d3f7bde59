"""Whether the workers of a Beam runner can see what a local run keeps."""

from pipeline.beam_settings import BeamSettings
from schemas.errors import ConfigError


def check_local_beam(settings: BeamSettings) -> None:
    """Refuses a runner whose workers see no folder of this machine, where a local run has its artifacts.

    Raises:
      ConfigError: the runner is Dataflow.
    """
    if settings.runner == "dataflow":
        raise ConfigError(
            [
                "beam.runner: must be in_process or portable in a local run, whose artifacts lie in a local folder; "
                "got 'dataflow', whose workers see Google Cloud Storage alone: take it where the pipeline's root is."
            ]
        )
