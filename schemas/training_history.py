"""What a training came to, epoch by epoch: the content of `training.json`."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

_EPOCH: Final = "epoch"
_SCORES: Final = "scores"


@dataclass(frozen=True)
class ScoreCounts:
    """The scores of the eval split, counted (the paper's Figure 3).

    Attributes:
      limit: the scores are counted in 40 equal bins of [-limit, limit]; the last bin holds its right edge.
      counts: from each grade to the number of its scores in each bin.
    """

    limit: float
    counts: dict[str, list[int]]


@dataclass(frozen=True)
class Epoch:
    """An epoch's row of the history.

    Attributes:
      number: of the epoch, from 1.
      figures: scalars by name: of the train split (`train/loss`, `train/learning_rate`, ...), of the objective
        (`theta/1`, ...), of the eval split (`eval/ndcg_5`, ...) and of its scores (`score_gradient/max`, ...).
      scores: of the eval split.
    """

    number: int
    figures: dict[str, float]
    scores: ScoreCounts

    def as_row(self) -> dict[str, Any]:
        """The row as JSON has it: the figures beside `epoch` and `scores`."""
        return {_EPOCH: self.number, **self.figures, _SCORES: asdict(self.scores)}

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> "Epoch":
        """The epoch of such a row."""
        figures = {name: value for name, value in row.items() if name not in (_EPOCH, _SCORES)}
        return cls(row[_EPOCH], figures, ScoreCounts(**row[_SCORES]))


@dataclass(frozen=True)
class TrainingHistory:
    """What a training reached.

    Attributes:
      train_pairs: query-document pairs of the train split.
      best_epoch: the epoch (from 1) whose weights are exported.
      best_value: its value of `training.best_metric` on the eval split.
      history: the epochs, in order.
      pairs_per_second: query-document pairs trained per second of training, without evaluation.
      steps: updates of the weights, over all epochs.
      theta: the thresholds that the best epoch learned; None where none are learned.
    """

    train_pairs: int
    best_epoch: int
    best_value: float
    history: list[Epoch]
    pairs_per_second: float
    steps: int
    theta: list[float] | None

    @property
    def best(self) -> Epoch:
        """The best epoch."""
        return self.history[self.best_epoch - 1]

    def to_json(self) -> str:
        """The content of `training.json`."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return json.dumps({**fields, "history": [epoch.as_row() for epoch in self.history]})

    @classmethod
    def of_json(cls, text: str) -> "TrainingHistory":
        """The history that such a text tells.

        Raises:
          KeyError, TypeError, ValueError: the text is none.
        """
        content = json.loads(text)
        fields = {name: content[name] for name in cls.__dataclass_fields__}
        return cls(**{**fields, "history": [Epoch.of_row(row) for row in content["history"]]})
