"""Settings of Beam. Importing this file does not import Beam."""

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from schemas.errors import ConfigError
from schemas.json_files import parse_json
from schemas.settings import KindSettings

_LONGEST_JOB: Final = 30 * 24 * 3600
"""Timeout of a job in seconds; by default Beam 2.60 waits 60 s for a whole job, as for each answer of its server."""


def _is_address(text: str) -> bool:
    address = re.fullmatch(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\]):([0-9]{1,5})", text)
    return address is not None and 0 < int(address[1]) < 1 << 16


def _has_command(text: str) -> bool:
    try:
        content = parse_json(text)
    except ValueError:
        return False
    return isinstance(content, dict) and isinstance(content.get("command"), str) and bool(content["command"])


def _checked_address(address: str) -> str:
    if not _is_address(address):
        raise ValueError(f"must be host:port; got {address!r}")
    return address


def _checked_name(name: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9:.-]*[a-z0-9]", name):
        raise ValueError(f"must be in lower-case letters, digits and hyphens; got {name!r}")
    return name


def _checked_folder(folder: str) -> str:
    if not re.fullmatch(r"gs://[^/]+(/.*)?", folder):
        raise ValueError(f"must be a folder on Google Cloud Storage (gs://...); got {folder!r}")
    return folder


_ENVIRONMENTS: Final[Mapping[str, tuple[str, Callable[[str], bool] | None]]] = {
    "external": ("host:port, the worker pool's address", _is_address),
    "docker": ("the name of an image", lambda text: bool(re.fullmatch(r"[^\s/][^\s]*", text))),
    "process": ('a JSON object with a "command"', _has_command),
    "loopback": ("null", None),
}
"""The form of each environment's `environment_config`."""


class BeamSettings(KindSettings):
    """The runner of the Beam stages, which write the same records on every runner. See docs/engines.md."""

    kinds: ClassVar[dict[str, type[Any]]] = {}
    kind_key: ClassVar[str] = "runner"
    default_kind: ClassVar[str | None] = "in_process"

    runner: str
    """Kind of the runner: in_process (this process), portable (a job server: Flink's, Spark's or Beam's own) or
    dataflow (Google's)."""

    def arguments(self) -> list[str]:
        """Returns the arguments for `apache_beam.Pipeline(argv=...)` and TFX's `beam_pipeline_args`."""
        return []


@BeamSettings.add
class InProcessSettings(BeamSettings):
    """This process."""

    runner: Literal["in_process"] = "in_process"


class _EngineSettings(BeamSettings):
    """A runner whose workers are elsewhere."""

    parallelism: Annotated[int | None, Field(ge=1, le=100_000)] = None
    """Number of workers that share a step (with dataflow, the largest number); null: the engine decides."""
    options: dict[str, str] = {}
    """Further options of the runner, names without dashes to values."""

    @field_validator("options")
    @classmethod
    def _check_options(cls, options: dict[str, str]) -> dict[str, str]:
        if bad := [name for name in options if not re.fullmatch(r"[a-z][a-z0-9_]*", name)]:
            raise ValueError(f"must have names in lower-case letters, digits and underscores; got {bad}")
        if taken := sorted(options.keys() & cls.model_fields.keys()):
            raise ValueError(f"must not repeat settings of beam itself; got {taken}")
        return options

    def _arguments(self, values: Mapping[str, Any]) -> list[str]:
        return [f"--{name}={value}" for name, value in {**values, **self.options}.items() if value is not None]


@BeamSettings.add
class PortableSettings(_EngineSettings):
    """A job server: Flink's, Spark's or Beam's own."""

    runner: Literal["portable"] = "portable"
    endpoint: Annotated[str, AfterValidator(_checked_address)]
    """Address of the job server, such as `localhost:8099`."""
    environment: Literal["external", "docker", "process", "loopback"]
    """Where our code runs: external (an existing worker pool), docker (containers of an image), process (a command on
    the engine's machines) or loopback (this process, for trials)."""
    environment_config: str | None = None
    """For external the address of the pool, such as `localhost:50000`; for docker the image; for process a JSON object
    with the `command`; for loopback null."""

    @field_validator("environment_config")
    @classmethod
    def _check_environment_config(cls, config: str | None, info: ValidationInfo) -> str | None:
        environment = info.data.get("environment", "loopback")
        form, holds = _ENVIRONMENTS[environment]
        if (holds is None) != (config is None) or (holds and config is not None and not holds(config)):
            raise ValueError(f"must be {form} where beam.environment is {environment}; got {config!r}")
        return config

    def arguments(self) -> list[str]:
        """Returns the arguments of Beam.

        Example:
          >>> PortableSettings(endpoint="flink:8099", environment="loopback").arguments()[:3]
          ['--runner=PortableRunner', '--environment_type=LOOPBACK', '--job_server_timeout=2592000']
        """
        values = {
            "runner": "PortableRunner",
            "environment_type": self.environment.upper(),
            "job_server_timeout": _LONGEST_JOB,
            "job_endpoint": self.endpoint,
            "environment_config": self.environment_config,
            "parallelism": self.parallelism,
            "sdk_worker_parallelism": self.parallelism,
        }
        return self._arguments(values)


@BeamSettings.add
class DataflowSettings(_EngineSettings):
    """Google Cloud Dataflow."""

    runner: Literal["dataflow"] = "dataflow"
    project: Annotated[str, AfterValidator(_checked_name)]
    """Id of the Google Cloud project."""
    region: Annotated[str, AfterValidator(_checked_name)]
    """Region, such as `europe-west1`."""
    temp_location: Annotated[str, AfterValidator(_checked_folder)]
    """Folder for intermediate files, `gs://...`."""
    image: str | None = None
    """Image of the workers with the project installed, instead of `setup_file`."""
    setup_file: str | None = None
    """Path of the project's `setup.py`, from which each worker installs the project as it starts."""

    @model_validator(mode="after")
    def _check_workers(self) -> "DataflowSettings":
        if (self.image is None) == (self.setup_file is None):
            raise ValueError(
                "either image or setup_file must be given, to bring the project to Dataflow's workers; got "
                f"{self.image!r} and {self.setup_file!r}"
            )
        return self

    def arguments(self) -> list[str]:
        """Returns the arguments of Beam."""
        values = {
            "runner": "DataflowRunner",
            "project": self.project,
            "region": self.region,
            "temp_location": self.temp_location,
            "sdk_container_image": self.image,
            "setup_file": self.setup_file,
            "max_num_workers": self.parallelism,
        }
        return self._arguments(values)


def check_local_beam(settings: BeamSettings) -> None:
    """Refuses a runner whose workers do not see the local folder of a local run's artifacts.

    Raises:
      ConfigError: the runner is Dataflow.
    """
    if settings.runner == "dataflow":
        raise ConfigError(
            [
                "beam.runner: must be in_process or portable in a local run, whose artifacts lie in a local folder; "
                "got 'dataflow', whose workers see only Google Cloud Storage."
            ]
        )
