"""The address and the settings of an index in Milvus, and the numbers of its terms; no server is needed."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from models.retrieval.milvus_index import NO_TERM, Milvus, sparse_terms, term_number
from models.retrieval.milvus_settings import MilvusAddress, MilvusSettings
from schemas.errors import DataError

pytestmark = pytest.mark.tensors

NAMES = st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_]{0,199}\Z")
HOSTS = st.sampled_from(["localhost", "search.example.org", "10.0.0.1", "[::1]"])


@given(scheme=st.sampled_from(["milvus", "milvus+tls"]), host=HOSTS, port=st.integers(1, 65535), name=NAMES)
def test_an_address_is_read_as_it_is_written(scheme: str, host: str, port: int, name: str) -> None:
    text = f"{scheme}://{host}:{port}/{name}"
    address = MilvusAddress.parse(text)
    assert str(address) == text
    assert address.uri == f"{'https' if scheme == 'milvus+tls' else 'http'}://{host}:{port}"
    assert MilvusAddress.is_one(text)
    assert MilvusAddress.parse(f"{scheme}://{host}/{name}").uri.endswith(":19530")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("http://host/name", "must be milvus://host:port/name, or milvus"),
        ("milvus:name", "must be milvus://host:port/name"),
        ("milvus:///name", "must be milvus://host:port/name"),
        ("milvus://host:0/name", "must be milvus://host:port/name"),
        ("milvus://host:99999/name", "must be milvus://host:port/name"),
        ("milvus://host/name?token=secret", "must be milvus://host:port/name"),
        ("milvus://[::1/name", "must be milvus://host:port/name"),
        ("milvus://host", "must end in a name for a collection"),
        ("milvus://host/a/b", "got 'a/b'"),
        ("milvus://host/1a", "got '1a'"),
        ("milvus://host/é", "got 'é'"),
        ("milvus://host/" + "a" * 201, "200 at most"),
    ],
)
def test_another_address_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MilvusAddress.parse(text)


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(ValueError, match="CLIR_MILVUS_TOKEN in the environment holds them") as caught:
        MilvusAddress.parse("milvus://user:secret@host/name")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("path", ["runs/sample/index", "/milvus/index", "milvus", "C:/index"])
def test_a_folder_is_no_address(path: str) -> None:
    assert not MilvusAddress.is_one(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"address": "milvus://host"}, "must end in a name"),
        ({"vector_index": {"kind": "diskann"}}, "'auto', 'flat', 'ivf' or 'hnsw'"),
        ({"vector_index": {"nlist": 8, "nprobe": 9}}, "must be at most nlist, 8; got 9"),
        ({"shards": 0}, "greater than or equal to 1"),
        ({"replicas": "many"}, "integer"),
        ({"consistency": "strong"}, "'Strong', 'Bounded', 'Session' or 'Eventually'"),
    ],
)
def test_settings_that_milvus_does_not_have_are_refused(content: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        MilvusSettings.model_validate(content)


@given(term=st.binary(max_size=20))
def test_no_term_has_the_number_of_documents_without_terms(term: bytes) -> None:
    assert 0 <= term_number(term) < NO_TERM < (1 << 32) - 1


def test_terms_that_share_a_number_add_up_and_what_weighs_nothing_is_left_out() -> None:
    found = sparse_terms([b"chat", b"", b"chat", b"lune"], np.array([0.5, 1.0, 0.25, 0.0], np.float32))
    assert found == {term_number(b"chat"): 0.75}


def test_without_the_client_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymilvus", None)
    with pytest.raises(
        DataError, match=r"the package pymilvus; it is missing. Install it: pip install 'smooth-clir\[milvus\]'"
    ):
        Milvus(MilvusAddress.parse("milvus://localhost/name"))


def test_the_client_leaves_the_handlers_of_this_process_open() -> None:
    script = (
        "import io, logging, sys; from models.retrieval.milvus_index import import_client\n"
        "handler = logging.FileHandler(sys.argv[1], 'w'); logging.getLogger().addHandler(handler)\n"
        "import_client(); logging.getLogger('pymilvus.client').error('a'); logging.warning('still open')\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        subprocess.run([sys.executable, "-c", script, log], check=True)
        assert log.read_text() == "still open\n"
