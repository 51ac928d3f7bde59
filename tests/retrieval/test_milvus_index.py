"""The client and the numbers of terms of an index in Milvus; no server is needed."""

import base64
import json
import logging
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import DataError
from smooth_clir.retrieval.milvus import Milvus, import_client
from smooth_clir.retrieval.milvus_index import NO_TERM, filter_expression, sparse_terms, term_number
from smooth_clir.retrieval.milvus_settings import MilvusAddress
from smooth_clir.retrieval.where import Condition, Where

pytestmark = pytest.mark.tensors


@given(term=st.binary(max_size=20))
def test_no_term_has_the_number_of_documents_without_terms(term: bytes) -> None:
    assert 0 <= term_number(term) < NO_TERM < (1 << 32) - 1


def test_terms_that_share_a_number_add_up_and_what_weighs_nothing_is_left_out() -> None:
    terms = sparse_terms([b"chat", b"", b"chat", b"lune"], np.array([0.5, 1.0, 0.25, 0.0], np.float32))
    assert terms == {term_number(b"chat"): 0.75}


TEXT_VALUES = st.text(min_size=1).map(str.strip).filter(bool)


@given(values=st.lists(TEXT_VALUES, min_size=1), number=st.floats(allow_nan=False, allow_infinity=False))
def test_every_value_of_a_filter_is_a_single_literal(values: list[str], number: float) -> None:
    where = Where((Condition(0, "!=", (*values,)), Condition(1, ">=", (number,))))
    head, _, tail = filter_expression(where).rpartition(" and field_1 >= ")
    assert float(tail) == number
    literals, end = json.JSONDecoder().raw_decode(head.removeprefix("field_0 not in "))  # noqa: TID251
    assert (literals, end) == (values, len(head) - len("field_0 not in "))


def test_without_the_client_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymilvus", None)
    with pytest.raises(DataError, match=r"pip install 'smooth-clir\[milvus\]'"):
        Milvus(MilvusAddress.parse("milvus://localhost/name"))


def test_the_client_leaves_the_handlers_of_this_process_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "pymilvus"]:
        monkeypatch.delitem(sys.modules, name)  # its import sets the logging up
    handler = logging.FileHandler(tmp_path / "log", "w")
    logging.getLogger().addHandler(handler)
    try:
        import_client()
        logging.getLogger("pymilvus.client").error("a")
        logging.warning("still open")
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()
    assert (tmp_path / "log").read_text() == "still open\n"


class Refusing(grpc.GenericRpcHandler):  # type: ignore[misc]
    """Refuses each call, with the token that came with it."""

    def __init__(self) -> None:
        self.tokens: set[str] = set()

    def service(self, details: Any) -> Any:
        tokens = [value for name, value in details.invocation_metadata if name == "authorization"]
        self.tokens.update(tokens)
        return grpc.unary_unary_rpc_method_handler(
            lambda request, context: context.abort(grpc.StatusCode.UNAUTHENTICATED, f"no user {tokens}")
        )


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Refusing, str]]:
    """A server that refuses, and its address; the environment has a token for this machine, and a dead proxy."""
    for name, value in {"CLIR_MILVUS_TOKEN": "root:secret", "CLIR_MILVUS_TOKEN_HOST": "127.0.0.1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("https_proxy", "http://user:password@127.0.0.1:9")
    monkeypatch.setenv("no_grpc_proxy", "")
    monkeypatch.setattr("smooth_clir.retrieval.milvus._CONNECT_SECONDS", 1)
    handler = Refusing()
    server = grpc.server(ThreadPoolExecutor(2), handlers=[handler])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield handler, f"milvus://127.0.0.1:{port}/name"
    server.stop(None).wait()


def test_the_token_goes_to_its_host_without_a_proxy_and_is_in_no_error(refusing: tuple[Refusing, str]) -> None:
    handler, address = refusing
    # pymilvus 3 has a number of its own.
    with pytest.raises(DataError, match=r": code (UNAUTHENTICATED|\d+)\.") as caught:
        Milvus(MilvusAddress.parse(address))
    token = base64.b64encode(b"root:secret").decode()
    assert handler.tokens == {token}
    assert token not in str(caught.value) and "secret" not in str(caught.value)


@pytest.mark.parametrize("host", ["", "milvus.example.org", "127.0.0.1:1"])
def test_the_token_goes_to_no_other_host(
    refusing: tuple[Refusing, str], monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    handler, address = refusing
    monkeypatch.setenv("CLIR_MILVUS_TOKEN_HOST", host)
    with pytest.raises(DataError, match="CLIR_MILVUS_TOKEN_HOST must name the host"):
        Milvus(MilvusAddress.parse(address))
    assert not handler.tokens


def test_an_error_names_the_proxy_without_its_password(
    monkeypatch: pytest.MonkeyPatch, refusing: tuple[Refusing, str]
) -> None:
    monkeypatch.delenv("CLIR_MILVUS_TOKEN")
    with pytest.raises(DataError, match=r"milvus.invalid:19530/name through the proxy 127\.0\.0\.1:9: ") as caught:
        Milvus(MilvusAddress.parse("milvus://milvus.invalid/name"))
    assert "password" not in str(caught.value)
