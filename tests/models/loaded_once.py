"""Each model is loaded once: to load it takes longer than all that a test asks a small one."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from models.exported import model


@contextmanager
def loaded_once() -> Iterator[None]:
    """Loads a model that was loaded before, from wherever, from memory if its files are equal."""
    load = model._load
    loaded: dict[str, Any] = {}

    def load_once(path: str, fingerprint: str) -> Any:
        if fingerprint not in loaded:
            loaded[fingerprint] = load(path, fingerprint)
        return loaded[fingerprint]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "_load", load_once)
        yield
