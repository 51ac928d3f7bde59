"""Each small model is exported once, and loaded once in a process: both take longer than all that a test asks it."""

import atexit
import shutil
import tempfile
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from models.exported import loading
from models.exported.model import LoadedModel
from models.lexicon.lexicon import Kind
from models.lists.feedback import FIRST_PASS, Feedback
from schemas.passages import PassageSettings
from tests.models.small_lexicon import export_with_words
from tests.models.small_model import export_small_model

_LOADED: Final[OrderedDict[str, Any]] = OrderedDict()
"""Loaded models by their fingerprints, the last used at the end."""
_LIMIT: Final = 12


@contextmanager
def loaded_once() -> Iterator[None]:
    """Loads a model that was loaded before, from wherever, from memory if its files are equal."""
    load = loading._load

    def load_once(path: str, fingerprint: str) -> Any:
        if fingerprint not in _LOADED:
            _LOADED[fingerprint] = load(path, fingerprint)
            if len(_LOADED) > _LIMIT:
                _LOADED.popitem(last=False)
        _LOADED.move_to_end(fingerprint)
        return _LOADED[fingerprint]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "_load", load_once)
        yield


@cache
def model_with_words(
    kind: Kind = "lexicon",
    weight: float = 0.5,
    feedback: Feedback = FIRST_PASS,
    passages: PassageSettings | None = None,
) -> LoadedModel:
    """The model of `export_with_words`; nobody changes its folder."""
    return _load(export_with_words(_new_folder() / "1", kind, weight, feedback=feedback, passages=passages))


@cache
def model_of_vectors(**settings: Any) -> LoadedModel:
    """The model of `export_small_model`; nobody changes its folder."""
    path = _new_folder() / "1"
    export_small_model(path, **settings)
    return _load(str(path))


def _load(path: str) -> LoadedModel:
    with loaded_once():
        return LoadedModel(path)


def _new_folder() -> Path:
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    return folder
