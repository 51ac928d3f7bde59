"""What a search for epsilon and theta came to. Importing this file imports neither TensorFlow nor KerasTuner."""

from models.tuning.settings import Space, describe_settings
from schemas.json_record import JsonRecord


class Trial(JsonRecord):
    """One training of a search."""

    number: int
    """Its place in the search, from 1."""
    settings: dict[str, float | list[float]]
    """What it was trained with, see `searched_settings`."""
    value: float | None
    """The best value of the search's metric; None where the training failed."""
    reason: str | None
    """Why it failed, where it did."""


class SearchResults(JsonRecord):
    """A search and its trials, of which one succeeded.

    Example:
      >>> trial = Trial(number=1, settings={"model.epsilon": 0.5}, value=0.61239, reason=None)
      >>> space = Space(values=(0.5,))
      >>> SearchResults(
      ...     metric="ndcg_5", search="grid", trials=(trial,), epochs=1, epsilon=space, theta=None
      ... ).describe_best()
      'best of 1 trials: epsilon 0.5 (eval ndcg_5 0.6124)'
    """

    metric: str
    """What the trials are judged by, on the eval split."""
    search: str
    """How it searched, see `TuningSettings`."""
    trials: tuple[Trial, ...]
    """In the order in which they were made."""
    epochs: int
    """Of a trial."""
    epsilon: Space | None
    """Where it looked for `model.epsilon`."""
    theta: tuple[Space, ...] | None
    """Where it looked for each threshold of `loss.theta`."""

    @property
    def best(self) -> Trial:
        """The best trial, of equal ones the first."""
        return self.best_first()[0]

    def best_first(self) -> list[Trial]:
        """The trials, those that failed in the end; of equal ones the first before the others."""
        return sorted(self.trials, key=lambda trial: -1.0 if trial.value is None else trial.value, reverse=True)

    def describe_best(self) -> str:
        """The best trial in a line."""
        said = f"{describe_settings(self.best.settings)} (eval {self.metric} {self.best.value:.4f})"
        return f"best of {len(self.trials)} trials: {said}"
