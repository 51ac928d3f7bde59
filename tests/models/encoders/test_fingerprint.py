"""The fingerprint of models/encoders/endpoint.py: rounding is no other encoder."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from models.encoders.endpoint import fingerprint, fingerprint_fault

pytestmark = pytest.mark.tensors

VECTORS = np.random.default_rng(1).normal(size=(6, 8)).astype(np.float32)


def test_it_holds_the_length_of_a_vector_each_cosine_and_each_first_component():
    numbers = fingerprint(np.array([[3, 4], [4, 3], [0, -2]], np.float32))
    assert numbers == pytest.approx((2, 24 / 25, -4 / 5, -3 / 5, 3 / 5, 4 / 5, 0))
    assert len(fingerprint(VECTORS)) == 1 + 15 + 6


@given(st.floats(0.1, 100), arrays(np.float32, VECTORS.shape, elements=st.floats(-(2**-10), 2**-10, width=32)))
def test_rounding_and_the_norms_of_the_vectors_do_not_make_another_encoder(scale, rounding):
    rounded = fingerprint((VECTORS * np.float32(scale)) * (1 + rounding))
    assert fingerprint_fault(fingerprint(VECTORS), rounded) is None
    assert fingerprint_fault(rounded, fingerprint(VECTORS)) is None


@pytest.mark.parametrize(
    "changed",
    [VECTORS + np.float32(0.1), VECTORS[[1, 0, 2, 3, 4, 5]], VECTORS[:, ::-1], -VECTORS],
    ids=["shifted", "in another order", "turned", "turned about"],
)
def test_other_vectors_are_another_encoder(changed):
    assert "differ by" in fingerprint_fault(fingerprint(VECTORS), fingerprint(changed))


def test_the_largest_difference_and_other_lengths_are_reported():
    assert fingerprint_fault((2.0, 0.5, 0.1), (2.0, 0.498, 0.102)) is None
    assert "0.0500" in fingerprint_fault((2.0, 0.5, 0.1), (2.0, 0.45, 0.11))
    assert re.search("512 .* 384", fingerprint_fault((512.0, 0.5), (384.0, 0.5)))
    for expected in ((), (2.0,), (2.0, 0.5, 0.1, 0.1)):
        assert re.search(f"{len(expected)} .* 3", fingerprint_fault(expected, (2.0, 0.5, 0.1)))
