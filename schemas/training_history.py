"""Names of the files that a training and a search leave for the stages after them."""

import json
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from schemas.json_record import JsonRecord

HISTORY_FILE: Final = "training.json"
"""In the artifact of a training's run: its history and speed."""
VECTORS_FILE: Final = "embeddings.json"
"""Beside it, where there were pre-trained vectors: what became of them."""
STABILITY_FILE: Final = "stability.json"
"""In the report of a training: what the theory makes of it, see `schemas.stability`."""
TRIALS_FILE: Final = "trials.json"
"""In the artifact of a search's results: the search and all its trials, see `models.tuning.results`."""


THETA: Final = "theta/"
"""How the figures of learned thresholds begin; their numbers follow, from 1."""


class ScoreCounts(BaseModel):
    """The scores of a split, counted (the paper's Figure 3)."""

    model_config = ConfigDict(frozen=True)

    limit: float
    """The scores are counted in 40 equal bins of [-limit, limit]; the last bin holds its right edge."""
    counts: dict[str, list[int]]
    """From each grade to the number of its scores in each bin."""


class Epoch(BaseModel):
    """An epoch's row: whatever stands in it besides the two fields is a figure.

    Example:
      >>> Epoch(epoch=1, scores=ScoreCounts(limit=1, counts={}), **{"train/loss": 0.5}).figures
      {'train/loss': 0.5}
    """

    model_config = ConfigDict(frozen=True, extra="allow")
    __pydantic_extra__: dict[str, float]

    epoch: int
    """Its number, from 1."""
    scores: ScoreCounts
    """Of the eval split."""

    @property
    def figures(self) -> dict[str, float]:
        """Of the train split (`train/loss`, ...), of the objective (`theta/1`, ...), and of the eval split
        (`eval/ndcg_5`, `score_gradient/max`, ...)."""
        return dict(self.__pydantic_extra__)


class WeightTried(BaseModel):
    """What the eval split makes of a weight of the second channel."""

    model_config = ConfigDict(frozen=True)

    weight: float
    ndcg_5: float
    p_mr_1: float


class ChannelWeight(BaseModel):
    """The weight of the second channel that was fitted on the eval split."""

    model_config = ConfigDict(frozen=True)

    weight: float
    """That with the largest ndcg_5 + 0.1 p_mr_1."""
    curve: list[WeightTried]
    """All that were tried."""


class TrainingHistory(JsonRecord):
    """What a training reached.

    Example:
      >>> rows = [Epoch(epoch=number, scores=ScoreCounts(limit=1, counts={})) for number in (1, 2)]
      >>> history = TrainingHistory(
      ...     train_pairs=4, best_epoch=2, best_value=0.5, history=rows, pairs_per_second=9.0, steps=6, theta=None
      ... )
      >>> history.best.epoch
      2
      >>> TrainingHistory.from_json(history.to_json()) == history
      True
    """

    train_pairs: int
    """Query-document pairs of the train split."""
    best_epoch: int
    """The epoch whose weights are exported."""
    best_value: float
    """Its value of `training.best_metric` on the eval split."""
    history: list[Epoch]
    """The epochs, in order."""
    pairs_per_second: float
    """Query-document pairs trained per second of training, without evaluation."""
    steps: int
    """Updates of the weights, over all epochs."""
    theta: list[float] | None
    """The thresholds that the best epoch learned; None where none are learned."""
    channel_weight: ChannelWeight | None = None
    """The weight of the second channel; None where it was given, or there is none."""
    train_scores: ScoreCounts | None = None
    """The scores of the train split with the best epoch's weights, of the channel that is trained; None where an
    earlier version left none."""
    searched: dict[str, Any] = {}
    """Dotted settings to the values that a search found, with which the training was done; empty where none did."""

    @property
    def best(self) -> Epoch:
        """The best epoch."""
        return self.history[self.best_epoch - 1]

    def to_json(self) -> str:
        """The text of the file, without line ends: a score count is one of thousands."""
        return json.dumps(self.model_dump())
