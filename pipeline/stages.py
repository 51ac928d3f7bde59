"""What runners tell of the stages they run."""

from typing import Final, Literal, NamedTuple

How = Literal["run", "cached", "restored"]
"""A restored stage came from the cache, but files of it were lost, and it was repeated to bring them back."""

DATA_STAGES: Final = (
    "WikipediaGen", "CollectionGen", "WikiClirExampleGen", "StatisticsGen", "ImportSchemaGen", "ExampleValidator",
    "Transform", "LexicalBaseline", "LexiconGen",
)  # fmt: skip
"""Before any training: cells of an experiment that agree in a stage's settings share what it makes, through the cache.
Data that one cell cannot use, none can."""

STAGES: Final = (
    *DATA_STAGES, "PaperTrainer", "TrainedBaseline", "Tuner", "Trainer", "TrainingReport", "Evaluator", "Gate",
    "Pusher", "CorpusIndexer", "IndexPusher", "SearchEvaluator",
)  # fmt: skip
"""All that a pipeline may hold."""


class StageEnd(NamedTuple):
    """A stage that is done."""

    number: int
    total: int
    name: str
    how: How
    seconds: float
    cpu_seconds: float = 0.0
    peak_memory_bytes: int = 0
    """The most that the process had held until the stage ended."""

    def describe(self) -> str:
        """The stage in a line for a person."""
        took = "cached" if self.how == "cached" else f"{self.seconds:.1f} s"
        note = "  lost files restored" if self.how == "restored" else ""
        number = f"[{self.number:{len(str(self.total))}}/{self.total}]"
        return f"{number} {self.name:20} {took:>8}{note}"
