"""A model whose pre-trained encoder is behind an endpoint: what it asks for, and what people see where that fails."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from models.encoders.encoder_channel import EncoderChannel
from models.encoders.endpoint import PROBES, EndpointEncoder, fingerprint
from models.encoders.settings import EndpointSettings
from models.exported.export import ExportedEncoder, export_ranker
from models.rankers.ranker import Ranker
from schemas.wikiclir import Text
from smooth_clir.retrieval import engine
from smooth_clir.retrieval.folder_engines import FolderEngines
from tests.cli.command import Answer, Clir
from tests.models.encoders.endpoint_server import (
    KEY,
    KEY_OF_THIS_MACHINE,
    VARIABLE,
    EndpointServer,
    another_model,
    drips,
    good,
    hangs_up,
    listening,
    never_answers,
)
from tests.models.encoders.small_encoder import record_of
from tests.models.small_model import features_of, small_text_features, small_towers
from tests.serving.live_service import live_service
from tests.serving.searchable import index_documents

pytestmark = pytest.mark.stages

QUERY = "white cat"
TEXTS = ["un chat blanc dort", "un chien blanc court", "lune sur ararat"]


@pytest.fixture(scope="module")
def served() -> Iterator[EndpointServer]:
    with listening() as server:
        yield server


@pytest.fixture
def endpoint(served: EndpointServer, monkeypatch: pytest.MonkeyPatch) -> EndpointServer:
    """The endpoint, which answers and takes a key."""
    for name, value in KEY_OF_THIS_MACHINE.items():
        monkeypatch.setenv(name, value)
    served.requests.clear()
    served.answer = good
    return served


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory, served: EndpointServer) -> Path:
    """A run's output folder as far as it is served: a model, its index, and the documents."""
    output = tmp_path_factory.mktemp("output")
    settings = EndpointSettings(address=served.address, query_model="m", retries=0)
    probes = fingerprint(EndpointEncoder(settings).probe())
    record = record_of(settings.model_copy(update={"key_variable": VARIABLE}), probes=probes)
    text_features, towers = small_text_features(output), small_towers(initial_scale=1.0)
    towers(features_of(text_features, ["cat"], [["chat"]]))
    channel = EncoderChannel(0.2, 0.5, name="encoder")
    ranker = Ranker({"smooth_cosine": towers, "encoder": channel}, {"smooth_cosine": 1.0, "encoder": 0.5})
    export_ranker(ranker, text_features, str(output / "serving" / "1"), encoder=ExportedEncoder(record, None))
    (output / "index").mkdir()
    documents = [Text(f"d{number}", "", text, number) for number, text in enumerate(TEXTS)]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in KEY_OF_THIS_MACHINE.items():
            patch.setenv(name, value)
        index_documents(output / "serving" / "1", output / "index" / "1", documents)
    (output / "documents").write_text("".join(f"{text.id}\t\t{text.text}\n" for text in documents))
    (output / "config.yaml").write_text("data: {query_language: en, document_language: fr}\n")
    return output


def rank(clir: Clir, output: Path, *flags: object) -> Answer:
    model, documents = output / "serving" / "1", output / "documents"
    return clir("rank", model, "--query", QUERY, "--documents", documents, *flags)


def take_texts(endpoint: EndpointServer) -> list[str]:
    """The texts since the last call, without the probes, which come first, and all with the key."""
    assert {headers["Authorization"] for _, headers, _ in endpoint.requests} == {f"Bearer {KEY}"}
    assert [content["input"] for _, _, content in endpoint.requests[:2]] == [[*PROBES]] * 2
    return endpoint.take_texts()


def test_rank_encodes_query_and_documents_and_search_the_query_alone(
    endpoint: EndpointServer, output: Path, clir: Clir
) -> None:
    answer = rank(clir, output, "--json", "--explain")
    assert (answer.code, answer.err) == (0, "")
    assert {*take_texts(endpoint)} == {QUERY, *TEXTS}
    ranked = json.loads(answer.out)["documents"]
    for document in ranked:
        parts = {part["name"]: part["part"] for part in document["parts"]}
        assert parts.keys() == {"encoder", "smooth_cosine"} and parts["encoder"]
        assert sum(parts.values()) == pytest.approx(document["score"], abs=1e-5)
    results = json.loads(clir("search", output, QUERY, "--json").out)["results"]
    assert take_texts(endpoint) == [QUERY]
    assert [hit["doc_id"] for hit in results] == [document["doc_id"] for document in ranked]
    assert [hit["score"] for hit in results] == pytest.approx([document["score"] for document in ranked], abs=1e-5)


def test_a_document_that_is_added_to_the_index_is_the_only_one_encoded_or_the_index_stays_as_it_is(
    endpoint: EndpointServer, output: Path, clir: Clir, tmp_path: Path
) -> None:
    (tmp_path / "more").write_text("new\tNouveau\tun document tout nouveau\n")
    update = ("index", output / "serving" / "1", "--index", output / "index", "--add", tmp_path / "more")
    endpoint.answer = hangs_up
    failed = clir(*update)
    assert failed.code == 1 and endpoint.address in failed.err
    assert [path.name for path in (output / "index").glob("[0-9]*")] == ["1"]
    endpoint.answer = good
    endpoint.requests.clear()
    assert clir(*update).code == 0
    assert take_texts(endpoint) == ["un document tout nouveau"]


@pytest.mark.parametrize("answer", [hangs_up, another_model])
def test_commands_say_in_a_line_that_the_endpoint_is_down_or_has_another_model(
    endpoint: EndpointServer, output: Path, clir: Clir, answer: Any
) -> None:
    endpoint.answer = answer
    for ended in (rank(clir, output), clir("search", output, QUERY)):
        assert (ended.code, ended.out, ended.err.count("\n")) == (1, "", 1)
        assert endpoint.address in ended.err
    assert not {QUERY, *TEXTS} & {*endpoint.take_texts()}


def test_rank_names_the_variable_of_a_missing_key_and_asks_nothing(
    endpoint: EndpointServer, output: Path, clir: Clir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE)
    ended = rank(clir, output)
    assert (ended.code, ended.out, ended.err.count("\n")) == (1, "", 1)
    assert VARIABLE in ended.err
    assert endpoint.requests == []


def test_the_service_answers_503_while_the_endpoint_is_down_slow_or_another_and_then_works_again(
    endpoint: EndpointServer, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_ENDPOINT", engine._ENDPOINT._replace(timeout_s=0.5))
    requests: dict[str, dict[str, Any]] = {
        "search": {"query": QUERY, "snippets": True},
        "rank": {"query": QUERY, "documents": ["lune", "chat"]},
        "explain": {"query": QUERY, "text": "un chat"},
    }
    slow = drips(b"HTTP/1.1 200 OK\r\n", b"a: b\r\n")
    with live_service(FolderEngines(str(output / "serving"), str(output / "index"))) as live:
        for endpoint.answer, status in (
            *((good, 200), (hangs_up, 503), (never_answers, 503), (slow, 503)),
            *((good, 200), (another_model, 503), (good, 200)),
        ):
            for path, content in requests.items():
                answer = live.client.post(f"/v1/{path}", json=content)
                assert answer.status_code == status
                assert (endpoint.address in answer.text) == (status == 503)
        assert KEY not in live.log.getvalue()
