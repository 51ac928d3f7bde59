"""The metrics of an index's drift: a figure that is not available has no row."""

import pytest

from schemas.index_manifest import Drift
from serving.telemetry import ServiceMetrics
from serving.work_queue import WorkQueue
from tests.serving.fake_engines import FakeEngine

pytestmark = pytest.mark.tensors


def drift_rows(metrics: ServiceMetrics) -> list[str]:
    names = ("model_documents", "length_ratio", "unknown_share", "divergence")
    prefixes = tuple(f"clir_index_{name}{{" for name in names)
    return [line for line in metrics.text().decode().splitlines() if line.startswith(prefixes)]


def test_the_drift_of_the_index_that_answers_is_reported_and_no_other_s() -> None:
    metrics, engine = ServiceMetrics(WorkQueue(1, 1, 1.0)), FakeEngine("7")
    engine.drift = Drift(
        documents=3, model_documents=9, mean_length=3, model_mean_length=2, unknown_share=0.25, divergence=0.5
    )
    metrics.swapped(engine)
    assert drift_rows(metrics) == [
        'clir_index_model_documents{index_version="7"} 9.0',
        'clir_index_length_ratio{index_version="7"} 1.5',
        'clir_index_unknown_share{index_version="7"} 0.25',
        'clir_index_divergence{index_version="7"} 0.5',
    ]
    other = FakeEngine("8")
    other.drift = Drift(documents=3, mean_length=3, unknown_share=0.0, reason="there is no lexicon")
    metrics.swapped(other)
    assert drift_rows(metrics) == ['clir_index_unknown_share{index_version="8"} 0.0']
    metrics.swapped(FakeEngine("9"))
    assert drift_rows(metrics) == []
