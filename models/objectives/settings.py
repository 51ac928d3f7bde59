"""Settings of the training objective. Importing this file does not import TensorFlow."""

from typing import Any, ClassVar, Literal

from models.kinds import Count, Implemented


class ObjectiveSettings(Implemented):
    """The training objective.

    Its class is a `models.objectives.objective.Objective`, made by its class method `make`.
    """

    kinds: ClassVar[dict[str, type[Any]]] = {}

    kind: str
    """Kind of the objective: lists (the loss of each list, as in the paper), in_batch (terms over all documents of a
    step), or drawn (the loss of a list's MR document and of a few documents of lower grades that each step draws)."""


@ObjectiveSettings.add
class ListsSettings(ObjectiveSettings):
    """The loss of each list."""

    implementation: ClassVar[str] = "models.objectives.objective.RankingObjective"

    kind: Literal["lists"] = "lists"


@ObjectiveSettings.add
class InBatchSettings(ObjectiveSettings):
    """Terms over all documents of a step."""

    implementation: ClassVar[str] = "models.objectives.in_batch.InBatchObjective"

    kind: Literal["in_batch"] = "in_batch"


@ObjectiveSettings.add
class DrawnSettings(ObjectiveSettings):
    """The loss of a list's MR document and of a few documents of lower grades."""

    implementation: ClassVar[str] = "models.objectives.drawn.DrawnObjective"

    kind: Literal["drawn"] = "drawn"
    documents: Count = 4
    """Number of documents of lower grades that a step draws from each list."""
