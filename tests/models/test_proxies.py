"""models/proxies.py: which requests go through a proxy of the environment."""

import os

import pytest

from models.proxies import grpc_proxy, http_proxy, is_loopback

VARIABLES = ("http_proxy", "https_proxy", "grpc_proxy", "no_proxy", "no_grpc_proxy")


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """Sets the variables of proxies; the others are empty."""
    for name in (*VARIABLES, *map(str.upper, VARIABLES)):
        monkeypatch.setenv(name, "")
    return lambda **values: [monkeypatch.setenv(name, value) for name, value in values.items()]


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST.", "127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"])
def test_this_machine_has_no_proxy(environment, host):
    environment(http_proxy="http://proxy:1", https_proxy="http://proxy:1", grpc_proxy="http://proxy:1")
    assert is_loopback(host)
    host = f"[{host}]" if ":" in host else host
    assert http_proxy(f"http://{host}:80") is http_proxy(f"https://{host}") is grpc_proxy(f"{host}:80") is None
    assert host.strip("[]").casefold() in os.environ["no_grpc_proxy"].casefold()


@pytest.mark.parametrize("host", ["example.org", "localhost.example.org", "128.0.0.1", "127.0.0.1.example.org", "::2"])
def test_other_hosts_have_the_environment_s_proxy(environment, host):
    assert not is_loopback(host)
    host = f"[{host}]" if ":" in host else host
    assert http_proxy(f"http://{host}") is grpc_proxy(f"{host}:80") is None
    environment(http_proxy="plain:1", https_proxy="https://tls:1")
    assert (http_proxy(f"http://{host}"), http_proxy(f"https://{host}")) == ("http://plain:1", "https://tls:1")
    assert grpc_proxy(f"{host}:80") == "https://tls:1"


def test_hosts_that_the_environment_leaves_out_have_no_proxy(environment):
    environment(http_proxy="http://proxy:1", no_proxy="example.org")
    assert http_proxy("http://www.example.org:80") is grpc_proxy("www.example.org:80") is None
    environment(no_grpc_proxy="example.com")
    assert grpc_proxy("www.example.org:80") == "http://proxy:1"
