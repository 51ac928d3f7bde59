"""Fixtures of the tests of `models`."""

from collections.abc import Iterator
from functools import cache

import pytest

from models import document_ranker, score_lists


@pytest.fixture(scope="module")
def each_model_loaded_once() -> Iterator[None]:
    """For tests that rank with one model many times: to load it takes longer than all the rest."""
    with pytest.MonkeyPatch.context() as patch:
        loaded = cache(document_ranker.load_model)
        for module in (document_ranker, score_lists):
            patch.setattr(module, "load_model", loaded)
        yield
