"""The names of the files that a training and a search leave for later stages, and the content of `training.json`."""

import json
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from schemas.json_record import JsonRecord

HISTORY_FILE: Final = "training.json"
"""In the artifact of a training's run: its history and speed."""
VECTORS_FILE: Final = "embeddings.json"
"""In the same artifact: the account of pre-trained vectors, if the training uses any."""
TRIALS_FILE: Final = "trials.json"
"""In the artifact of a search's results: all its trials, see `models.tuning.results`."""

THETA: Final = "theta/"
"""The prefix of the figures of learned thresholds, before their numbers from 1."""


class ScoreCounts(JsonRecord):
    """A histogram of a split's scores by grade (the paper's Figure 3)."""

    limit: float
    """Largest magnitude of a score: [-limit, limit] has 40 equal bins; the last includes its right edge."""
    counts: dict[str, list[int]]
    """From each grade to its number of scores in each bin."""


class Epoch(BaseModel):
    """The record of an epoch: every value besides the two fields is a figure.

    Example:
      >>> Epoch(epoch=1, scores=ScoreCounts(limit=1, counts={}), **{"train/loss": 0.5}).figures
      {'train/loss': 0.5}
    """

    model_config = ConfigDict(frozen=True, extra="allow")
    __pydantic_extra__: dict[str, float]

    epoch: int
    """The number of the epoch, from 1."""
    scores: ScoreCounts
    """The scores of the eval split."""

    @property
    def figures(self) -> dict[str, float]:
        """The figures of the train split (`train/loss`, ...), the objective (`theta/1`, ...) and the eval split
        (`eval/ndcg_5`, `score_gradient/max`, ...), by name."""
        return dict(self.__pydantic_extra__)


class Tried(JsonRecord):
    """A value that was tried for a number on the eval split, and its metrics there."""

    value: float
    ndcg_5: float
    p_mr_1: float


class Fitted(JsonRecord):
    """The best value of a number on the eval split."""

    value: float
    """The value with the largest ndcg_5 + 0.1 p_mr_1; see `models.training.second_pass` for an exception."""
    curve: list[Tried]
    """All values tried."""


class TrainingHistory(JsonRecord):
    """The history of a training: the content of `training.json`.

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
    """The best epoch's value of `training.best_metric` on the eval split."""
    history: list[Epoch]
    """The epochs, in order."""
    pairs_per_second: float
    """Query-document pairs trained per second of training, without evaluation."""
    steps: int
    """Updates of the weights, over all epochs."""
    theta: list[float] | None
    """The thresholds that the best epoch learned; None where none are learned."""
    fitted: dict[str, Fitted] = {}
    """The numbers that were fitted on the eval split, by channel and setting (`lexicon.weight`, `cl_lsi.dim`), and
    `feedback.gain` and `feedback.documents`; empty where the settings fix all of them."""
    train_scores: ScoreCounts | None = None
    """The train split's scores of the trained channel with the best epoch's weights; None until they are counted."""
    searched: dict[str, Any] = {}
    """Dotted settings to the values that a search found and the training used; empty without a search."""

    @property
    def best(self) -> Epoch:
        """The best epoch."""
        return self.history[self.best_epoch - 1]

    @property
    def changed_nothing(self) -> bool:
        """Whether loss and gradient were 0 in every step, so that the weights are still the initial ones."""
        return not any(
            row.figures.get(key, 1.0) for row in self.history for key in ("train/loss", "train/gradient_norm_max")
        )

    def to_json(self) -> str:
        """The text of the file, on a single line because of thousands of score counts."""
        return json.dumps(self.model_dump())
