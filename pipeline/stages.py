"""The table of the stages, and the record of a finished stage. Importing this file does not import TFX."""

import os
import re
import resource
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from pipeline.layout import CONFIG_FILE, DATA, EVALUATION, LEXICON, TRAINING, TUNING, WIKIPEDIA
from schemas.evaluation import EVALUATION_FILES, VERDICT_FILE
from schemas.search_report import SEARCH_FILES


class Publication(NamedTuple):
    """The files of a stage that a run copies into its output folder, for people.

    Attributes:
      output: the key of the output that holds them.
      folder: their folder below the run's output folder; empty for that folder itself.
      files: their names, if known before the run.
      is_shared: whether the cells of an experiment share them; a cell does not publish shared files.
    """

    output: str
    folder: str
    files: tuple[str, ...] = ()
    is_shared: bool = False


class Stage(NamedTuple):
    """The properties of a stage, without its wiring.

    Attributes:
      publishes: its files for people, if any.
      is_before_training: whether it runs before any training. Cells of an experiment with equal settings for such a
        stage share its outputs through the cache; if it refuses the data in one cell, it does in every cell.
      always_runs: whether it ignores the cache, because its decision depends on the version that is pushed at that
        time.
    """

    publishes: Publication | None = None
    is_before_training: bool = False
    always_runs: bool = False


def _data(publishes: Publication | None = None) -> Stage:
    return Stage(publishes, is_before_training=True)


STAGES: Final[Mapping[str, Stage]] = {
    "WikipediaGen": _data(Publication("wikiclir_files", WIKIPEDIA, is_shared=True)),
    "CollectionGen": _data(),
    "PassageGen": _data(),
    "WikiClirExampleGen": _data(Publication("report", DATA, ("report.json",), is_shared=True)),
    "ImportSchemaGen": _data(),
    "StatisticsGen": _data(),
    "ExampleValidator": _data(),
    "Transform": _data(),
    "LexicalBaseline": _data(),
    "TranslationGen": _data(),
    "LexiconGen": _data(Publication("lexicon", LEXICON, ("lexicon.tsv", "report.json"), is_shared=True)),
    "TextVectorGen": _data(),
    "Rivals": _data(),
    "Tuner": Stage(),
    "Trainer": Stage(),
    "PaperTrainer": Stage(),
    "TrainingReport": Stage(
        Publication(
            "report",
            "",
            (
                *(
                    f"{TRAINING}/{name}"
                    for name in ("training.json", "stability.json", "stability.md", "embeddings.json")
                ),
                *(f"{TUNING}/{name}" for name in ("results.json", "results.md", "results.svg")),
            ),
        ),
    ),
    "TrainedBaseline": Stage(),
    "Evaluator": Stage(Publication("evaluation", EVALUATION, EVALUATION_FILES)),
    "Gate": Stage(Publication("blessing", EVALUATION, (VERDICT_FILE,)), always_runs=True),
    "Pusher": Stage(always_runs=True),
    "CorpusIndexer": Stage(),
    "IndexPusher": Stage(always_runs=True),
    "SearchEvaluator": Stage(Publication("search_evaluation", EVALUATION, SEARCH_FILES)),
}
"""All stages that a pipeline may hold."""

DATA_STAGES: Final = tuple(name for name, stage in STAGES.items() if stage.is_before_training)
"""The stages before any training."""
ALWAYS_RUN: Final = tuple(name for name, stage in STAGES.items() if stage.always_runs)
"""The stages that run on every run."""


PUBLISHED: Final = (
    CONFIG_FILE,
    *(
        os.path.join(stage.publishes.folder, name)
        for stage in STAGES.values()
        if stage.publishes
        for name in stage.publishes.files
    ),
)
"""The files that a run copies into its output folder, for people."""

Outputs: TypeAlias = Mapping[str, Sequence[Any]]
"""Output key of a stage to its artifacts."""

How: TypeAlias = Literal["run", "cached", "restored"]
"""How a stage got its outputs. A restored stage was repeated because files of its cached outputs were lost or changed.
"""


class StageEnd(NamedTuple):
    """A finished stage."""

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
    """The largest peak memory in bytes of this process and of the processes that it started."""
    return max(_own_peak(), 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


def _own_peak() -> int:
    # ru_maxrss begins with the memory of the process that started this one, such as a notebook's gigabytes.
    status = Path("/proc/self/status")
    peak = re.search(r"^VmHWM:\s+(\d+) kB$", status.read_text(), re.MULTILINE) if status.exists() else None
    return 1024 * (int(peak[1]) if peak else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
