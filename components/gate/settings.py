"""Settings of the evaluation. Importing this file does not import TensorFlow."""

from typing import Annotated

from pydantic import AfterValidator, Field, field_validator

from models.metrics import METRICS
from schemas.did_you_mean import did_you_mean
from schemas.one_of import OneOf
from schemas.settings import Settings


class EvaluationSettings(Settings):
    """What a model must reach to be pushed."""

    minimums: dict[str, Annotated[float, Field(strict=True)]] | None = None
    """Least value of each named metric on the test split; null asks that every metric lie above random order's."""
    compared_metric: Annotated[str, AfterValidator(OneOf(METRICS))] = "ndcg_5"
    """The metric in which a model must not be significantly worse than the last pushed one, on the same test lists."""
    significance: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """A model is significantly worse where the paired test's p-value lies below this."""
    start_anew: bool = False
    """Push without comparing with the last pushed model."""

    @field_validator("minimums")
    @classmethod
    def _metrics_are_known(cls, minimums: dict[str, float] | None) -> dict[str, float] | None:
        for key, value in (minimums or {}).items():
            if key not in METRICS:
                raise ValueError(f"must name metrics of {', '.join(METRICS)}; got {key!r}{did_you_mean(key, METRICS)}")
            if not 0 <= value <= 1:
                raise ValueError(f"{key} must lie in [0, 1]; got {value}")
        return minimums
