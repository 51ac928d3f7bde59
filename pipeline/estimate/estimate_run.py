"""Estimates the time, memory and disk of a run before it begins."""

import gzip
import os
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import tensorflow as tf

from models.choices import RIVALS
from models.texts.tokens import tokenize
from models.training.devices import configure_devices
from pipeline.config import RunConfig
from pipeline.estimate.collection_size import CollectionSize, size_of_collection
from pipeline.estimate.encoder_speed import EncoderSpeed, measure_encoder
from pipeline.estimate.training_step import TrainingStep, measure_training_step
from pipeline.machine import memory_size
from schemas.cut_texts import CutTexts
from schemas.errors import DataError
from schemas.wording import rounded_duration, rounded_size

ERROR: Final = 0.3
"""Largest relative error of the time on collections that no cost was fitted to (docs/performance.md)."""


@dataclass(frozen=True)
class RunEstimate:
    """The estimate of a run.

    Attributes:
      size: of its collection.
      step: of its training.
      machine_factor: duration of the same work on this machine, in durations on the reference machine.
      seconds: each part of the run to its duration, in order.
      memory_bytes: peak memory of the process.
      disk_bytes: of the files below `output`.
      notes: sentences on work that the estimate leaves out and on memory or disk that is too small.
      encoder: the speed of a pre-trained encoder; None where nothing is encoded.
    """

    size: CollectionSize
    step: TrainingStep
    machine_factor: float
    seconds: Mapping[str, float]
    memory_bytes: float
    disk_bytes: float
    notes: tuple[str, ...]
    encoder: EncoderSpeed | None = None

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
        if self.encoder:
            speed, texts = self.encoder.texts_per_second, self.encoder.encoded
            yield f"the encoder takes {speed:,.1f} texts a second; texts: {texts:,}"
        for part, seconds in self.seconds.items():
            yield f"{part:18} {rounded_duration(seconds):>8}"
        yield (
            f"{'in all':18} {rounded_duration(sum(self.seconds.values())):>8}, give or take {ERROR:.0%}; "
            f"{rounded_size(self.memory_bytes)} of memory, {rounded_size(self.disk_bytes)} of disk"
        )
        yield from (f"note: {note}" for note in self.notes)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        encoder = self.encoder._asdict() if self.encoder else None
        size = asdict(self.size)
        size |= {name: cut.model_dump() for name, cut in size.items() if isinstance(cut, CutTexts)}
        every = sum(self.seconds.values())
        return {**asdict(self), "size": size, "step": self.step._asdict(), "encoder": encoder, "all_seconds": every}


def estimate_run(config: RunConfig) -> RunEstimate:
    """Estimates a run without cached stages: counts its input, and measures this machine for some seconds.

    Args:
      config: of a run in one process, with Beam in that process.

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
    configure_devices(config.training, config.model)  # before the first op
    size = size_of_collection(config)
    encoder = measure_encoder(config, size)
    step = measure_training_step(config, size, encoder.dim if encoder else _DIM)
    factor = sample_seconds() / _REFERENCE_SECONDS
    has_lexicon = config.lexicon.kind != "none"
    of = quantities(size, step, has_lexicon)
    parts = ["start", "data"]
    parts += ["BM25"] if "bm25" in config.evaluation.baselines else []
    parts += ["lexicon"] if has_lexicon else []
    seconds = {part: factor * cost(part, of) for part in parts}
    if encoder:
        seconds["encoder"] = encoder.seconds
    seconds["training"] = step.training_seconds + factor * cost("training", of)
    if "paper" in config.evaluation.baselines:
        paper = measure_training_step(config.paper_beside(), size)
        beside = factor * cost("training", quantities(size, paper, has_lexicon=False))
        seconds["paper's training"] = paper.training_seconds + beside
    seconds["evaluation"] = factor * cost("evaluation", of)
    if config.search.index:
        seconds["index"] = factor * cost("index", of)
    memory, disk = cost("memory", of), cost("disk", of)
    if config.encoder.kind != "none":
        # The store and the artifact, each of two bytes a number.
        disk += 2 * 2 * (encoder.dim if encoder else _DIM) * (size.documents + sum(size.lists.values()))
    if config.search.index:
        disk += cost("disk of the index", of)
    notes = (*_cut_notes(config, size), *_notes(config, memory, disk, load))
    return RunEstimate(size, step, factor, seconds, memory, disk, notes, encoder)


def _cut_notes(config: RunConfig, size: CollectionSize) -> Iterator[str]:
    """Notes on texts of which the limit cuts much; not on queries that `data.query_words` shortens."""
    texts = {"documents": size.cut_documents} | ({} if config.data.query_words else {"queries": size.cut_queries})
    for what, cut in texts.items():
        if cut.is_much:
            yield cut.sentence(what, config.data.max_document_tokens)


def _notes(config: RunConfig, memory: float, disk: float, load: float) -> Iterator[str]:
    if load > 1:
        yield f"other programs are at work (load {load:.1f}), and the estimate is for a machine that stays so busy"
    if config.training.patience:
        yield "training stops earlier where training.patience is spent"
    if rivals := [name for name in config.evaluation.baselines if name in RIVALS]:
        yield f"the baselines {', '.join(rivals)} come on top: seconds to minutes each"
    if config.lexicon.translator.kind != "none":
        yield "the translation of the collection's sentences comes on top; docs/translation.md has translators' speeds"
    if config.has_held_out_weight:
        yield "for a weight that is held_out, a lexicon and a training without each domain come on top"
    if config.adversary.weight:
        yield "for an adversary, a second gradient and the discriminator's updates come on top"
    if config.tuning.search:
        yield "each trial of the search (tuning) comes on top, and takes about as long as the training"
    folder = Path(config.output)
    while not folder.exists():
        folder = folder.parent
    free, held = shutil.disk_usage(folder).free, memory_size()
    if disk > free:
        yield f"the disk of {folder} has {rounded_size(free)} of room alone"
    if memory > held:
        yield f"the machine has {rounded_size(held)} of memory alone"


_DIM: Final = 512
"""The length of an encoder's vectors, where they come in files."""
_REFERENCE_SECONDS: Final = 0.17
_ROUNDS: Final = 3
_TEXTS: Final = 4_000


def sample_seconds() -> float:
    """Seconds of a sample of the data stages' work: the least of three rounds, which other programs disturb least."""
    generator = np.random.default_rng(0)
    letters = np.array([*"eaisnrtoludcmpvqfbghjxyzéàè "])
    texts = ["".join(letters[row]).encode() for row in generator.integers(0, len(letters), (_TEXTS, 600))]
    return min(_timed(texts) for _ in range(_ROUNDS))


def _timed(texts: list[bytes]) -> float:
    started = time.perf_counter()
    words = tokenize(tf.constant(texts)).flat_values.numpy().tolist()
    number = {word: place for place, word in enumerate(Counter(words))}
    np.sort(np.array([number[word] for word in words]))
    gzip.compress(b"\n".join(texts), 6)
    return time.perf_counter() - started


ONCE: Final = "once"
WITH_LEXICON: Final = "with a lexicon"
DOCUMENTS: Final = "million documents"
DOCUMENT_WORDS: Final = "million words of all documents"
LEXICON_DOCUMENT_WORDS: Final = "million words of all documents, with a lexicon"
LISTED_WORDS: Final = "million words of listed documents"
LISTS: Final = "million lists"
TEST_LISTS: Final = "million test lists"
LEXICON_TEST_LISTS: Final = "million test lists, with a lexicon"
TEST_WORDS: Final = "million words of test lists"
LEXICON_TEST_WORDS: Final = "million words of test lists, with a lexicon"
LEXICON_EVAL_WORDS: Final = "million words of eval lists, with a lexicon"
PAIRS: Final = "million pairs"
CANDIDATES: Final = "million candidates"
WEIGHTS: Final = "million weights"
EPOCHS: Final = "epoch"
DOCUMENT_BYTES: Final = "GB of documents"
LISTED_BYTES: Final = "GB of listed documents"

STAGES_OF_PART: Final[Mapping[str, tuple[str, ...]]] = {
    "data": (
        "inputs", "CollectionGen", "WikiClirExampleGen", "ImportSchemaGen", "StatisticsGen", "ExampleValidator",
        "Transform",
    ),
    "BM25": ("LexicalBaseline",),
    "lexicon": ("LexiconGen",),
    "encoder": ("TextVectorGen",),
    "training": ("Trainer",),
    "paper's training": ("PaperTrainer",),
    "evaluation": ("TrainingReport", "TrainedBaseline", "Evaluator", "Gate", "Pusher"),
    "index": ("CorpusIndexer", "IndexPusher", "SearchEvaluator"),
}  # fmt: skip
"""The stages of each part of a run."""

QUANTITIES_OF_PART: Final[Mapping[str, tuple[str, ...]]] = {
    "start": (ONCE,),
    "data": (ONCE, DOCUMENT_WORDS, LISTED_WORDS, PAIRS, CANDIDATES),
    "BM25": (ONCE, DOCUMENT_WORDS, TEST_WORDS),
    "lexicon": (ONCE, DOCUMENT_WORDS, LISTS),
    "training": (ONCE, WITH_LEXICON, EPOCHS, PAIRS, LEXICON_EVAL_WORDS),
    "evaluation": (ONCE, TEST_LISTS, LEXICON_TEST_WORDS),
    "index": (ONCE, DOCUMENTS, LEXICON_DOCUMENT_WORDS, TEST_LISTS, LEXICON_TEST_LISTS),
    "memory": (ONCE, DOCUMENT_WORDS, LISTED_WORDS, PAIRS, WEIGHTS),
    "disk": (ONCE, DOCUMENT_BYTES, LISTED_BYTES, PAIRS, WEIGHTS),
    "disk of the index": (ONCE, DOCUMENTS, LEXICON_DOCUMENT_WORDS),
}
"""The quantities of each part's fit: of its seconds, or of the bytes of memory and disk. Training's seconds come on
top of its steps."""

COSTS: Final[Mapping[str, Mapping[str, float]]] = {
    "start": {ONCE: 3.32},
    "data": {ONCE: 1.93, DOCUMENT_WORDS: 0.226, LISTED_WORDS: 0.114, PAIRS: 20.2, CANDIDATES: 5.89},
    "BM25": {ONCE: 0.282, DOCUMENT_WORDS: 0.093, TEST_WORDS: 0.0727},
    "lexicon": {ONCE: 0.454, DOCUMENT_WORDS: 0.187, LISTS: 155},
    "training": {ONCE: 1.51, WITH_LEXICON: 3.17, EPOCHS: 0.0681, PAIRS: 9.09, LEXICON_EVAL_WORDS: 0.98},
    "evaluation": {ONCE: 0.708, TEST_LISTS: 1_260, LEXICON_TEST_WORDS: 0.661},
    "index": {
        ONCE: 1.46,
        DOCUMENTS: 86.5,
        LEXICON_DOCUMENT_WORDS: 1.47,
        TEST_LISTS: 1_000,
        LEXICON_TEST_LISTS: 14_400,
    },
    "memory": {ONCE: 9.5e8, LISTED_WORDS: 1.3e7, PAIRS: 2.17e7, WEIGHTS: 2.96e7},
    "disk": {DOCUMENT_BYTES: 7.28e8, LISTED_BYTES: 1.1e9, PAIRS: 3.63e7, WEIGHTS: 5.42e6},
    "disk of the index": {ONCE: 7.4e6, DOCUMENTS: 1.65e9, LEXICON_DOCUMENT_WORDS: 2.68e7},
}
"""Part to quantity to the seconds, or bytes, of one unit. `python -m benchmarks.estimate` fits them."""


def quantities(size: CollectionSize, step: TrainingStep, has_lexicon: bool) -> dict[str, float]:
    """The quantities of a run.

    Args:
      size: of its collection.
      step: of its training.
      has_lexicon: whether the score has a channel of matching words.
    """
    number = {
        DOCUMENTS: size.documents,
        LISTS: sum(size.lists.values()),
        TEST_LISTS: size.lists["test"],
        PAIRS: sum(size.pairs.values()),
        CANDIDATES: size.candidates,
        WEIGHTS: step.weights,
        DOCUMENT_WORDS: size.documents * size.document_words,
        LISTED_WORDS: sum(size.pairs.values()) * size.document_words,
        TEST_WORDS: size.pairs["test"] * size.document_words,
    }
    of_lexicon = {
        LEXICON_DOCUMENT_WORDS: number[DOCUMENT_WORDS],
        LEXICON_EVAL_WORDS: size.pairs["eval"] * size.document_words,
        LEXICON_TEST_LISTS: size.lists["test"],
        LEXICON_TEST_WORDS: number[TEST_WORDS],
    }
    return {
        ONCE: 1.0,
        EPOCHS: step.epochs,
        WITH_LEXICON: float(has_lexicon),
        DOCUMENT_BYTES: size.document_bytes / 1e9,
        LISTED_BYTES: size.document_bytes / max(size.documents, 1) * sum(size.pairs.values()) / 1e9,
        **{name: count / 1e6 for name, count in number.items()},
        **{name: has_lexicon * count / 1e6 for name, count in of_lexicon.items()},
    }


def cost(part: str, of: Mapping[str, float]) -> float:
    """The seconds of a part on the reference machine, or the bytes of `memory` and `disk`.

    Args:
      part: of `QUANTITIES_OF_PART`.
      of: quantities to their values.
    """
    return sum(coefficient * of[name] for name, coefficient in COSTS[part].items())
