"""The results of a search for epsilon and theta. Importing this file imports neither TensorFlow nor KerasTuner."""

from models.tuning.settings import Space, describe_settings
from schemas.json_record import JsonRecord


class Trial(JsonRecord):
    """A training of a search."""

    number: int
    """The number in the search, from 1."""
    settings: dict[str, float | list[float]]
    """The tried settings, see `searched_settings`."""
    value: float | None
    """The best value of the search's metric; None for a failed training."""
    reason: str | None
    """The reason of a failure; None for a training that succeeded."""

    @property
    def numbers(self) -> dict[str, float]:
        """The numbers by name: channels.towers.epsilon, loss.theta 1, loss.theta 2, ..."""
        numbers = {}
        for name, value in self.settings.items():
            for number, single in enumerate(value, 1) if isinstance(value, list) else [(None, value)]:
                numbers[f"{name} {number}" if number else name] = single
        return numbers


class SearchResults(JsonRecord):
    """A search and its trials, at least one of which succeeded.

    Example:
      >>> trial = Trial(number=1, settings={"channels.towers.epsilon": 0.5}, value=0.61239, reason=None)
      >>> space = Space(values=(0.5,))
      >>> SearchResults(
      ...     metric="ndcg_5", search="grid", trials=(trial,), epochs=1, epsilon=space, theta=None
      ... ).describe_best()
      'best of 1 trials: epsilon 0.5 (eval ndcg_5 0.6124)'
    """

    metric: str
    """The metric on the eval split by which trials are compared."""
    search: str
    """The kind of search, see `TuningSettings`."""
    trials: tuple[Trial, ...]
    """The trials in their order."""
    epochs: int
    """The epochs of a trial."""
    epsilon: Space | None
    """The space of `channels.towers.epsilon`."""
    theta: tuple[Space, ...] | None
    """The space of each threshold of `loss.theta`."""

    @property
    def best(self) -> Trial:
        """The best trial, the first of equally good ones."""
        return self.best_first()[0]

    def best_first(self) -> list[Trial]:
        """The trials from best to worst, and failed ones last; equally good ones stay in their order."""
        return sorted(self.trials, key=lambda trial: -1.0 if trial.value is None else trial.value, reverse=True)

    def describe_best(self) -> str:
        """The best trial in a line."""
        best = f"{describe_settings(self.best.settings)} (eval {self.metric} {self.best.value:.4f})"
        return f"best of {len(self.trials)} trials: {best}"
