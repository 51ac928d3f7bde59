"""Settings of the search for epsilon and theta. Importing this file does not import TensorFlow."""

from collections.abc import Mapping
from itertools import pairwise
from math import inf, log, prod
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationInfo, field_validator, model_serializer, model_validator

from models.losses.settings import ENDS, LossSettings
from models.rankers.settings import ScorerSettings, epsilon_fault
from schemas.settings import Settings, did_you_mean

_MAX_VALUES = 1000

EPSILON: Final = "channels.towers.epsilon"
THETA: Final = "loss.theta"
"""The settings that a search finds."""


class Space(Settings):
    """The space of one number in a search: a list of values, or a range.

    Example:
      >>> Space.model_validate({"min": 0.1, "max": 0.3, "step": 0.1}).listed
      (0.1, 0.2, 0.3)
      >>> Space.model_validate({"min": 1, "max": 100, "step": 10, "log": True}).listed
      (1.0, 10.0, 100.0)
    """

    values: tuple[float, ...] | None = None
    """A list of increasing values; may be given as a bare list."""
    min: float | None = None
    """The smallest number of a range."""
    max: float | None = None
    """The largest number of a range."""
    step: Annotated[float | None, Field(gt=0)] = None
    """The difference between neighbours in the range, or with `log` their ratio; null: any number of the range."""
    log: bool = False
    """Whether the range is divided evenly by logarithms."""

    @model_validator(mode="before")
    @classmethod
    def _parse_space(cls, content: Any) -> Any:
        if isinstance(content, list | tuple):
            return {"values": content}
        if isinstance(content, Space):
            return content
        if not isinstance(content, Mapping):
            raise ValueError(f"must be a list of values, or min and max; got {content!r}")
        for key in map(str, content):
            if key not in cls.model_fields:
                known = ", ".join(cls.model_fields)
                raise ValueError(f"has no key {key!r}; known: {known}{did_you_mean(key, cls.model_fields)}")
        return content

    @model_validator(mode="after")
    def _check_space(self) -> "Space":
        if self.values is None:
            if self.min is None or self.max is None or self.min >= self.max:
                raise ValueError(f"must be a list of values, or min below max; got min {self.min} and max {self.max}")
            if self.log and (self.min <= 0 or (self.step or inf) <= 1):
                raise ValueError(f"log needs min > 0 and step > 1; got min {self.min} and step {self.step}")
            if (self.steps or 0) >= _MAX_VALUES:
                raise ValueError(f"step must be so large that there are at most {_MAX_VALUES} values; got {self.step}")
        elif (self.min, self.max, self.step, self.log) != (None, None, None, False):
            raise ValueError("must be a list of values, or min and max; got both")
        elif not self.values or not all(low < high for low, high in pairwise(self.values)):
            raise ValueError(f"must hold values that increase strictly; got {list(self.values)}")
        return self

    @model_serializer
    def _serialize(self) -> Any:
        if self.values is not None:
            return list(self.values)
        return {"min": self.min, "max": self.max, "step": self.step, "log": self.log}

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest number."""
        if self.values is not None:
            return self.values[0], self.values[-1]
        return self.min or 0.0, self.max or 0.0

    @property
    def steps(self) -> int | None:
        """The number of steps in a range; None without `step`."""
        if self.step is None:
            return None
        low, high = self.bounds
        steps = (log(high) - log(low)) / log(self.step) if self.log else (high - low) / self.step
        # 1e-9 makes up for rounded binary fractions. The limit keeps it finite: too many steps are refused later.
        return int(min(steps + 1e-9, _MAX_VALUES))

    @property
    def listed(self) -> tuple[float, ...] | None:
        """All numbers in order; None for a range without `step`."""
        if self.steps is None or self.step is None:
            return self.values
        low, high = self.bounds
        numbers = (low * self.step**row if self.log else low + self.step * row for row in range(self.steps + 1))
        return tuple(min(float(f"{number:.12g}"), high) for number in numbers)


class TuningSettings(Settings):
    """The search for epsilon and theta by short trainings (paper, section 5, experimental setup)."""

    search: Literal["grid", "random", "bayesian"] | None = None
    """Kind of search; null: none. A trial is a training, which is judged by `training.best_metric` on the eval split.
    The best trial's values replace `channels.towers.epsilon` and `loss.theta`."""
    trials: Annotated[int | None, Field(ge=1, lt=2**31)] = None
    """Largest number of trials; null: the whole grid. Required for a random or Bayesian search."""
    epochs: Annotated[int | None, Field(ge=1, lt=2**31)] = None
    """Passes over the train split in a trial; null: `training.epochs`."""
    epsilon: Space | None = None
    """Space of `channels.towers.epsilon`: a list of values, or a range as `{min: 0.1, max: 10, log: true}`; a range in
    a grid needs `step`. null: epsilon is not searched."""
    theta: tuple[Space, ...] | None = None
    """Space of each threshold of `loss.theta`, in order and without overlap. null: theta is not searched."""

    @field_validator("trials")
    @classmethod
    def _check_trials(cls, trials: int | None, info: ValidationInfo) -> int | None:
        search = info.data.get("search")
        if trials is None and search in ("random", "bayesian"):
            raise ValueError(f"must be given for a {search} search; got null")
        return trials

    @field_validator("epsilon")
    @classmethod
    def _check_epsilon(cls, epsilon: Space | None) -> Space | None:
        for number in (epsilon.listed or epsilon.bounds) if epsilon else ():
            if fault := epsilon_fault(number):
                raise ValueError(fault)
        return epsilon

    @field_validator("theta")
    @classmethod
    def _check_theta(cls, theta: tuple[Space, ...] | None) -> tuple[Space, ...] | None:
        ends = (ENDS[0], *(end for space in theta or () for end in space.bounds), ENDS[1])
        if not all(high < low for high, low in zip(ends[::2], ends[1::2], strict=True)):
            spaces = ", ".join(f"{low:g} to {high:g}" for low, high in (space.bounds for space in theta or ()))
            raise ValueError(
                f"must hold spaces that follow one another within ({ENDS[0]:g}, {ENDS[1]:g}), so that thresholds "
                f"increase; got {spaces}"
            )
        return theta

    @field_validator("epsilon", "theta")
    @classmethod
    def _check_grid(cls, searched: Any, info: ValidationInfo) -> Any:
        for space in searched if isinstance(searched, tuple) else [searched]:
            if info.data.get("search") == "grid" and space and space.listed is None:
                raise ValueError(f"must have step for a grid; got only min {space.min:g} and max {space.max:g}")
        return searched

    @model_validator(mode="after")
    def _check_spaces(self) -> "TuningSettings":
        if self.search and not self.spaces:
            raise ValueError(f"must hold epsilon or theta, the values that a {self.search} search tries; got neither")
        return self

    @property
    def spaces(self) -> dict[str, Space]:
        """The space of each searched number: epsilon, theta_1, theta_2, ..."""
        thresholds = {f"theta_{number}": space for number, space in enumerate(self.theta or (), 1)}
        return {"epsilon": self.epsilon, **thresholds} if self.epsilon else thresholds

    @property
    def max_trials(self) -> int:
        """The largest possible number of trials."""
        combinations = prod(len(space.listed) if space.listed else inf for space in self.spaces.values())
        return int(min(combinations, self.trials or inf))

    def fault_for(self, towers: ScorerSettings, loss: LossSettings) -> str | None:
        """Returns an error message if the spaces do not fit the scorer, or the thresholds of a loss, or None."""
        if self.epsilon and not towers.has_epsilon:
            return (
                "epsilon must be null where channels.towers.similarity is not smooth_cosine; got a space for "
                f"{towers.channel}"
            )
        thresholds = loss.thresholds or ()
        if self.theta is None or len(self.theta) == len(thresholds):
            return None
        if not thresholds:
            return f"theta must be null for {loss.kind}, which has no thresholds; got {len(self.theta)} spaces"
        return f"theta must hold a space for each threshold of loss.theta, {list(thresholds)}; got {len(self.theta)}"


def searched_settings(numbers: Mapping[str, float]) -> dict[str, Any]:
    """The settings of a trial, from its numbers.

    Example:
      >>> searched_settings({"epsilon": 0.5, "theta_1": 0.2, "theta_2": 0.7})
      {'channels.towers.epsilon': 0.5, 'loss.theta': [0.2, 0.7]}
    """
    theta = [number for name, number in numbers.items() if name != "epsilon"]
    epsilon = {EPSILON: numbers["epsilon"]} if "epsilon" in numbers else {}
    return {**epsilon, **({THETA: theta} if theta else {})}


def describe_settings(settings: Mapping[str, Any]) -> str:
    """Describes the settings of a trial in words.

    Example:
      >>> describe_settings({"channels.towers.epsilon": 0.5, "loss.theta": [0.2, 0.7]})
      'epsilon 0.5, theta 0.2 0.7'
    """
    numbers = {
        name.rpartition(".")[2]: value if isinstance(value, list) else [value] for name, value in settings.items()
    }
    return ", ".join(" ".join([name, *(f"{number:g}" for number in values)]) for name, values in numbers.items())
