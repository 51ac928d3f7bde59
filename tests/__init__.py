"""Tests, one folder a room; `reference.py` holds the formulas again in plain Python.

No process of theirs sees the extra package of an encoder, which `preset: best` takes where it is installed.
"""

from importlib import metadata
from types import SimpleNamespace

from models.encoders import settings


def _version(name: str) -> str:
    if name == settings.USE_PACKAGE:
        raise metadata.PackageNotFoundError(name)
    return metadata.version(name)


settings.metadata = SimpleNamespace(version=_version, PackageNotFoundError=metadata.PackageNotFoundError)
