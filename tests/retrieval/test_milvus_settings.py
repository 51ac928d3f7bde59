"""The address of an index in Milvus. The rules of its settings are in `tests/bad_input`."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smooth_clir.retrieval.milvus_settings import MilvusAddress

NAMES = st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_]{0,199}\Z")
HOSTS = st.sampled_from(["localhost", "search.example.org", "10.0.0.1"])


@given(scheme=st.sampled_from(["milvus", "milvus+tls"]), host=HOSTS, port=st.integers(1, 65535), name=NAMES)
def test_an_address_is_read_as_it_is_written(scheme: str, host: str, port: int, name: str) -> None:
    text = f"{scheme}://{host}:{port}/{name}"
    address = MilvusAddress.parse(text)
    assert str(address) == text
    assert address.uri == f"{'https' if scheme == 'milvus+tls' else 'http'}://{host}:{port}"
    capitals = text.replace(scheme, scheme.upper())
    assert MilvusAddress.is_address(text)
    assert MilvusAddress.is_address(capitals)
    assert MilvusAddress.parse(capitals) == address
    assert MilvusAddress.parse(f"{scheme}://{host}/{name}").uri.endswith(":19530")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        *(
            (text, f"got {text!r}")
            for text in (
                "http://host/name",
                "milvus:name",
                "milvus:///name",
                "milvus://host:0/name",
                "milvus://[::1/name",
            )
        ),
        ("milvus://[::1]:19530/name", "no IPv6 address; got 'milvus://[::1]:19530/name'"),
        ("milvus://host:99999/name", "milvus://host:99999/name"),
        ("milvus://host/name?token=secret", "milvus://host:port/name"),
        ("milvus://host", "got ''"),
        ("milvus://host/a/b", "got 'a/b'"),
        ("milvus://host/1a", "got '1a'"),
        ("milvus://host/é", "got 'é'"),
        ("milvus://host/" + "a" * 201, "at most 200"),
    ],
)
def test_another_address_is_refused_and_shown(text: str, shown: str) -> None:
    with pytest.raises(ValueError, match=re.escape(shown)):
        MilvusAddress.parse(text)


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(ValueError, match="CLIR_MILVUS_TOKEN") as error:
        MilvusAddress.parse("milvus://user:secret@host/name")
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("path", ["runs/sample/index", "/milvus/index", "milvus", "C:/index"])
def test_a_folder_is_no_address(path: str) -> None:
    assert not MilvusAddress.is_address(path)
