"""Settings of Beam. Importing this file does not import Beam."""

import re
from typing import Annotated, Final, Literal

from pydantic import Field, ValidationInfo, field_validator

from schemas.errors import ConfigError
from schemas.json_files import parse_json
from schemas.settings import Settings

_PORTABLE = "portable"
_DATAFLOW = "dataflow"


class BeamSettings(Settings):
    """The runner of the Beam stages, which write the same records on every runner. See docs/engines.md."""

    runner: Literal["in_process", "portable", "dataflow"] = "in_process"
    """in_process (this process), portable (a job server: Flink's, Spark's or Beam's own) or dataflow (Google's)."""
    endpoint: str | None = None
    """Address of the job server (portable), such as `localhost:8099`."""
    environment: Literal["external", "docker", "process", "loopback"] | None = None
    """Place of our code (portable): external (an existing worker pool), docker (containers of an image), process (a
    command on the engine's machines) or loopback (this process, for trials)."""
    environment_config: str | None = None
    """For external the address of the pool, such as `localhost:50000`; for docker the image; for process a JSON object
    with the `command`; for loopback null."""
    parallelism: Annotated[int | None, Field(ge=1, le=100_000)] = None
    """Number of workers that share a step, with dataflow the largest number; null leaves it to the engine."""
    project: str | None = None
    """Id of the Google Cloud project (dataflow)."""
    region: str | None = None
    """Region (dataflow), such as `europe-west1`."""
    temp_location: str | None = None
    """Folder for intermediate files (dataflow), `gs://...`."""
    image: str | None = None
    """Image of the workers with the project installed (dataflow); or else `setup_file`."""
    setup_file: str | None = None
    """Path of the project's `setup.py` (dataflow), from which each worker installs the project as it starts."""
    options: dict[str, str] = {}
    """Further options of the runner, names without dashes to values."""

    @field_validator("endpoint")
    @classmethod
    def _job_server_has_an_address(cls, endpoint: str | None, info: ValidationInfo) -> str | None:
        _check_owner(endpoint, info, _PORTABLE)
        if endpoint is not None and not _is_address(endpoint):
            raise ValueError(f"must be host:port; got {endpoint!r}")
        return endpoint

    @field_validator("environment")
    @classmethod
    def _environment_is_of_a_job_server(cls, environment: str | None, info: ValidationInfo) -> str | None:
        _check_owner(environment, info, _PORTABLE)
        return environment

    @field_validator("environment_config")
    @classmethod
    def _environment_is_described(cls, config: str | None, info: ValidationInfo) -> str | None:
        environment = info.data.get("environment")
        forms = {
            "external": ("host:port, the worker pool's address", _is_address),
            "docker": ("the name of an image", lambda text: bool(re.fullmatch(r"[^\s/][^\s]*", text))),
            "process": ('a JSON object with a "command"', _has_command),
        }
        form, holds = forms.get(environment or "", ("null", None))
        if (holds is None) != (config is None) or (holds and config is not None and not holds(config)):
            raise ValueError(f"must be {form} where beam.environment is {environment or 'null'}; got {config!r}")
        return config

    @field_validator("parallelism")
    @classmethod
    def _parallelism_needs_a_runner(cls, parallelism: int | None, info: ValidationInfo) -> int | None:
        if parallelism is not None and info.data.get("runner") == "in_process":
            raise ValueError(f"must be null where beam.runner is in_process; got {parallelism}")
        return parallelism

    @field_validator("project", "region")
    @classmethod
    def _dataflow_has_project_and_region(cls, name: str | None, info: ValidationInfo) -> str | None:
        _check_owner(name, info, _DATAFLOW)
        if name is not None and not re.fullmatch(r"[a-z][a-z0-9:.-]*[a-z0-9]", name):
            raise ValueError(f"must be in lower-case letters, digits and hyphens; got {name!r}")
        return name

    @field_validator("temp_location")
    @classmethod
    def _temp_location_is_on_cloud_storage(cls, folder: str | None, info: ValidationInfo) -> str | None:
        _check_owner(folder, info, _DATAFLOW)
        if folder is not None and not re.fullmatch(r"gs://[^/]+(/.*)?", folder):
            raise ValueError(f"must be a folder on Google Cloud Storage (gs://...); got {folder!r}")
        return folder

    @field_validator("setup_file")
    @classmethod
    def _workers_have_the_project(cls, setup_file: str | None, info: ValidationInfo) -> str | None:
        image, runner = info.data.get("image"), info.data.get("runner")
        if runner == _DATAFLOW and (image is None) == (setup_file is None):
            raise ValueError(
                "must be given where beam.image is not, and only there: one of both brings the project to Dataflow's "
                f"workers; got {setup_file!r} and the image {image!r}"
            )
        if runner != _DATAFLOW and (source := image or setup_file):
            raise ValueError(f"must be null, and beam.image too, where beam.runner is {runner}; got {source!r}")
        return setup_file

    @field_validator("options")
    @classmethod
    def _options_are_of_a_runner(cls, options: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        if options and info.data.get("runner") == "in_process":
            raise ValueError(f"must be empty where beam.runner is in_process; got {options}")
        if bad := [name for name in options if not re.fullmatch(r"[a-z][a-z0-9_]*", name)]:
            raise ValueError(f"must have names in lower-case letters, digits and underscores; got {bad}")
        if taken := sorted(options.keys() & {name for name in cls.model_fields}):
            raise ValueError(f"must not repeat settings of beam itself; got {taken}")
        return options


def _check_owner(value: str | None, info: ValidationInfo, owner: str) -> None:
    """Requires a setting where its runner is chosen, and refuses it elsewhere."""
    runner = info.data.get("runner")
    if runner is not None and (value is None) == (runner == owner):
        must = "be given" if value is None else "be null"
        raise ValueError(f"must {must} where beam.runner is {runner}; got {value!r}")


def _is_address(text: str) -> bool:
    address = re.fullmatch(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\]):([0-9]{1,5})", text)
    return address is not None and 0 < int(address[1]) < 1 << 16


def _has_command(text: str) -> bool:
    try:
        content = parse_json(text)
    except ValueError:
        return False
    return isinstance(content, dict) and isinstance(content.get("command"), str) and bool(content["command"])


_LONGEST_JOB: Final = 30 * 24 * 3600
"""Timeout of a job in seconds: Beam 2.60 waits for a job no longer than for one answer of its server, by default 60."""

_RUNNERS: Final = {"portable": "PortableRunner", "dataflow": "DataflowRunner"}
_RUNNER_OPTIONS: Final = {
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
"""Beam's options to the settings with their values."""


def beam_arguments(settings: BeamSettings) -> list[str]:
    """The arguments for `apache_beam.Pipeline(argv=...)` and TFX's `beam_pipeline_args`; none for in_process.

    Example:
      >>> beam_arguments(BeamSettings())
      []
      >>> beam_arguments(BeamSettings(runner="portable", endpoint="flink:8099", environment="loopback"))[:3]
      ['--runner=PortableRunner', '--environment_type=LOOPBACK', '--job_server_timeout=2592000']
    """
    if settings.runner == "in_process":
        return []
    values = {option: getattr(settings, name) for option, name in _RUNNER_OPTIONS[settings.runner].items()}
    environment = {}
    if settings.runner == "portable" and settings.environment:
        environment = {"environment_type": settings.environment.upper(), "job_server_timeout": _LONGEST_JOB}
    options = {"runner": _RUNNERS[settings.runner], **environment, **values, **settings.options}
    return [f"--{option}={value}" for option, value in options.items() if value is not None]


def check_local_beam(settings: BeamSettings) -> None:
    """Refuses a runner whose workers do not see the local folder of a local run's artifacts.

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
