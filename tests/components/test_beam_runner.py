"""components/beam_runner.py: the runner of a pipeline that names none."""

import apache_beam as beam
import pytest
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner

import components.beam_runner  # noqa: F401

pytestmark = pytest.mark.stages


def test_a_pipeline_without_a_runner_runs_in_this_process() -> None:
    assert isinstance(beam.Pipeline(argv=[]).runner, FnApiRunner)
