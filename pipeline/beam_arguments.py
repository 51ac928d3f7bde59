"""The settings of Beam as the arguments that its pipelines take."""

from typing import Final

from pipeline.beam_settings import BeamSettings

_LONGEST_JOB: Final = 30 * 24 * 3600
"""In seconds. Beam 2.60 waits for a job no longer than for one answer of its server, which is 60 by default."""

_RUNNERS: Final = {"portable": "PortableRunner", "dataflow": "DataflowRunner"}
_OF_RUNNER: Final = {
    "portable": {
        "job_endpoint": "endpoint",
        "environment_config": "environment_config",
        "parallelism": "parallelism",
        "sdk_worker_parallelism": "parallelism",
    },
    "dataflow": {
        "project": "project",
        "region": "region",
        "temp_location": "temp_location",
        "sdk_container_image": "image",
        "setup_file": "setup_file",
        "max_num_workers": "parallelism",
    },
}
"""Beam's options to the settings that they take their values from."""


def beam_arguments(settings: BeamSettings) -> list[str]:
    """What `apache_beam.Pipeline(argv=...)` and TFX's `beam_pipeline_args` take; none for the in-process runner.

    Example:
      >>> beam_arguments(BeamSettings())
      []
      >>> beam_arguments(BeamSettings(runner="portable", endpoint="flink:8099", environment="loopback"))[:3]
      ['--runner=PortableRunner', '--environment_type=LOOPBACK', '--job_server_timeout=2592000']
    """
    if settings.runner == "in_process":
        return []
    values = {option: getattr(settings, name) for option, name in _OF_RUNNER[settings.runner].items()}
    environment = {}
    if settings.runner == "portable" and settings.environment:
        environment = {"environment_type": settings.environment.upper(), "job_server_timeout": _LONGEST_JOB}
    given = {"runner": _RUNNERS[settings.runner], **environment, **values, **settings.options}
    return [f"--{option}={value}" for option, value in given.items() if value is not None]
