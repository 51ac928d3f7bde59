"""Marks of files whose functions run operation by operation, not as graphs."""

from typing import Final

import pytest

EAGERLY: Final = (
    pytest.mark.usefixtures("without_graphs"),
    # The functions of tf.data are graphs all the same, and TensorFlow says so.
    pytest.mark.filterwarnings("ignore:Even though the .tf.config"),
)
