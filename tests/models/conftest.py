"""Fixtures of the tests of `models`."""

from collections.abc import Iterator

import pytest

from tests.models.loaded_once import loaded_once


@pytest.fixture(scope="module")
def each_model_loaded_once() -> Iterator[None]:
    """For tests that ask one model many times."""
    with loaded_once():
        yield
