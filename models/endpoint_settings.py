"""Types of settings that all endpoints share. Importing this file does not import TensorFlow."""

import re
import urllib.parse
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field


def _checked_address(address: str) -> str:
    try:
        parts = urllib.parse.urlsplit(address)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if "@" in address:
        raise ValueError("must not hold a user or a password: name the key's environment variable in key_variable")
    if not is_good or re.search(r"[?#\s]", address):
        # A query may hold a key.
        shown = re.split(r"[?#]", address)[0]
        raise ValueError(f"must be http://host:port, or https, without a query; got {shown!r}")
    return address.rstrip("/")


def _checked_variable(name: str) -> str:
    if not re.fullmatch(r"CLIR_[A-Z0-9_]+", name):
        # The value may be the key itself: do not show it.
        raise ValueError("must be the name of an environment variable: CLIR_, and then capitals, digits and _")
    return name


Address: TypeAlias = Annotated[str, AfterValidator(_checked_address)]
"""The address of a service, without the path."""
KeyVariable: TypeAlias = Annotated[str, AfterValidator(_checked_variable)]
"""The name of the environment variable with a service's key, see `models.keys`."""
Timeout: TypeAlias = Annotated[float, Field(gt=0, le=3600)]
"""The longest wait for a whole answer, in seconds."""
Retries: TypeAlias = Annotated[int, Field(ge=0, le=100)]
"""The number of further tries."""
