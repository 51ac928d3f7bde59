"""The inner products of a segment's vectors, by which equal documents must be equal."""

from pathlib import Path

import numpy as np
import pytest

from schemas.wikiclir import Text
from smooth_clir.retrieval.segment import Segment, SegmentWriter

pytestmark = pytest.mark.tensors


def test_equal_vectors_have_equal_products_in_every_row(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    vectors = generator.normal(size=(3000, 128)).astype(np.float32)
    twins = generator.choice(3000, 300, replace=False)
    vectors[twins] = vectors[twins[0]]
    writer, zeros = SegmentWriter(), np.zeros(3000, np.int32)
    writer.add(
        [Text(f"d{row}", "", "text", 1) for row in range(3000)],
        {"vector": vectors},
        {"terms": zeros, "unknown": zeros},
    )
    segment = Segment(str(tmp_path / "0"), writer.write(str(tmp_path / "0"), 0), np.zeros(0, np.int32))
    for _ in range(20):
        query = generator.normal(size=128).astype(np.float32)
        products = segment.inner_products(query)
        np.testing.assert_allclose(products, vectors @ query, rtol=1e-3, atol=1e-4)
        rows = np.sort(np.union1d(twins, generator.choice(3000, 500)))
        assert len({*products[twins], *segment.inner_products(query, rows)[np.isin(rows, twins)]}) == 1
