"""What a run takes, before it begins: time, memory and disk."""

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from models.training.devices import configure_devices
from pipeline.config import RunConfig
from pipeline.estimate.collection_size import CollectionSize, size_of_collection
from pipeline.estimate.costs import cost, quantities
from pipeline.estimate.machine import machine_factor
from pipeline.estimate.training_step import TrainingStep, measure_training_step
from pipeline.paper_baseline import paper_beside
from schemas.errors import DataError
from schemas.rounded import rounded_duration, rounded_size

ERROR: Final = 0.3
"""Time lies within this share of what was measured on collections that nothing was fitted to (docs/performance.md)."""


@dataclass(frozen=True)
class RunEstimate:
    """What a run takes.

    Attributes:
      size: of its collection.
      step: a step of its training.
      machine_factor: how many times as long as the reference this machine takes.
      seconds: of each part, in order.
      memory_bytes: the most that the process holds.
      disk_bytes: below `output`.
      notes: what the estimate leaves out, or what does not fit, in sentences.
    """

    size: CollectionSize
    step: TrainingStep
    machine_factor: float
    seconds: Mapping[str, float]
    memory_bytes: float
    disk_bytes: float
    notes: tuple[str, ...]

    def describe(self) -> Iterator[str]:
        """Lines for a person."""
        size, step = self.size, self.step
        lists, pairs = sum(size.lists.values()), sum(size.pairs.values())
        yield (
            f"{size.documents:,} documents of {size.document_words:.0f} words, {lists:,} queries, "
            f"lists of {pairs / lists:.0f} documents"
        )
        yield f"this machine takes {self.machine_factor:.2f} times as long as the reference"
        yield f"a training step takes {1000 * step.seconds:.1f} ms; steps: {step.steps:,}, epochs: {step.epochs}"
        for part, seconds in self.seconds.items():
            yield f"{part:18} {rounded_duration(seconds):>8}"
        yield (
            f"{'in all':18} {rounded_duration(sum(self.seconds.values())):>8}, give or take {ERROR:.0%}; "
            f"{rounded_size(self.memory_bytes)} of memory, {rounded_size(self.disk_bytes)} of disk"
        )
        yield from (f"note: {note}" for note in self.notes)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "step": self.step._asdict(), "all_seconds": sum(self.seconds.values())}


def estimate_run(config: RunConfig) -> RunEstimate:
    """Estimates a run of which nothing is cached: counts its input, and measures this machine for some seconds.

    Args:
      config: of a run in one process, in which Beam runs, too.

    Raises:
      DataError: see `size_of_collection`, or the run uses more than one process.
      ConfigError: the devices do not fit the settings.
    """
    workers = config.training.workers or 1
    if workers > 1 or config.beam.runner != "in_process":
        raise DataError(
            "an estimate is of one process: training.workers must be 1 or null, and beam.runner in_process; got "
            f"{workers} and {config.beam.runner}."
        )
    load = os.getloadavg()[0]
    configure_devices(config.training, config.model.encoder)  # before the first op
    size = size_of_collection(config)
    step = measure_training_step(config, size)
    factor = machine_factor()
    has_lexicon = config.lexicon.kind != "none"
    of = quantities(size, step, has_lexicon)
    parts = ["start", "data"]
    parts += ["BM25"] if "bm25" in config.evaluation.baselines else []
    parts += ["lexicon"] if has_lexicon else []
    seconds = {part: factor * cost(part, of) for part in parts}
    seconds["training"] = step.training_seconds + factor * cost("training", of)
    if "paper" in config.evaluation.baselines:
        paper = measure_training_step(paper_beside(config), size)
        beside = factor * cost("training", quantities(size, paper, has_lexicon=False))
        seconds["paper's training"] = paper.training_seconds + beside
    seconds["evaluation"] = factor * cost("evaluation", of)
    if config.search.index:
        seconds["index"] = factor * cost("index", of)
    memory, disk = cost("memory", of), cost("disk", of)
    if config.search.index:
        disk += cost("disk of the index", of)
    return RunEstimate(size, step, factor, seconds, memory, disk, tuple(_notes(config, memory, disk, load)))


def _notes(config: RunConfig, memory: float, disk: float, load: float) -> Iterator[str]:
    if load > 1:
        yield f"other programs are at work (load {load:.1f}), and the estimate is for a machine that stays so busy"
    if config.training.patience:
        yield "training stops earlier where training.patience is spent"
    if config.tuning.search:
        yield "each trial of the search (tuning) comes on top, and takes about as long as the training"
    folder = Path(config.output)
    while not folder.exists():
        folder = folder.parent
    free, held = shutil.disk_usage(folder).free, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if disk > free:
        yield f"the disk of {folder} has {rounded_size(free)} of room alone"
    if memory > held:
        yield f"the machine has {rounded_size(held)} of memory alone"
