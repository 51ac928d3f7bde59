"""Fixtures of the tests of `models`. They import TensorFlow on use: tests without a mark do without it."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def each_model_loaded_once() -> Iterator[None]:
    """For tests that ask one model many times."""
    from tests.models.loaded_once import loaded_once

    with loaded_once():
        yield


@pytest.fixture(scope="module")
def without_graphs() -> Iterator[None]:
    """Runs functions operation by operation: to trace one takes longer than to run it on a few small inputs."""
    import tensorflow as tf

    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits before requests are tried again, in seconds, which no test waits for."""
    from models import json_endpoint

    waits: list[float] = []
    monkeypatch.setattr(json_endpoint, "sleep", waits.append)
    return waits
