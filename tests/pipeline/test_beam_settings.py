"""The settings of Beam as arguments for runners. Their rules are in `tests/bad_input`."""

import pytest

from pipeline.beam_settings import BeamSettings, InProcessSettings, check_local_beam
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
    assert set(BeamSettings.model_validate(settings).arguments()) == arguments


@pytest.mark.stages
@pytest.mark.parametrize("settings", [PORTABLE, DATAFLOW])
def test_beam_knows_every_argument(settings) -> None:
    from apache_beam.options.pipeline_options import PipelineOptions

    arguments = BeamSettings.model_validate(settings).arguments()
    options = PipelineOptions(arguments).get_all_options(drop_default=True)
    assert {f"--{name}={value}" for name, value in options.items()} == set(arguments)


def test_a_local_run_refuses_workers_that_cannot_see_its_artifacts() -> None:
    check_local_beam(InProcessSettings())
    check_local_beam(BeamSettings.model_validate(PORTABLE))
    with pytest.raises(ConfigError, match="beam.runner: .*in_process or portable.*'dataflow'"):
        check_local_beam(BeamSettings.model_validate(DATAFLOW))
