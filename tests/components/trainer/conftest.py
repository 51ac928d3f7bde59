"""Fixtures of the tests of the Trainer."""

from tests.models.conftest import without_graphs  # noqa: F401
