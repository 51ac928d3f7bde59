"""Marks of files whose functions run operation by operation, not as graphs, and graphs within them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest
import tensorflow as tf

EAGERLY: Final = (
    pytest.mark.usefixtures("without_graphs"),
    # The functions of tf.data are graphs all the same, and TensorFlow says so.
    pytest.mark.filterwarnings("ignore:Even though the .tf.config"),
)


@contextmanager
def with_graphs() -> Iterator[None]:
    """Runs functions as graphs: for an export, which traces each of them once, or for many steps."""
    tf.config.run_functions_eagerly(False)
    yield
    tf.config.run_functions_eagerly(True)
