"""The clients of a TF Serving, over gRPC and REST, against the stand-in: they give what the model gives."""

import socket
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

from models.encoders.encoder_channel import EncoderChannel
from models.exported.export import ExportedEncoder, export_ranker
from models.exported.model import ExportedModel, LoadedModel
from models.rankers.ranker import Ranker
from schemas.errors import DataError
from smooth_clir.serving.tf_serving_client import TfServingModel, TfServingRestModel, own_columns
from tests.models.encoders.small_encoder import DIM, FILES, CountingEncoder, record_of, write_vectors
from tests.models.made_once import made_once
from tests.models.small_model import features_of, small_text_features, small_towers
from tests.stand_in_tf_serving.running import StandIn, standing_in

pytestmark = pytest.mark.stages

LISTS = {
    "query": np.array(["white cat", "dog"]),
    "documents": np.array([["un chat blanc", "chien"], ["chien", ""]], object),
}
QUERY = {"query": np.array([b"white cat"], object)}
NO_DOCUMENTS = {"query": np.array(["cat"]), "documents": np.zeros((1, 0), object)}


@pytest.fixture(params=["grpc", "rest"])
def api(request: pytest.FixtureRequest, stand_in: StandIn) -> Any:
    """Makes a client of one of the two APIs."""
    if request.param == "grpc":
        return partial(TfServingModel, stand_in.grpc)
    return partial(TfServingRestModel, stand_in.rest)


def assert_alike(
    first: ExportedModel, second: ExportedModel, signature: str, inputs: Any, tolerance: float = 0
) -> None:
    outputs, expected = first.call(signature, inputs), second.call(signature, inputs)
    assert outputs.keys() == expected.keys()
    for name, array in expected.items():
        assert outputs[name].dtype == array.dtype
        if tolerance:
            np.testing.assert_allclose(outputs[name], array, rtol=tolerance)
        else:
            np.testing.assert_array_equal(outputs[name], array)


def test_a_client_gives_what_the_newest_or_the_named_version_gives_in_this_process(api: Any, stand_in: StandIn) -> None:
    newest, local = api(), LoadedModel(str(stand_in.versions["12"]))
    assert (newest.version, api(version="7").version) == ("12", "7")
    for signature, inputs in (("score", LISTS), ("serving_default", LISTS), ("encode_query", QUERY)):
        assert_alike(newest, local, signature, inputs)
    assert_alike(api(version="7"), LoadedModel(str(stand_in.versions["7"])), "score", LISTS)
    assert not np.array_equal(api(version="7").call("score", LISTS)["scores"], local.call("score", LISTS)["scores"])


def test_the_signatures_are_the_model_s_and_over_rest_those_with_inputs(stand_in: StandIn) -> None:
    grpc, rest = TfServingModel(stand_in.grpc), TfServingRestModel(stand_in.rest)
    assert grpc.signatures == LoadedModel(str(stand_in.versions["12"])).signatures
    without_inputs = grpc.signatures - rest.signatures
    assert "channel_weights" in without_inputs and "score" in rest.signatures <= grpc.signatures
    assert all(grpc.call(signature, {}) for signature in without_inputs)
    # Lists and batches may be empty.
    assert grpc.call("score", NO_DOCUMENTS)["scores"].shape == (1, 0)
    assert grpc.call("encode_query", {"query": np.array([])})["vector"].shape == (0, 2)


# A model without its pre-trained encoder


def export_without_encoder(path: Path) -> None:
    text_features = small_text_features(path.parent)
    towers = small_towers(initial_scale=1.0)
    towers(features_of(text_features, ["cat"], [["chat"]]))
    ranker = Ranker(
        {"towers": towers, "encoder": EncoderChannel(0.2, 0.5, name="encoder")}, {"towers": 1, "encoder": 1}
    )
    export_ranker(ranker, text_features, str(path), encoder=ExportedEncoder(record_of(FILES), None))


@pytest.fixture(scope="module")
def without_encoder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    """The stand-in, with a model whose encoder's vectors come from its callers."""
    path = tmp_path_factory.mktemp("serving") / "3"
    made_once(export_without_encoder, path)
    with standing_in({"3": path}) as running:
        yield running


@pytest.mark.parametrize("api", [TfServingModel, TfServingRestModel])
def test_a_client_sends_the_vectors_of_its_encoder_with_the_texts(api: Any, without_encoder: StandIn) -> None:
    client = api(without_encoder.grpc if api is TfServingModel else without_encoder.rest)
    client.encoder = CountingEncoder()
    local = LoadedModel(str(without_encoder.versions["3"]), encoder=CountingEncoder())
    for signature, inputs in (("score", LISTS), ("encode_query", QUERY)):
        assert_alike(client, local, signature, inputs, tolerance=1e-6)
    assert client.encoder.seen["document", "chien"] == 2


def test_over_grpc_the_model_itself_names_its_encoder(without_encoder: StandIn, tmp_path: Path) -> None:
    served = TfServingModel(without_encoder.grpc)
    assert served.encoder_record == record_of(FILES)
    with pytest.raises(DataError, match="came in files"):
        served.call("score", LISTS)
    served.encoder = write_vectors(tmp_path, {"query": ["cat"], "document": ["chat"]})
    assert served.call("score", NO_DOCUMENTS)["scores"].shape == (1, 0)
    assert served.call("encode_document", {"document": np.array([])})["vector"].shape == (0, 2 + DIM + 1)


# Faults


@pytest.mark.parametrize(
    ("settings", "reported"),
    [({"name": "other"}, "model other"), ({"version": "8"}, "8"), ({"name": "other", "version": "7"}, "other")],
)
def test_a_model_or_a_version_that_is_not_served_is_named(api: Any, settings: dict[str, str], reported: str) -> None:
    with pytest.raises(DataError, match=f"TF Serving at .*{reported}"):
        api(**settings)


@pytest.mark.parametrize(("scheme", "client"), [("", TfServingModel), ("http://", TfServingRestModel)])
def test_a_server_that_is_not_there_or_does_not_answer_is_named(scheme: str, client: Any) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # so that nobody listens there
        address = f"{scheme}127.0.0.1:{bound.getsockname()[1]}"
        with pytest.raises(DataError, match=address):
            client(address)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        with pytest.raises(DataError, match="0.2 s"):
            client(f"{scheme}127.0.0.1:{silent.getsockname()[1]}", deadline=0.2)


def test_no_proxy_gets_what_is_for_this_machine_and_errors_name_it(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://user:password@127.0.0.1:9")
    monkeypatch.setenv("no_grpc_proxy", "")
    assert api().version == "12"
    with pytest.raises(DataError, match=r"host.invalid:1 through the proxy 127\.0\.0\.1:9") as caught:
        api.func("http://host.invalid:1" if api.func is TfServingRestModel else "host.invalid:1", deadline=5.0)
    assert "password" not in str(caught.value)


def test_an_answer_nested_too_deep_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            with server.accept()[0] as connection:
                connection.recv(1 << 16)
                connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + b"[" * 200_000)

        thread = Thread(target=answer)
        thread.start()
        with pytest.raises(DataError, match="within each other"):
            TfServingRestModel(f"http://127.0.0.1:{server.getsockname()[1]}")
        thread.join()


def test_a_request_that_does_not_fit_and_an_address_that_is_no_url_are_refused(api: Any, stand_in: StandIn) -> None:
    for signature, inputs in (("scores", LISTS), ("score", QUERY), ("encode_query", LISTS)):
        with pytest.raises(DataError, match="INVALID_ARGUMENT"):
            TfServingModel(stand_in.grpc).call(signature, inputs)
    with pytest.raises(DataError, match="refused"):
        api().call("score", {**LISTS, "query": np.array(["a", "b", "c"])})
    with pytest.raises(DataError, match="'localhost:8501'"):
        TfServingRestModel("localhost:8501")


@pytest.mark.parametrize("signature", ["score", "score_with_vectors", "serving_default"])
def test_scores_of_documents_that_a_batch_added_are_taken_off(signature: str) -> None:
    inputs = {"query": np.array(["q"]), "documents": np.array([["d", "e"]])}
    padded = {"scores": np.float32([[0.5, 0.25, 0.5, 0.5]]), "lexicon": np.float32([[1, 0, 1, 1]])}
    outputs = own_columns(signature, inputs, padded)
    assert {name: array.tolist() for name, array in outputs.items()} == {"scores": [[0.5, 0.25]], "lexicon": [[1, 0]]}
    vectors = {"vector": np.zeros((1, 64))}
    assert own_columns("encode_query", {"query": np.array(["q"])}, vectors) is vectors
