"""Estimates the steps, the memory and the disk space of a run, from a count of the content of its files."""

import math
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from models.choices import RIVALS
from models.encoders.load_encoder import load_encoder
from models.encoders.settings import VectorsSettings
from models.lexicon.settings import LexiconSettings
from models.texts.word_counts import distinct_words
from models.training.devices import configure_devices, make_strategy
from pipeline.config import RunConfig
from pipeline.even_sample import EvenSample
from pipeline.input_files import files_of
from pipeline.machine import memory_size
from pipeline.stages import peak_memory
from schemas.cut_texts import CutTexts
from schemas.domains import domains_to_test, domains_to_train
from schemas.drops import Drop
from schemas.errors import DataError
from schemas.json_record import JsonRecord
from schemas.record_files import parse_role
from schemas.relevance import NOT_RELEVANT
from schemas.splits import SPLITS, split_of
from schemas.wording import rounded_size

_TRAINED: Final = 3 * 4
"""Bytes of a weight in memory, float32: its value and Adam's two moments."""
_STORED: Final = 6 * 4
"""Bytes of a weight on disk: the checkpoint's three numbers, the best epoch's, the exported and the pushed model's."""
_JOINED: Final = 3
"""Bytes of memory for a byte of the listed texts: Beam holds six copies when it joins them, compressed to half size."""
_TERMS: Final = {None: 0, "lexicon": 4}
"""Weighted terms for a word of an indexed document by `channels.lexicon.kind`, see docs/machines.md; others have 1."""


class CollectionSize(JsonRecord):
    """The size of a collection."""

    documents: int
    document_bytes: int
    """Size of the documents' file, unpacked."""
    document_words: float
    query_words: float
    """Mean numbers of words of a text, up to `data.max_document_tokens` and, of a query, `data.query_words`."""
    lists: dict[str, int]
    pairs: dict[str, int]
    """Numbers of query lists and of query-document pairs, by split."""
    judged_pairs: int
    """Number of the train split's pairs that `training.negatives_from: judged` keeps."""
    vocabularies: tuple[int, int]
    """Number of words of queries and of documents that have a row in the model's tables."""
    cut_queries: CutTexts
    cut_documents: CutTexts
    """The texts and words of an even sample that lie beyond the limit on a text."""


class TrainingSize(JsonRecord):
    """The size of a training: the steps of all epochs, the pairs of an epoch, and the weights of the tables."""

    epochs: int
    steps: int
    pairs: int
    weights: int


class RunEstimate(JsonRecord):
    """The estimate of a run without cached stages."""

    collection: CollectionSize
    trainings: dict[str, TrainingSize]
    """Trainings by name: of the model, and of the paper's system where it is a baseline."""
    memory_bytes: dict[str, int]
    disk_bytes: dict[str, int]
    """Bytes of the parts of the peak memory, and of the files below `output`."""
    notes: tuple[str, ...]

    def describe(self) -> Iterator[str]:
        """Lines for a person."""
        size = self.collection
        splits = ", ".join(f"{size.lists[split]:,} {split}" for split in SPLITS)
        yield f"documents: {size.documents:,}, of {size.document_words:.0f} words"
        yield f"queries: {sum(size.lists.values()):,} ({splits}), with {sum(size.pairs.values()):,} documents in lists"
        for name, training in self.trainings.items():
            epochs = f"{training.epochs} epochs of {training.pairs:,} pairs"
            yield f"training of {name}: {training.steps:,} steps in {epochs}, {training.weights:,} weights"
        for name, parts in (("memory: at least", self.memory_bytes), ("disk: about", self.disk_bytes)):
            sizes = ", ".join(f"{part} {rounded_size(count)}" for part, count in parts.items())
            yield f"{name} {rounded_size(sum(parts.values()))} ({sizes})"
        yield "time: the run says how much is left after its first steps"
        yield from (f"note: {note}" for note in self.notes)


def estimate_run(config: RunConfig) -> RunEstimate:
    """Estimates a run without cached stages.

    Args:
      config: the configuration of a run in a single process.

    Raises:
      DataError: see `size_of_collection`; or the run uses several processes, or its encoder cannot be loaded.
      ConfigError: the devices do not fit the settings.
    """
    workers = config.training.workers or 1
    if workers > 1 or config.beam.runner != "in_process":
        raise DataError(
            "Only runs in a single process can be estimated: training.workers must be 1 or null, and beam.runner "
            f"in_process; got {workers} and {config.beam.runner}."
        )
    configure_devices(config.training, config.channels.towers)  # before the first op
    dim, libraries = _encoder_dim(config), peak_memory()
    size = size_of_collection(config)
    trainings = {"the model": _training_size(config, size, dim)}
    if "paper" in config.evaluation.baselines:
        trainings["the paper's system"] = _training_size(config.paper_baseline(), size, dim)
    weights, text = [training.weights for training in trainings.values()], size.document_bytes / size.documents
    listed_bytes, trained_bytes = round(text * sum(size.pairs.values())), max(weights) * _TRAINED
    memory = {"libraries": libraries, "parameters and optimizer": trained_bytes, "examples": listed_bytes * _JOINED}
    # The examples hold the texts of their pairs twice, as text and as word numbers, both compressed to about half.
    disk = {"collection": size.document_bytes, "examples": listed_bytes, "models": sum(weights) * _STORED}
    if dim:  # the store and the artifact, each of float16
        disk["vectors"] = 2 * 2 * dim * (size.documents + sum(size.lists.values()))
    if config.search.index:
        # A posting is a number of two bytes and a weight; an own term, for a second pass, a number of four and one.
        lexicon = config.channels.lexicon
        word_bytes = 6 * _TERMS.get(lexicon.kind if lexicon else None, 1) + 8 * bool(config.feedback.gain)
        vector_bytes = 4 * ((config.channels.towers.word_width or 0) + dim)
        disk["index"] = round(size.documents * (text + vector_bytes + size.document_words * word_bytes))
    notes = tuple(_notes(config, size, sum(memory.values()), sum(disk.values())))
    return RunEstimate(collection=size, trainings=trainings, memory_bytes=memory, disk_bytes=disk, notes=notes)


def _encoder_dim(config: RunConfig) -> int:
    """The length of a pre-trained encoder's vectors, found by encoding a text; 512 is assumed for vectors in files."""
    encoder = config.channels.encoder
    if encoder is None or isinstance(encoder, VectorsSettings):
        return 512 if encoder else 0
    texts = [document.text for document in islice(_records(config, "documents"), 1)]
    return int(load_encoder(encoder).encode(texts, "document").shape[1])


def _training_size(config: RunConfig, size: CollectionSize, dim: int) -> TrainingSize:
    """The size of a training with a configuration's settings; its weights are those of the tables."""
    settings, towers, lists = config.training, config.channels.towers, size.lists["train"]
    replicas, epochs = make_strategy(settings).num_replicas_in_sync, settings.epochs_of(lists)
    batch = min(settings.batch_lists, lists // replicas * replicas) or replicas
    tables = towers.reads.words + towers.reads.stems  # no more stems than words
    weights = tables * sum(size.vocabularies) * towers.word_width if towers.word_width else 2 * dim**2
    pairs = size.judged_pairs if settings.negatives_from == "judged" else size.pairs["train"]
    return TrainingSize(epochs=epochs, steps=epochs * (lists // batch), pairs=pairs, weights=weights)


def _notes(config: RunConfig, size: CollectionSize, memory: int, disk: int) -> Iterator[str]:
    texts = {} if config.data.query_words else {"queries": size.cut_queries}
    if config.data.passages:
        yield "the numbers are of whole documents; their passages take several times the memory and the disk"
    else:
        texts = {"documents": size.cut_documents, **texts}
    for name, cut in texts.items():
        if cut.is_much:
            yield cut.sentence(name, config.data.max_document_tokens)
    rivals = ", ".join(name for name in config.evaluation.baselines if name in RIVALS)
    channels = config.channels
    lexicon = channels.lexicon
    on_top = {
        f"the training of the baselines {rivals}": rivals,
        "the translation of the collection's sentences": isinstance(lexicon, LexiconSettings) and lexicon.translator,
        "a lexicon and a training without each domain, for a weight that is held_out,": channels.has_held_out_weight,
        "the discriminator of the adversary": config.adversary.weight,
        "a training for each trial of the search (tuning)": config.tuning.search,
    }
    yield from (f"{work} comes on top" for work, is_there in on_top.items() if is_there)
    if config.training.patience:
        yield "training stops earlier where training.patience is spent"
    folder = next(folder for folder in Path(config.output, "run").parents if folder.exists())
    if disk > (free := shutil.disk_usage(folder).free):
        yield f"only {rounded_size(free)} are free on the disk of {folder}"
    if memory > (available := memory_size()):
        yield f"the machine has only {rounded_size(available)} of memory"


@dataclass
class _List:
    split: str
    has_top_grade: bool = False
    relevant: set[str] = field(default_factory=set)
    irrelevant: set[str] = field(default_factory=set)


def size_of_collection(config: RunConfig) -> CollectionSize:
    """Counts the content of a run's files: judgments or candidates line by line, words in a sample of the texts.

    Counts judgments of unknown documents, too, which a run drops. The splits are those of `data.split: queries`;
    `documents` gives similar shares.

    Raises:
      DataError: the collection is made of dumps, lies elsewhere, cannot be read to its end, or has a split without a
        query.
    """
    queries, documents = (_text_size(config, role) for role in ("queries", "documents"))
    lists: dict[str, list[_List]] = {split: [] for split in SPLITS}
    for ranking in _lists(config):
        lists[ranking.split].append(ranking)
    if empty := [split for split in SPLITS if not lists[split]]:
        raise DataError(f"every split must have a query with a document of the top grade; got none in {empty[0]}.")
    pairs = {split: sum(_list_size(config, ranking, documents.number) for ranking in lists[split]) for split in SPLITS}
    return CollectionSize(
        documents=documents.number,
        document_bytes=documents.size,
        document_words=documents.words,
        query_words=queries.words,
        lists={split: len(lists[split]) for split in SPLITS},
        pairs=pairs,
        judged_pairs=_judged_pairs(config, lists["train"], pairs["train"], documents.number),
        vocabularies=(queries.vocabulary, documents.vocabulary),
        cut_queries=queries.cut,
        cut_documents=documents.cut,
    )


def _lists(config: RunConfig) -> list[_List]:
    """The judged queries that a run would use, each with its listed documents."""
    lists: dict[str, _List] = {}
    for query_id, doc_id, grade, split, _ in _records(config, "candidates" if config.data.candidates else "judgments"):
        ranking = lists.get(query_id)
        if ranking is None:
            ranking = lists[query_id] = _List(split or split_of(query_id))
        ranking.has_top_grade |= grade == config.data.top_grade
        (ranking.relevant if grade > NOT_RELEVANT else ranking.irrelevant).add(doc_id)
    # In the order of the file, because a run takes the first queries.
    query_ids = dict.fromkeys(query.id for query in _records(config, "queries"))
    used = (query_id for query_id in query_ids if query_id in lists and lists[query_id].has_top_grade)
    limited = islice(used, config.data.max_queries)
    if not config.data.held_out:
        return [lists[query_id] for query_id in limited]
    domains = {record.query_id: record.domain.encode() for record in _records(config, "domains")}
    filters = dict.fromkeys(SPLITS, domains_to_train(config.data.held_out))
    filters["test"] = domains_to_test(config.data.held_out)
    used_lists = ((query_id, lists[query_id]) for query_id in limited)
    return [ranking for query_id, ranking in used_lists if filters[ranking.split].keeps(domains.get(query_id, b""))]


def _list_size(config: RunConfig, ranking: _List, documents: int) -> int:
    """The number of documents in a query's list."""
    data, irrelevant = config.data, len(ranking.irrelevant)
    if not data.candidates:
        irrelevant += (data.test_negatives if ranking.split == "test" else None) or data.negatives
    return min(len(ranking.relevant) + min(irrelevant, data.used_negatives or irrelevant), documents)


def _judged_pairs(config: RunConfig, train: list[_List], pairs: int, documents: int) -> int:
    relevant = set[str]().union(*(ranking.relevant for ranking in train))
    relevant_pairs, kept = sum(len(ranking.relevant) for ranking in train), len(relevant) / documents
    if config.data.candidates:
        irrelevant_pairs = sum(len(ranking.irrelevant) for ranking in train)
        kept = sum(len(ranking.irrelevant & relevant) for ranking in train) / max(irrelevant_pairs, 1)
    return relevant_pairs + round(kept * (pairs - relevant_pairs))


class _TextSize(NamedTuple):
    number: int
    size: int
    words: float
    vocabulary: int
    cut: CutTexts


def _text_size(config: RunConfig, role: str) -> _TextSize:
    """The number of a role's texts, their bytes, and the words of an even sample."""
    size = 0

    def texts() -> Iterator[bytes]:
        nonlocal size
        for record in _records(config, role):
            size += len(record.tsv().encode()) + 1
            yield record.text.encode()

    sample = EvenSample(texts())
    if not sample.items:
        raise DataError(f"data.{role} must hold a text; got none in {config.data.inputs()[role]}.")
    rules = config.data.word_rules
    if role == "queries" and config.data.query_words:
        rules = rules.model_copy(update={"max_tokens": min(rules.max_tokens, config.data.query_words)})
    words = distinct_words(sample.items, rules)
    # Heaps's law: the number of distinct words grows with the root of the number of words.
    distinct = round(len(words.words) * math.sqrt(sample.number / len(sample.items)))
    limit = config.data.vocabulary_size
    return _TextSize(sample.number, size, float(words.lengths.mean()), min(distinct, limit), words.cut)


def _records(config: RunConfig, role: str) -> Iterator[Any]:
    """Yields the records of a role's files, also with repeated ids; raises a DataError for a file that is elsewhere."""
    if config.data.wikipedia:
        raise DataError(
            "data must name files for an estimate, because the content of dumps is known only after reading them. "
            "`clir wikipedia` makes files and a configuration from them, and has its own --estimate."
        )
    for file in files_of(config.data.inputs()[role]):
        if not os.path.exists(file):
            raise DataError(f"{file} must lie on this machine for an estimate.")
        with open(file, "rb") as stream:
            for item in parse_role(role, stream, file, config.data.top_grade, None):
                if not isinstance(item, Drop):
                    yield item
                elif item.reason.is_fatal:
                    raise DataError(f"{file}:{item.line}: {item.reason.text}: {item.excerpt}")
