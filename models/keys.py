"""Keys of remote services, each bound to a host by the user's environment, never by a model or a configuration."""

import os
import re
import urllib.parse
from typing import Final

from models.proxies import is_loopback
from schemas.errors import DataError

_PORTS: Final = {"http": 80, "https": 443}


def key_for(variable: str, address: str) -> str:
    """Returns the key in an environment variable, if the address belongs to the host in the variable NAME_HOST.

    NAME_HOST holds `embeddings.example.org`, `embeddings.example.org:8443` or `[2001:db8::1]:8443`; without a port it
    allows all ports. Keys are sent over plain http only to this machine, or where NAME_HOST begins with `http://`.

    Args:
      variable: NAME, the name of the variable.
      address: http or https, without user and password.

    Raises:
      DataError: the variable holds no key, or the key is not for this address.
    """
    # The key is never in a local variable, which a traceback might show.
    if not re.fullmatch("[!-~]+", os.environ.get(variable, "").strip()):
        got = "it holds other characters" if os.environ.get(variable, "").strip() else "it is missing or empty"
        raise DataError(
            f"the environment variable {variable} must hold the key for {address}, visible ASCII characters; {got}. "
            "Set it in each process that asks the server."
        )
    _check_host(f"{variable}_HOST", variable, address)
    return os.environ[variable].strip()


def _check_host(name: str, variable: str, address: str) -> None:
    text = os.environ.get(name, "").strip()
    target = urllib.parse.urlsplit(address)
    try:
        bound = urllib.parse.urlsplit(text if "://" in text else f"//{text}")
        port = bound.port
    except ValueError:
        bound, port = urllib.parse.urlsplit(""), None
    is_host = bound.hostname == target.hostname and port in (None, target.port or _PORTS[target.scheme])
    if not is_host or bound.scheme not in ("", *_PORTS) or bound.path.strip("/"):
        got = f"it is {text!r}" if text else "it is missing"
        raise DataError(
            f"the environment variable {name} must name the host that the key in {variable} is for; {got}, and the "
            f"address is {address}. If the key is meant for this host, set {name}={target.netloc}; otherwise do not "
            "trust the address."
        )
    if target.scheme == "http" and bound.scheme != "http" and (bound.scheme or not is_loopback(target.hostname or "")):
        raise DataError(
            f"the key in {variable} must be sent encrypted; {address} is plain http. Use https or milvus+tls, or set "
            f"{name}=http://{target.netloc} if everyone on the network may read the key."
        )
