"""Makes the objective of a training's job."""

from collections.abc import Sequence

from models.job import TrainingJob
from models.objectives.adversarial import AdversarialObjective
from models.objectives.objective import Objective
from models.rankers.ranker import Ranker


def make_objective(ranker: Ranker, job: TrainingJob, domains: Sequence[str] = (), held_out: int = 0) -> Objective:
    """Makes the objective of a job, with its adversary if it has one; within `strategy.scope()`.

    Args:
      ranker: the ranker that is trained.
      job: the training.
      domains: the domain of each train list, for an adversary.
      held_out: number of domains of held-out texts, for an adversary.
    """
    own = job.objective.model_dump(exclude={"kind"})
    objective: Objective = job.objective.load().make(ranker, job.loss, job.top_grade, job.training.seed, **own)
    if not job.adversary.weight:
        return objective
    return AdversarialObjective(objective, job.adversary, domains, held_out, job.training.seed)
