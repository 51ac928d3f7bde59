"""Settings of the evaluation and of search. Importing this file does not import TensorFlow."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator

from models.evaluation.metrics import METRICS
from schemas.settings import OneOf, Settings, did_you_mean


class EvaluationSettings(Settings):
    """How a model is evaluated, and what it must reach to be pushed."""

    baselines: tuple[Literal["bm25", "paper"], ...] = ("bm25",)
    """Systems whose metrics stand beside the model's, on the same lists: bm25 is BM25 without translation, paper the
    paper's own system (preset `paper`, without word vectors), which is trained for it on the same data."""
    feedback: Annotated[float, Field(ge=0, le=1e6)] = 0.0
    """Gain of a second pass over each list, in which documents gain that are like the two best of the first; 0: none.
    The pushed model is the same; `clir rank --feedback` does as much. It needs a `lexicon.kind`; 2 to 12 are usual."""
    minimums: dict[str, Annotated[float, Field(strict=True)]] | None = None
    """Least value of each named metric on the test split; null asks that every metric lie above random order's."""
    compared_metric: Annotated[str, AfterValidator(OneOf(METRICS))] = "ndcg_5"
    """The metric in which a model must not be significantly worse than the last pushed one, on the same test lists."""
    significance: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """A model is significantly worse where the paired test's p-value lies below this."""
    start_anew: bool = False
    """Push without comparing with the last pushed model."""

    @field_validator("baselines")
    @classmethod
    def _baselines_differ(cls, baselines: tuple[str, ...]) -> tuple[str, ...]:
        if len({*baselines}) < len(baselines):
            raise ValueError(f"must name a baseline once; got {', '.join(baselines)}")
        return baselines

    @field_validator("minimums")
    @classmethod
    def _metrics_are_known(cls, minimums: dict[str, float] | None) -> dict[str, float] | None:
        for key, value in (minimums or {}).items():
            if key not in METRICS:
                raise ValueError(f"must name metrics of {', '.join(METRICS)}; got {key!r}{did_you_mean(key, METRICS)}")
            if not 0 <= value <= 1:
                raise ValueError(f"{key} must lie in [0, 1]; got {value}")
        return minimums


class SearchSettings(Settings):
    """Whether a run makes its collection searchable."""

    index: bool = False
    """Encode every document with the trained model: an index for `clir search` and `clir serve` under the output, and,
    beside the metrics of the test lists, those of the same queries searching the whole collection."""
