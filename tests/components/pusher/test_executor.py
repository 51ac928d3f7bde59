"""The atomic Pusher: a version is whole when it appears, and no version is overwritten."""

from pathlib import Path
from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.beam

NOW = 1_700_000_000


@pytest.fixture
def serving(tmp_path) -> Path:
    return tmp_path / "serving"


@pytest.fixture
def push(tmp_path, serving, make_artifact, monkeypatch):
    """Pushes a model at the time NOW; returns the PushedModel artifact."""
    from google.protobuf import json_format
    from tfx.components.pusher import executor as tfx_executor
    from tfx.proto import pusher_pb2
    from tfx.types import standard_component_specs as keys

    from components.pusher.executor import Executor

    monkeypatch.setattr(tfx_executor, "time", SimpleNamespace(time=lambda: NOW + 0.5))
    model, blessing = make_artifact("Model", tmp_path), make_artifact("ModelBlessing", tmp_path)
    saved = Path(model.uri) / "Format-Serving"
    (saved / "assets").mkdir(parents=True)
    (saved / "saved_model.pb").write_text("graph")
    (saved / "assets" / "vocabulary").write_text("words")
    destination = pusher_pb2.PushDestination(
        filesystem=pusher_pb2.PushDestination.Filesystem(base_directory=str(serving))
    )

    def push(blessed=True):
        blessing.set_int_custom_property("blessed", int(blessed))
        pushed = make_artifact("PushedModel", tmp_path)
        Executor().Do(
            {keys.MODEL_KEY: [model], keys.MODEL_BLESSING_KEY: [blessing]},
            {keys.PUSHED_MODEL_KEY: [pushed]},
            {keys.PUSH_DESTINATION_KEY: json_format.MessageToJson(destination)},
        )
        return pushed

    return push


def contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_a_blessed_model_becomes_a_version(push, serving):
    pushed = push()
    assert contents(serving) == {f"{NOW}/saved_model.pb": "graph", f"{NOW}/assets/vocabulary": "words"}
    assert [path.name for path in serving.iterdir()] == [str(NOW)]  # nothing is left of the staging
    assert pushed.get_int_custom_property("pushed") == 1
    assert pushed.get_string_custom_property("pushed_destination") == str(serving / str(NOW))
    assert pushed.get_string_custom_property("pushed_version") == str(NOW)


def test_a_model_that_is_not_blessed_stays_where_it_is(push, serving):
    pushed = push(blessed=False)
    assert not serving.exists()
    assert pushed.get_int_custom_property("pushed") == 0


def test_a_version_appears_by_one_rename(push, serving, monkeypatch):
    from tfx.dsl.io import fileio

    seen = []

    def rename(source, target):
        seen.append((contents(Path(source)), Path(target).exists()))
        Path(source).rename(target)

    monkeypatch.setattr(fileio, "rename", rename)
    push()
    assert seen == [({"saved_model.pb": "graph", "assets/vocabulary": "words"}, False)]


@pytest.mark.parametrize("blessed", [True, False])
def test_leftovers_of_a_killed_push_are_removed(push, serving, blessed):
    stale = serving / ".incoming" / "1600000000"
    stale.mkdir(parents=True)
    (stale / "half").write_text("a model")
    push(blessed)
    assert [path.name for path in serving.iterdir()] == [str(NOW)] * blessed


def test_a_version_that_exists_is_not_overwritten(push, serving):
    for number in (NOW, NOW + 1):
        (serving / str(number)).mkdir(parents=True)
        (serving / str(number) / "saved_model.pb").write_text("older")
    pushed = push()
    assert contents(serving) == {
        f"{NOW}/saved_model.pb": "older",
        f"{NOW + 1}/saved_model.pb": "older",
        f"{NOW + 2}/saved_model.pb": "graph",
        f"{NOW + 2}/assets/vocabulary": "words",
    }
    assert pushed.get_string_custom_property("pushed_version") == str(NOW + 2)
    assert pushed.get_string_custom_property("pushed_destination") == str(serving / str(NOW + 2))
