"""The clients of a TF Serving, over gRPC and REST, against the stand-in: they give what the model gives."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.encoders.encoder_channel import EncoderChannel
from models.exported.export import ExportedEncoder, export_ranker
from models.exported.model import LoadedModel
from models.rankers.ranker import Ranker
from schemas.errors import DataError
from serving.tf_serving_client import TfServingModel, TfServingRestModel, own_columns
from tests.models.encoders.small_encoder import DIM, FILES, CountingEncoder, record_of, write_vectors
from tests.models.small_model import features_of, small_text_features, small_towers
from tests.serving.conftest import StandIn, standing_in

pytestmark = pytest.mark.stages

LISTS = {
    "query": np.array(["white cat", "dog"]),
    "documents": np.array([["un chat blanc", "chien"], ["chien", ""]], object),
}
QUERY = {"query": np.array([b"white cat"], object)}


@pytest.fixture(params=["grpc", "rest"])
def api(request: pytest.FixtureRequest, stand_in: StandIn) -> Any:
    """Makes a client of one of the two APIs."""
    if request.param == "grpc":
        return lambda **settings: TfServingModel(stand_in.grpc, **settings)
    return lambda **settings: TfServingRestModel(stand_in.rest, **settings)


def test_a_client_gives_what_the_model_gives_in_this_process(api: Any, stand_in: StandIn) -> None:
    served, local = api(), LoadedModel(str(stand_in.versions["12"]))
    for signature, inputs in (("score", LISTS), ("serving_default", LISTS), ("encode_query", QUERY)):
        outputs, expected = served.call(signature, inputs), local.call(signature, inputs)
        assert outputs.keys() == expected.keys()
        for name, array in expected.items():
            assert outputs[name].dtype == array.dtype
            np.testing.assert_array_equal(outputs[name], array)


def test_the_newest_version_is_pinned_unless_another_is_asked_for(api: Any, stand_in: StandIn) -> None:
    assert (api().version, api(version="7").version) == ("12", "7")
    for version, path in stand_in.versions.items():
        expected = LoadedModel(str(path)).call("score", LISTS)["scores"]
        np.testing.assert_array_equal(api(version=version).call("score", LISTS)["scores"], expected)
    assert not np.array_equal(api(version="7").call("score", LISTS)["scores"], expected)


def test_the_signatures_are_the_model_s_and_over_rest_those_with_inputs(stand_in: StandIn) -> None:
    served, over_rest = TfServingModel(stand_in.grpc), TfServingRestModel(stand_in.rest)
    assert served.signatures == LoadedModel(str(stand_in.versions["12"])).signatures
    without_inputs = served.signatures - over_rest.signatures
    assert "channel_weights" in without_inputs and "score" in over_rest.signatures <= served.signatures
    assert all(served.call(signature, {}) for signature in without_inputs)


def test_lists_and_batches_may_be_empty(stand_in: StandIn) -> None:
    served = TfServingModel(stand_in.grpc)
    no_documents = {"query": np.array(["cat"]), "documents": np.zeros((1, 0), object)}
    assert served.call("score", no_documents)["scores"].shape == (1, 0)
    assert served.call("encode_query", {"query": np.array([])})["vector"].shape == (0, 2)


# A model without its pre-trained encoder


@pytest.fixture(scope="module")
def without_encoder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    """The stand-in, with a model whose encoder's vectors come from its callers."""
    path = tmp_path_factory.mktemp("serving") / "3"
    text_features = small_text_features(path.parent)
    towers = small_towers(initial_scale=1.0)
    towers(features_of(text_features, ["cat"], [["chat"]]))
    ranker = Ranker(
        {"towers": towers, "encoder": EncoderChannel(0.2, 0.5, name="encoder")}, {"towers": 1, "encoder": 1}
    )
    export_ranker(ranker, text_features, str(path), encoder=ExportedEncoder(record_of(FILES), None))
    with standing_in({"3": path}) as found:
        yield found


@pytest.fixture(params=[TfServingModel, TfServingRestModel])
def client(request: pytest.FixtureRequest, without_encoder: StandIn) -> Any:
    """A client of one of the two APIs in front of that model, with an encoder."""
    made = request.param(without_encoder.grpc if request.param is TfServingModel else without_encoder.rest)
    made.encoder = CountingEncoder()
    return made


def test_a_client_sends_the_vectors_of_its_encoder_with_the_texts(client: Any, without_encoder: StandIn) -> None:
    local = LoadedModel(str(without_encoder.versions["3"]), encoder=CountingEncoder())
    for signature, inputs in (("score", LISTS), ("encode_query", QUERY)):
        outputs, expected = client.call(signature, inputs), local.call(signature, inputs)
        assert outputs.keys() == expected.keys()
        for name, array in expected.items():
            np.testing.assert_allclose(outputs[name], array, rtol=1e-6)
    assert client.encoder.seen["document", "chien"] == 2


def test_its_lists_and_batches_may_be_empty(without_encoder: StandIn, tmp_path: Path) -> None:
    served = TfServingModel(without_encoder.grpc)
    served.encoder = write_vectors(tmp_path, {"query": ["cat"], "document": ["chat"]})
    no_documents = {"query": np.array(["cat"]), "documents": np.zeros((1, 0), object)}
    assert served.call("score", no_documents)["scores"].shape == (1, 0)
    assert served.call("encode_document", {"document": np.array([])})["vector"].shape == (0, 2 + DIM + 1)


def test_over_grpc_the_model_itself_names_its_encoder(without_encoder: StandIn) -> None:
    served = TfServingModel(without_encoder.grpc)
    assert served.encoder_record == record_of(FILES)
    with pytest.raises(DataError, match="a new query must be encoded, but this model's vectors came in files"):
        served.call("score", LISTS)


# Faults


@pytest.mark.parametrize(
    ("settings", "reported"),
    [({"name": "other"}, "model other"), ({"version": "8"}, "8"), ({"name": "other", "version": "7"}, "other")],
)
def test_a_model_or_a_version_that_is_not_served_is_named(api: Any, settings: dict[str, str], reported: str) -> None:
    with pytest.raises(DataError, match=f"the TF Serving at .*{reported}"):
        api(**settings)


def test_a_server_that_is_not_there_is_reported() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]  # bound, so that nobody listens there
        with pytest.raises(DataError, match=f"no TF Serving answers at 127.0.0.1:{port}"):
            TfServingModel(f"127.0.0.1:{port}")
        with pytest.raises(DataError, match=f"no TF Serving answers at http://127.0.0.1:{port}"):
            TfServingRestModel(f"http://127.0.0.1:{port}")


def test_a_server_that_does_not_answer_is_given_up_after_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(DataError, match="must answer within 0.2 s; it did not"):
            TfServingModel(address, deadline=0.2)
        with pytest.raises(DataError, match="must answer within 0.2 s; it did not"):
            TfServingRestModel(f"http://{address}", deadline=0.2)


def test_an_address_that_is_no_url_is_refused() -> None:
    with pytest.raises(DataError, match="must be http://host:port, or https; got 'localhost:8501'"):
        TfServingRestModel("localhost:8501")


@pytest.mark.parametrize(("signature", "inputs"), [("scores", LISTS), ("score", QUERY), ("encode_query", LISTS)])
def test_a_request_that_does_not_fit_is_refused_over_grpc(stand_in: StandIn, signature: str, inputs: Any) -> None:
    with pytest.raises(DataError, match=r"refused the request \(INVALID_ARGUMENT\)"):
        TfServingModel(stand_in.grpc).call(signature, inputs)


def test_a_batch_that_does_not_fit_the_graph_is_refused(api: Any) -> None:
    with pytest.raises(DataError, match="refused"):
        api().call("score", {**LISTS, "query": np.array(["a", "b", "c"])})


# Batches

INPUTS = {"query": np.array(["q"]), "documents": np.array([["d", "e"]])}


@pytest.mark.parametrize("signature", ["score", "score_with_vectors", "serving_default"])
def test_scores_of_added_documents_are_taken_off(signature: str) -> None:
    padded = {"scores": np.float32([[0.5, 0.25, 0.5, 0.5]]), "lexicon": np.float32([[1, 0, 1, 1]])}
    found = own_columns(signature, INPUTS, padded)
    assert {name: array.tolist() for name, array in found.items()} == {"scores": [[0.5, 0.25]], "lexicon": [[1, 0]]}


def test_other_signatures_outputs_stay_as_they_are() -> None:
    outputs = {"vector": np.zeros((1, 64))}
    assert own_columns("encode_query", {"query": np.array(["q"])}, outputs) is outputs
