"""models/keys.py: the user's environment alone says to which host a key goes."""

import pytest

from models.keys import key_for
from schemas.errors import DataError

PUBLIC = "https://embeddings.example.org"


@pytest.fixture
def ask(monkeypatch):
    """Asks for the key of an address; the environment binds it to a host."""

    def ask(bound, address, key="secret"):
        monkeypatch.setenv("CLIR_KEY", key)
        monkeypatch.setenv("CLIR_KEY_HOST", bound)
        return key_for("CLIR_KEY", address)

    return ask


@pytest.mark.parametrize(
    ("bound", "address"),
    [
        ("embeddings.example.org", PUBLIC),
        ("Embeddings.Example.ORG", f"{PUBLIC}/path"),
        ("embeddings.example.org", f"{PUBLIC}:8443"),
        ("embeddings.example.org:8443", f"{PUBLIC}:8443"),
        ("embeddings.example.org:443", PUBLIC),
        ("https://embeddings.example.org/", PUBLIC),
        ("http://embeddings.example.org", "http://embeddings.example.org"),
        ("[2001:db8::1]:8443", "https://[2001:db8::1]:8443"),
        ("localhost", "http://localhost:8000"),
        ("127.0.0.1:80", "http://127.0.0.1"),
        ("[::1]", "http://[::1]:8000"),
    ],
)
def test_a_key_goes_to_its_host(ask, bound, address):
    assert ask(bound, address) == "secret"


@pytest.mark.parametrize(
    ("bound", "address"),
    [
        *((bound, PUBLIC) for bound in ("", "example.org", "x.embeddings.example.org", "embeddings.example.org:8443")),
        *((bound, PUBLIC) for bound in ("ftp://embeddings.example.org", "embeddings.example.org/x", "a:b", "[::1")),
        ("embeddings.example.org", "https://embeddings.example.org.evil.example"),
        ("embeddings.example.org", "https://evil.example/embeddings.example.org"),
        ("embeddings.example.org", "https://evil.example:443#embeddings.example.org"),
        ("localhost", "http://127.0.0.1"),
        ("[2001:db8::1]", "https://[2001:db8::2]"),
    ],
)
def test_a_key_goes_to_no_other_host(ask, bound, address):
    with pytest.raises(DataError, match="CLIR_KEY_HOST must name the host") as caught:
        ask(bound, address)
    assert address in str(caught.value) and "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("bound", "address"),
    [
        ("embeddings.example.org", "http://embeddings.example.org"),
        ("https://localhost", "http://localhost"),
        ("localhost.example.org", "http://localhost.example.org"),
    ],
)
def test_a_key_goes_in_plain_text_where_its_host_says_so_or_not_at_all(ask, bound, address):
    with pytest.raises(DataError, match=f"CLIR_KEY_HOST=http://{address[7:]} "):
        ask(bound, address)


@pytest.mark.parametrize("key", ["", "a b", "é"])
def test_a_variable_without_a_key_is_named(ask, key):
    with pytest.raises(DataError, match="CLIR_KEY must hold") as caught:
        ask("embeddings.example.org", PUBLIC, key)
    assert not key or f" {key} " not in str(caught.value)
