"""Each model is loaded once: to load it takes longer than all that a test asks a small one."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import pytest

from models.exported.model import load_model
from models.exported.versions import model_fingerprint


@contextmanager
def loaded_once(*modules: ModuleType) -> Iterator[None]:
    """Has `load_model` of modules give a model that it has loaded before, from wherever, if the files are equal."""
    loaded: dict[tuple[str, ...], Any] = {}

    def load(path: str, *signatures: str) -> Any:
        try:
            key = (model_fingerprint(path), *signatures)
        except OSError:
            return load_model(path, *signatures)
        if key not in loaded:
            loaded[key] = load_model(path, *signatures)
        return loaded[key]

    with pytest.MonkeyPatch.context() as patch:
        for module in modules:
            patch.setattr(module, "load_model", load)
        yield
