"""Settings of the evaluation. Importing this file does not import TensorFlow."""

from pydantic import field_validator

from models.settings import METRICS
from schemas.settings import Settings


class EvaluationSettings(Settings):
    """What a model must reach to be pushed."""

    minimums: dict[str, float] | None = None
    """Least value of each named metric on the test split; null asks that every metric lie above random order's."""

    @field_validator("minimums")
    @classmethod
    def _metrics_are_known(cls, minimums: dict[str, float] | None) -> dict[str, float] | None:
        for key, value in (minimums or {}).items():
            if key not in METRICS:
                raise ValueError(f"must name metrics of {', '.join(METRICS)}; got {key!r}")
            if not 0 <= value <= 1:
                raise ValueError(f"{key} must lie in [0, 1]; got {value}")
        return minimums
