"""Pusher: when it pushes, and the properties of its artifact; `push_version` has the versions themselves."""

import json
import os
from pathlib import Path

import pytest
from tensorflow.core.protobuf import saved_model_pb2

from components.pusher.model_card import model_card
from components.pusher.warm_up import warm_up
from schemas.domains import EVERY_DOMAIN
from schemas.evaluation import Verdict
from schemas.served_versions import (
    DESTINATION_PROPERTY,
    NEWEST_PROPERTY,
    PUSHED_PROPERTY,
    VERSION_PROPERTY,
    WAS_PUSHED_PROPERTY,
)
from tests.components.pusher.card import CUT, DATA, SETTINGS, history, report

pytestmark = pytest.mark.stages

EXPORTED = 1_700_000_000
KINDS = ("IngestionReport", "TransformGraph", "ModelRun", "ModelEvaluation")
DATA_REPORT = ("report.json", json.dumps(DATA))
CUT_REPORT = ("cut_texts.json", CUT.to_json())
HISTORY = ("training.json", history().to_json())
METRICS = ("metrics.json", report().to_json())
GRAPH = saved_model_pb2.SavedModel()
GRAPH.meta_graphs.add().signature_def["score"].method_name = "tensorflow/serving/predict"
MODEL = {"saved_model.pb": GRAPH.SerializeToString(), "assets/vocabulary": b"words"}
EVAL = {"q1": ("a volcano", {"d1": ("un volcan", 2), "d2": ("un loup", 0)})}
CARD, WARM_UP = "MODEL_CARD.md", "assets.extra/tf_serving_warmup_requests"
EXAMPLE_QUERIES = "assets.extra/example_queries.json"


@pytest.fixture
def serving(tmp_path) -> Path:
    return tmp_path / "serving"


@pytest.fixture
def model(tmp_path, make_artifact):
    """The Model artifact."""
    model = make_artifact("Model", tmp_path)
    for name, content in MODEL.items():
        path = Path(model.uri, "Format-Serving", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        os.utime(path, (EXPORTED, EXPORTED))
    return model


@pytest.fixture
def examples(request, tmp_path, make_examples):
    return make_examples(tmp_path, {}, evaluation=getattr(request, "param", EVAL))


@pytest.fixture
def beside(model, examples) -> dict[str, bytes]:
    """Path in the version to content of the files that a push adds."""
    card = model_card(SETTINGS, DATA, CUT, history(), report(), "fit")
    files = [str(path) for path in Path(examples.uri, "Split-eval").iterdir()]
    return {
        CARD: card.encode(),
        WARM_UP: warm_up(f"{model.uri}/Format-Serving", files, EVERY_DOMAIN),
        EXAMPLE_QUERIES: b'[\n  "a volcano"\n]\n',
    }


@pytest.fixture
def push(request, tmp_path, serving, make_artifact, model, examples):
    """Pushes a model that Gate judged so; returns the PushedModel artifact."""
    from components.pusher.component import Pusher

    made_of = {"data_report": DATA_REPORT, "transform_graph": CUT_REPORT, "model_run": HISTORY, "evaluation": METRICS}
    inputs = {key: make_artifact(kind, tmp_path) for key, kind in zip(made_of, KINDS, strict=True)}
    for key, (name, content) in made_of.items():
        Path(inputs[key].uri, name).write_text(content)
    if getattr(request, "param", None) == "not counted":
        Path(inputs["transform_graph"].uri, CUT_REPORT[0]).unlink()
    parents = (tmp_path / f"push_{number}" for number in range(9))

    def push(blessed=True, newest="", is_pushed=False, settings=SETTINGS):
        parent = next(parents)
        blessing, pushed = make_artifact("ModelBlessing", parent), make_artifact("PushedModel", parent)
        blessing.set_int_custom_property("blessed", int(blessed))
        blessing.set_string_custom_property(NEWEST_PROPERTY, newest)
        blessing.set_int_custom_property(PUSHED_PROPERTY, int(is_pushed))
        Path(blessing.uri, "verdict.json").write_text(Verdict(blessed=blessed, reason="fit", comparison=None).to_json())
        Pusher.test_call(
            model,
            blessing,
            examples,
            **inputs,
            pushed_model=pushed,
            settings=settings,
            serving=str(serving),
        )
        return pushed

    return push


def test_the_artifact_s_properties_have_the_names_of_tfx_s_own_pusher():
    from tfx.components.pusher import executor

    ours = (WAS_PUSHED_PROPERTY, DESTINATION_PROPERTY, VERSION_PROPERTY)
    assert ours == (executor._PUSHED_KEY, executor._PUSHED_DESTINATION_KEY, executor._PUSHED_VERSION_KEY)


def contents(folder: Path | str) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("newest", "version"), [("", EXPORTED), ("7", EXPORTED), (str(EXPORTED + 60), EXPORTED + 60 + 1)]
)
def test_a_blessed_model_becomes_a_version_that_the_artifact_names(push, serving, beside, newest, version):
    pushed = push(newest=newest)
    assert contents(serving) == {f"{version}/{name}": content for name, content in {**MODEL, **beside}.items()}
    assert all(beside.values())
    assert pushed.get_int_custom_property("pushed") == 1
    assert pushed.get_string_custom_property("pushed_destination") == str(serving / str(version))
    assert pushed.get_string_custom_property("pushed_version") == str(version)


@pytest.mark.parametrize(
    "examples",
    [{"news/q1": ("a secret", {"d1": ("un secret", 2)}), "health/q2": ("a cure", {"d2": ("un soin", 2)})}],
    indirect=True,
)
def test_no_text_of_a_held_out_domain_goes_with_a_version(push, serving):
    push(settings={**SETTINGS, "data": {**SETTINGS["data"], "held_out": ["news"]}})
    (version,) = serving.iterdir()
    assert json.loads((version / EXAMPLE_QUERIES).read_bytes()) == ["a cure"]
    contents = [path.read_bytes() for path in version.rglob("*") if path.is_file()]
    assert any(b"a cure" in content for content in contents)
    assert not any(b"secret" in content for content in contents)


@pytest.mark.parametrize("push", ["not counted"], indirect=True)
def test_a_version_may_lack_example_queries_and_the_numbers_of_cut_texts(push, serving, beside):
    pushed = push(settings={**SETTINGS, "search": {**SETTINGS["search"], "example_queries": 0}})
    version = serving / str(EXPORTED)
    assert contents(version).keys() == {*MODEL, *beside} - {EXAMPLE_QUERIES}
    assert "In the train and eval lists" not in (version / CARD).read_text()
    assert contents(pushed.uri) == {}  # no second copy of the model


@pytest.mark.parametrize("is_pushed", [False, True])
def test_a_model_that_is_not_blessed_stays_where_it_is(push, serving, is_pushed):
    pushed = push(blessed=False, newest="7", is_pushed=is_pushed)
    assert not serving.exists()
    assert contents(pushed.uri) == {}
    assert pushed.get_int_custom_property("pushed") == 0
    assert not pushed.get_string_custom_property("pushed_destination")


def test_a_model_that_is_the_newest_version_already_gets_the_card_of_this_run_and_nothing_else(push, serving, beside):
    (serving / "7").mkdir(parents=True)
    (serving / "7" / "saved_model.pb").write_bytes(b"as it was")
    (serving / "7" / CARD).write_bytes(b"of an earlier run, with other settings")
    pushed = push(newest="7", is_pushed=True)
    assert contents(serving) == {"7/saved_model.pb": b"as it was", f"7/{CARD}": beside[CARD]}
    assert pushed.get_int_custom_property("pushed") == 1
    assert pushed.get_string_custom_property("pushed_destination") == str(serving / "7")
    assert pushed.get_string_custom_property("pushed_version") == "7"
    # A repeated run leaves the card of the push, which has the comparison.
    card = beside[CARD].decode().replace("The gate: fit.", "The gate: not significantly worse than version 6.").encode()
    (serving / "7" / CARD).write_bytes(card)
    push(newest="7", is_pushed=True)
    assert contents(serving)[f"7/{CARD}"] == card


@pytest.mark.parametrize("examples", [{}], indirect=True)
def test_a_model_without_eval_lists_is_pushed_without_warm_up(push, serving, beside):
    push()
    assert contents(serving / str(EXPORTED)) == {**MODEL, CARD: beside[CARD]}
