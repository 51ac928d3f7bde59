"""A stage that a function declares: its component, its specification and its executor."""

import importlib
import pickle
from pathlib import Path

import apache_beam as beam
import pytest

pytestmark = pytest.mark.stages  # it imports TFX

MODULE = "tests.components.small_stages"
IN_MEMORY = ["--direct_running_mode=in_memory"]


@pytest.fixture
def stages():
    """Small stages, in a module where TFX can find them."""
    return importlib.import_module(MODULE)


@pytest.fixture
def channels():
    """A channel of Examples, and one of a Collection."""
    from tfx.types import channel, standard_artifacts

    from schemas.artifacts import Collection

    return [channel.Channel(type=artifact_type) for artifact_type in (standard_artifacts.Examples, Collection)]


# The component


def test_the_component_has_name_docstring_inputs_outputs_and_properties_of_the_function(stages, channels):
    examples, collection = channels
    made = stages.Count(examples=examples, collection=collection, limit=3, settings=stages.Limits(minimum=2))
    assert (made.id, type(made).__doc__, type(made).__module__) == ("Count", "Counts.", MODULE)
    assert [*made.inputs] == ["examples", "collection"] and [*made.outputs] == ["report"]
    assert made.outputs["report"].type_name == "clir.IngestionReport"
    assert made.exec_properties == {"limit": 3, "share": 0.5, "settings": '{"minimum":2,"names":[]}'}
    # What is None is left out.
    made = stages.Count(examples=examples, collection=None, limit=1, settings=stages.Limits(), tag=None)
    assert [*made.inputs] == ["examples"]
    assert made.exec_properties.keys() == {"limit", "share", "settings"}


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, "limit"),
        ({"limit": "3"}, "limit"),
        ({"limit": 3, "limits": 4}, "examples, collection, limit, settings, share, tag; got limits"),
        ({"limit": 3, "settings": {"minimum": "many"}}, "minimum"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(stages, channels, arguments, error):
    examples, collection = channels
    with pytest.raises((TypeError, ValueError), match=error):
        stages.Count(**{"examples": examples, "settings": {}, **arguments})
    with pytest.raises(TypeError, match="examples"):
        stages.Count(examples=collection, limit=1, settings={})


# The executor


def test_the_executor_is_found_by_its_path_and_can_be_pickled(stages):
    from tfx.utils import name_utils

    for stage in (stages.Count, stages.Share):
        executor = stage.EXECUTOR_SPEC.executor_class
        assert name_utils.get_full_name(executor) == f"{MODULE}.{stage.__name__}Executor"
        assert pickle.loads(pickle.dumps(executor)) is executor is getattr(stages, executor.__name__)


def test_the_function_gets_artifacts_values_and_settings(stages, make_artifact, tmp_path):
    examples, report = make_artifact("Examples", tmp_path), make_artifact("IngestionReport", tmp_path)
    executor = stages.Count.EXECUTOR_SPEC.executor_class()
    properties = {"limit": 3, "share": 0.5, "settings": '{"minimum":2}', "identity": "0a"}
    executor.Do({"examples": [examples]}, {"report": [report]}, properties)
    assert stages.calls.pop() == (examples, None, report, 3, stages.Limits(minimum=2), 0.5, None, "0a")


@pytest.mark.parametrize("has_runner", [False, True])
def test_work_is_shared_where_the_executor_has_a_runner(stages, make_artifact, tmp_path, has_runner):
    report, made = make_artifact("IngestionReport", tmp_path), []

    def make_pipeline():
        made.append(beam.Pipeline(argv=IN_MEMORY))
        return made[-1]

    executor = stages.Share.EXECUTOR_SPEC.executor_class
    context = executor.Context(
        unique_id="1", beam_pipeline_args=[], make_beam_pipeline_fn=make_pipeline if has_runner else None
    )
    executor(context).Do({}, {"report": [report]}, {"numbers": "[4,9]"})
    assert stages.calls.pop() == [2, 3]
    assert len(made) == has_runner
    assert [*Path(report.uri).iterdir()] == []


def test_a_stage_makes_its_own_pipelines_on_the_runner(stages, make_artifact, tmp_path):
    report, made = make_artifact("IngestionReport", tmp_path), []
    executor = stages.Pipeline.EXECUTOR_SPEC.executor_class
    context = executor.Context(unique_id="1", beam_pipeline_args=[], make_beam_pipeline_fn=lambda: made.append(1))
    executor(context).Do({}, {"report": [report]}, {})
    assert made == [1, 1]


# Refused at import


def test_a_signature_that_is_no_stage_s_is_refused():
    from tfx.types.standard_artifacts import Examples

    from components.stage import Apply, Input, Output, stage

    def no_output(examples: Input[Examples]) -> None: ...
    def no_type(report: Output[Examples], limit) -> None: ...
    def several(report: Output[Examples], *limits: int) -> None: ...
    def bare(examples: Examples, report: Output[Examples]) -> None: ...
    def not_an_artifact(report: Output[int]) -> None: ...
    def unknown(report: Output[Examples], limit: beam.Pipeline) -> None: ...
    def needless(report: Output[Examples] | None = None) -> None: ...
    def not_none_default(report: Output[Examples], limit: int | None = 3) -> None: ...
    def with_default(report: Output[Examples], apply: Apply = map) -> None: ...

    parameters = {
        no_output: "",
        no_type: "limit",
        several: "limits",
        bare: "examples",
        not_an_artifact: "report",
        unknown: "limit",
        needless: "report",
        not_none_default: "limit",
        with_default: "apply",
    }
    for function, parameter in parameters.items():
        with pytest.raises(TypeError, match=f"{function.__name__}.*{parameter}"):
            stage(function)
