"""The Pusher's executor: what it tells TFX of a push; `models.versions` has the versions themselves."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.beam

MODEL = {"saved_model.pb": "graph", "assets/vocabulary": "words"}


@pytest.fixture
def serving(tmp_path) -> Path:
    return tmp_path / "serving"


@pytest.fixture
def push(tmp_path, serving, make_artifact):
    """Pushes a model; returns the PushedModel artifact."""
    from google.protobuf import json_format
    from tfx.proto import pusher_pb2
    from tfx.types import standard_component_specs as keys

    from components.pusher.executor import Executor

    model, blessing = make_artifact("Model", tmp_path), make_artifact("ModelBlessing", tmp_path)
    for name, content in MODEL.items():
        path = Path(model.uri, "Format-Serving", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    destination = pusher_pb2.PushDestination(
        filesystem=pusher_pb2.PushDestination.Filesystem(base_directory=str(serving))
    )
    parents = (tmp_path / f"push_{number}" for number in range(9))

    def push(blessed=True):
        blessing.set_int_custom_property("blessed", int(blessed))
        pushed = make_artifact("PushedModel", next(parents))
        Executor().Do(
            {keys.MODEL_KEY: [model], keys.MODEL_BLESSING_KEY: [blessing]},
            {keys.PUSHED_MODEL_KEY: [pushed]},
            {keys.PUSH_DESTINATION_KEY: json_format.MessageToJson(destination)},
        )
        return pushed

    return push


def contents(folder: Path | str) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in Path(folder).rglob("*") if path.is_file()}


def test_a_blessed_model_becomes_a_version_that_the_artifact_names(push, serving):
    pushed = push()
    (version,) = serving.iterdir()
    assert version.name.isdigit()
    assert contents(version) == MODEL
    assert pushed.get_int_custom_property("pushed") == 1
    assert pushed.get_string_custom_property("pushed_destination") == str(version)
    assert pushed.get_string_custom_property("pushed_version") == version.name


def test_the_artifact_holds_a_copy_of_the_model(push):
    assert contents(push().uri) == MODEL


def test_a_model_that_is_not_blessed_stays_where_it_is(push, serving):
    pushed = push(blessed=False)
    assert not serving.exists()
    assert contents(pushed.uri) == {}
    assert pushed.get_int_custom_property("pushed") == 0
    assert not pushed.get_string_custom_property("pushed_destination")


def test_a_model_that_is_the_latest_version_already_names_that(push, serving):
    first, second = push(), push()
    (version,) = serving.iterdir()
    for pushed in (first, second):
        assert pushed.get_int_custom_property("pushed") == 1
        assert pushed.get_string_custom_property("pushed_destination") == str(version)
        assert contents(pushed.uri) == MODEL
