"""The environment's proxies, which are never used for requests to this machine."""

import ipaddress
import os
import urllib.parse
import urllib.request
from typing import Final

_GRPC_PROXIES: Final = ("grpc_proxy", "https_proxy", "http_proxy")
"""The variables in which gRPC looks for a proxy."""


def is_loopback(host: str) -> bool:
    """Returns whether a host is this machine: localhost, 127.0.0.0/8 or ::1.

    Example:
      >>> is_loopback("127.0.0.2"), is_loopback("localhost.example.org")
      (True, False)
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host.casefold().rstrip(".") == "localhost"
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def http_proxy(address: str) -> str | None:
    """Returns the environment's proxy for a http or https address, as a URL that may hold a password; None without one.

    Reads `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, also in small letters, as urllib does.
    """
    parts = urllib.parse.urlsplit(address)
    proxy = urllib.request.getproxies().get(parts.scheme)
    if not proxy or is_loopback(parts.hostname or "") or urllib.request.proxy_bypass(parts.netloc):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def grpc_proxy(address: str) -> str | None:
    """Returns gRPC's proxy for host:port; if the host is this machine, changes the environment so that gRPC uses none.

    gRPC reads the environment when a channel is made, and not every client accepts a channel's options.
    """
    proxy = next(filter(None, map(os.environ.get, _GRPC_PROXIES)), None)
    host = urllib.parse.urlsplit(f"//{address}").hostname or ""
    without = os.environ.get("no_grpc_proxy") or os.environ.get("no_proxy") or ""
    if not proxy or any(host.endswith(suffix) for suffix in without.replace(",", " ").split()):
        return None
    if not is_loopback(host):
        return proxy
    os.environ["no_grpc_proxy"] = f"{without},{host}".lstrip(",")
    return None


def through(proxy: str | None) -> str:
    """Returns a proxy in words for an error message, without its user and password.

    Example:
      >>> through("http://user:password@proxy.example.org:3128"), through(None)
      (' through the proxy proxy.example.org:3128', '')
    """
    return f" through the proxy {proxy.rpartition('//')[2].rpartition('@')[2].rstrip('/')}" if proxy else ""
