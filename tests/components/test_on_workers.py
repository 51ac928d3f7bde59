"""Work that is shared among the workers of a Beam runner."""

import math
import operator
from functools import partial

import pytest

pytestmark = pytest.mark.stages


@pytest.fixture
def on_workers(tmp_path):
    import apache_beam as beam

    from components.on_workers import OnWorkers

    return OnWorkers(partial(beam.Pipeline, argv=[]), str(tmp_path / "folder" / ".work"))


@pytest.mark.parametrize("count", [0, 7])
def test_results_are_those_of_map_in_its_order(on_workers, count, tmp_path):
    assert list(on_workers(math.sqrt, range(count))) == list(map(math.sqrt, range(count)))
    assert list((tmp_path / "folder").iterdir()) == []


def test_a_failing_item_fails_the_whole_and_leaves_no_files(on_workers, tmp_path):
    with pytest.raises(ZeroDivisionError):
        list(on_workers(partial(operator.truediv, 1), [1, 0]))
    assert list((tmp_path / "folder").iterdir()) == []
