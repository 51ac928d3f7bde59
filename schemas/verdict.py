"""The verdict of the gate, `verdict.json`."""

from schemas.json_record import JsonRecord


class Comparison(JsonRecord):
    """A model beside the last pushed one, on the same lists."""

    version: str
    """The last pushed model's."""
    metric: str
    """The metric that is compared."""
    value: float
    """The model's mean."""
    last_value: float
    """The last pushed model's mean."""
    p_value: float
    """Of `models.evaluation.significance`, one-sided: the model is worse."""
    significance: float
    """The model is significantly worse where `p_value` lies below this."""

    @property
    def is_worse(self) -> bool:
        """Whether the model is significantly worse."""
        return self.p_value < self.significance


class Verdict(JsonRecord):
    """The blessing of a model, with its reason in words."""

    blessed: bool
    reason: str
    comparison: Comparison | None
    """With the last pushed model; None where there was none to compare with."""
