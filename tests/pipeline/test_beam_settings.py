"""The settings of Beam: faults, and the arguments for runners."""

import pydantic
import pytest

from pipeline.beam_settings import BeamSettings, beam_arguments, check_local_beam
from schemas.errors import ConfigError

PORTABLE = {
    "runner": "portable",
    "endpoint": "localhost:8099",
    "environment": "external",
    "environment_config": "localhost:50000",
}
DATAFLOW = {
    "runner": "dataflow",
    "project": "a-project",
    "region": "europe-west1",
    "temp_location": "gs://bucket/temp",
    "image": "europe-docker.pkg.dev/a-project/clir/worker:1",
}


def faults(**settings) -> dict[str, str]:
    """The faults of settings, by key."""
    with pytest.raises(pydantic.ValidationError) as error:
        BeamSettings(**settings)
    return {str(one["loc"][0]): str(one["msg"]) for one in error.value.errors()}


@pytest.mark.parametrize(
    ("settings", "arguments"),
    [
        (
            {**PORTABLE, "parallelism": 8, "options": {"flink_master": "jobmanager:8081"}},
            {
                "--runner=PortableRunner",
                "--job_endpoint=localhost:8099",
                "--environment_type=EXTERNAL",
                "--environment_config=localhost:50000",
                "--job_server_timeout=2592000",
                "--parallelism=8",
                "--sdk_worker_parallelism=8",
                "--flink_master=jobmanager:8081",
            },
        ),
        (
            {**DATAFLOW, "parallelism": 20},
            {
                "--runner=DataflowRunner",
                "--project=a-project",
                "--region=europe-west1",
                "--temp_location=gs://bucket/temp",
                "--sdk_container_image=europe-docker.pkg.dev/a-project/clir/worker:1",
                "--max_num_workers=20",
            },
        ),
        (
            {**DATAFLOW, "image": None, "setup_file": "./setup.py"},
            {
                "--runner=DataflowRunner",
                "--project=a-project",
                "--region=europe-west1",
                "--temp_location=gs://bucket/temp",
                "--setup_file=./setup.py",
            },
        ),
    ],
)
def test_every_setting_becomes_the_option_of_its_runner(settings, arguments) -> None:
    assert set(beam_arguments(BeamSettings(**settings))) == arguments


@pytest.mark.stages
@pytest.mark.parametrize("settings", [PORTABLE, DATAFLOW])
def test_beam_knows_every_argument(settings) -> None:
    from apache_beam.options.pipeline_options import PipelineOptions

    arguments = beam_arguments(BeamSettings(**settings))
    options = PipelineOptions(arguments).get_all_options(drop_default=True)
    assert {f"--{name}={value}" for name, value in options.items()} == set(arguments)


@pytest.mark.parametrize(
    ("change", "key", "says"),
    [
        ({"endpoint": None}, "endpoint", "must be given where beam.runner is portable"),
        ({"endpoint": "localhost"}, "endpoint", "must be host:port; got 'localhost'"),
        ({"endpoint": "localhost:70000"}, "endpoint", "must be host:port"),
        ({"endpoint": "http://localhost:8099"}, "endpoint", "must be host:port"),
        ({"environment": None}, "environment", "must be given where beam.runner is portable"),
        ({"environment_config": None}, "environment_config", "must be host:port, the worker pool's address"),
        ({"environment": "process"}, "environment_config", "must be a JSON object"),
        ({"environment": "loopback"}, "environment_config", "must be null where beam.environment is loopback"),
        ({"project": "a-project"}, "project", "must be null where beam.runner is portable"),
        ({"setup_file": "setup.py"}, "setup_file", "must be null"),
        ({"parallelism": 0}, "parallelism", "greater than or equal to 1"),
        ({"options": {"--flink": "x"}}, "options", "must have names in lower-case letters"),
        ({"options": {"parallelism": "2"}}, "options", "must not repeat settings of beam itself"),
    ],
)
def test_a_fault_of_the_form_is_named(change, key, says) -> None:
    found = faults(**{**PORTABLE, **change})
    assert says in found[key]


def test_all_faults_are_reported_together() -> None:
    found = faults(runner="dataflow", endpoint="localhost:8099", region="Europe", temp_location="/tmp")
    assert set(found) == {"endpoint", "project", "region", "temp_location", "setup_file"}


def test_what_is_of_a_runner_is_refused_in_process() -> None:
    found = faults(endpoint="localhost:8099", parallelism=2, options={"x": "y"})
    assert set(found) == {"endpoint", "parallelism", "options"}


def test_dataflow_needs_an_image_or_a_setup_file_and_not_both() -> None:
    assert "setup_file" in faults(**{**DATAFLOW, "image": None})
    assert "setup_file" in faults(**DATAFLOW, setup_file="setup.py")


def test_a_local_run_refuses_workers_that_cannot_see_its_artifacts() -> None:
    check_local_beam(BeamSettings())
    check_local_beam(BeamSettings(**PORTABLE))
    with pytest.raises(ConfigError, match="must be in_process or portable in a local run"):
        check_local_beam(BeamSettings(**DATAFLOW))
