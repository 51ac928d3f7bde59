"""From a configuration to what a training minimises."""

from models.losses.make_loss import make_loss
from models.objectives.in_batch import InBatchObjective
from models.objectives.objective import RankingObjective
from models.rankers.ranker import Ranker
from models.settings import LossSettings


def make_objective(ranker: Ranker, settings: LossSettings, top_grade: int) -> RankingObjective:
    """The objective that a configuration asks for; made within `strategy.scope()`.

    Args:
      ranker: what is trained.
      settings: see there.
      top_grade: the MR grade.
    """
    loss = make_loss(settings, ranker.theta_ends)
    if settings.is_over_batch:
        return InBatchObjective(ranker, loss, settings, top_grade)
    return RankingObjective(ranker, loss)
