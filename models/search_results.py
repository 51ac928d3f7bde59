"""What a search for epsilon and theta came to. Importing this file imports neither TensorFlow nor KerasTuner."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from models.tuning_settings import Space, describe_settings


@dataclass(frozen=True)
class Trial:
    """One training of a search.

    Attributes:
      number: its place in the search, from 1.
      settings: what it was trained with, see `searched_settings`.
      value: the best value of the search's metric; None where the training failed.
      reason: why it failed, where it did.
    """

    number: int
    settings: Mapping[str, Any]
    value: float | None
    reason: str | None


@dataclass(frozen=True)
class SearchResults:
    """A search and its trials.

    Attributes:
      metric: what the trials are judged by, on the eval split.
      search: how it searched, see `TuningSettings`.
      epochs: of a trial.
      epsilon, theta: where it looked.
      trials: in the order in which they were made; one of them succeeded.

    Example:
      >>> trials = (Trial(1, {"model.epsilon": 0.5}, 0.61239, None), Trial(2, {"model.epsilon": 2.0}, None, "failed"))
      >>> SearchResults("ndcg_5", "grid", 1, Space(values=(0.5, 2.0)), None, trials).describe_best()
      'best of 2 trials: epsilon 0.5 (eval ndcg_5 0.6124)'
    """

    metric: str
    search: str
    epochs: int
    epsilon: Space | None
    theta: tuple[Space, ...] | None
    trials: tuple[Trial, ...]

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

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "metric": self.metric,
            "search": self.search,
            "trials": [asdict(trial) for trial in self.trials],
            "epochs": self.epochs,
            "epsilon": self.epsilon and self.epsilon.model_dump(mode="json"),
            "theta": self.theta and [space.model_dump(mode="json") for space in self.theta],
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "SearchResults":
        """What `as_dict` was called on."""
        epsilon, theta = content["epsilon"], content["theta"]
        return cls(
            metric=content["metric"],
            search=content["search"],
            epochs=content["epochs"],
            epsilon=epsilon and Space.model_validate(epsilon),
            theta=theta and tuple(map(Space.model_validate, theta)),
            trials=tuple(Trial(**trial) for trial in content["trials"]),
        )
