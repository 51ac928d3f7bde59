"""Names of the stages, and the account of a stage that is done. Importing this file does not import TFX."""

import re
import resource
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

DATA_STAGES: Final = (
    "WikipediaGen", "CollectionGen", "WikiClirExampleGen", "StatisticsGen", "ImportSchemaGen", "ExampleValidator",
    "Transform", "LexicalBaseline", "TranslationGen", "LexiconGen", "TextVectorGen", "Rivals",
)  # fmt: skip
"""The stages before any training. Cells of an experiment that agree in a stage's settings share its outputs through the
cache, and if one cell refuses the data, every cell does."""

STAGES: Final = (
    *DATA_STAGES, "PaperTrainer", "TrainedBaseline", "Tuner", "Trainer", "TrainingReport", "Evaluator", "Gate",
    "Pusher", "CorpusIndexer", "IndexPusher", "SearchEvaluator",
)  # fmt: skip
"""All stages that a pipeline may hold."""

ALWAYS_RUN: Final = ("Gate", "Pusher", "IndexPusher")
"""The stages that run on every run, because their decisions depend on the version that is pushed at that time."""

Outputs: TypeAlias = Mapping[str, Sequence[Any]]
"""Output key of a stage to its artifacts."""

How: TypeAlias = Literal["run", "cached", "restored"]
"""How a stage came by its outputs; a restored stage came from the cache, and was repeated because files were lost
or changed."""


class StageEnd(NamedTuple):
    """A stage that is done."""

    number: int
    total: int
    name: str
    how: How
    seconds: float
    cpu_seconds: float = 0.0
    peak_memory_bytes: int = 0
    """The peak memory of the process until the stage ended."""

    def describe(self) -> str:
        """One line about the stage, for people."""
        took = "cached" if self.how == "cached" else f"{self.seconds:.1f} s"
        note = "  lost or changed files restored" if self.how == "restored" else ""
        number = f"[{self.number:{len(str(self.total))}}/{self.total}]"
        return f"{number} {self.name:20} {took:>8}{note}"


def cpu_seconds() -> float:
    """CPU seconds of this process and of the processes that it started and that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def peak_memory() -> int:
    """The peak memory in bytes of this process, or of a process that it started."""
    return max(_own_peak(), 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


def _own_peak() -> int:
    # ru_maxrss begins with the memory of the process that started this one, such as a notebook's gigabytes.
    status = Path("/proc/self/status")
    held = re.search(r"^VmHWM:\s+(\d+) kB$", status.read_text(), re.MULTILINE) if status.exists() else None
    return 1024 * (int(held[1]) if held else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
