"""Fixtures of the tests of `models`."""

from collections.abc import Iterator

import pytest

from models.evaluation import score_lists
from models.exported import word_translations
from models.retrieval import document_ranker
from tests.models.loaded_once import loaded_once


@pytest.fixture(scope="module")
def each_model_loaded_once() -> Iterator[None]:
    """For tests that ask one model many times."""
    with loaded_once(document_ranker, score_lists, word_translations):
        yield
