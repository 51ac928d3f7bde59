"""Joins collections in the same two languages into a single collection, in which each is a domain.

A query keeps the split and the list that a run on its own collection would give it, so that its NR documents come from
its collection. The collection's name becomes the prefix of its ids.
"""

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from components.wikiclir_example_gen.report import DataReport
from components.wikiclir_example_gen.settings import DataSettings
from pipeline.conversion.convert import (
    CANDIDATES_FILE,
    CONVERSION,
    DOCUMENTS_FILE,
    DOMAINS_FILE,
    JUDGMENTS_FILE,
    QUERIES_FILE,
    config_text,
    cut_notes,
    files_of_texts,
)
from pipeline.conversion.inputs import TEXT_HEADER
from pipeline.input_files import digest_of, files_of, is_remote
from pipeline.layout import CONFIG_FILE
from pipeline.made_folder import MadeFolder
from schemas import features as f
from schemas.collection import Role, read_texts
from schemas.domains import alike, is_domain
from schemas.drops import REPORT_FILE, ReadReport
from schemas.errors import DataError
from schemas.splits import SPLITS
from schemas.wikiclir import Text

_KEPT: Final = ("leave_out_own", "max_document_tokens", "passages", "segmented")
"""The settings of the data that the joined collection takes over."""
_EQUAL: Final = ("query_language", "document_language", "top_grade", *_KEPT)
"""The settings of the data that must be the same in all collections."""
_READ_AT_ONCE: Final = 512


@dataclass(frozen=True)
class Joined:
    """The result of a join.

    Attributes:
      files: name of each collection to role to the report of its lines.
      lists: name of each collection to split to its number of query lists.
      pairs: number of query-document pairs of the candidates.
      notes: sentences for the user.
      written: names of the files in the folder.
    """

    files: Mapping[str, Mapping[str, ReadReport]]
    lists: Mapping[str, Mapping[str, int]]
    pairs: int
    notes: tuple[str, ...]
    written: tuple[str, ...]

    def describe(self) -> Iterator[str]:
        """Lines for a person: each collection's lists, and the account of its files."""
        for name, files in self.files.items():
            lists = ", ".join(f"{count:,} {split}" for split, count in self.lists[name].items())
            yield f"{name}: query lists: {lists}"
            yield from (f"  {role}: {file.describe()}" for role, file in files.items())
        total = Counter[str]()
        for split_lists in self.lists.values():
            total.update(split_lists)
        lists = ", ".join(f"{total[split]:,} {split}" for split in SPLITS)
        yield f"query lists: {lists}; {self.pairs:,} query-document pairs"

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "inputs": {
                name: {role: file.as_dict() for role, file in files.items()} for name, files in self.files.items()
            },
            "lists": {name: dict(split_lists) for name, split_lists in self.lists.items()},
            "pairs": self.pairs,
            "notes": list(self.notes),
            "written": list(self.written),
        }


def join_faults(collections: Sequence[tuple[str, DataSettings]]) -> list[str]:
    """Finds the reasons why collections cannot be joined.

    Args:
      collections: the name of each, and the settings of the data of a run on it.

    Returns:
      a sentence for each fault.
    """
    faults = [
        f"a name must hold no `/`, control character or white space, because it is a prefix of ids; got {name!r}."
        for name, _ in collections
        if not is_domain(name) or name.split() != [name]
    ]
    if pair := alike(name for name, _ in collections):
        faults.append(
            f"names must differ by more than case and Unicode's forms of letters; got {pair[0]!r} and {pair[1]!r}."
        )
    for key in _EQUAL:
        values = [getattr(data, key) for _, data in collections]
        if len({*values}) > 1:
            shown = ", ".join(f"{value} ({name})" for (name, _), value in zip(collections, values, strict=True))
            faults.append(f"data.{key} must be the same in all collections; got {shown}.")
    for name, data in collections:
        if data.wikipedia:
            faults.append(f"{name}: data.wikipedia must be null; run it first, and name the files in its `wikipedia/`.")
        if remote := [path for path in data.inputs().values() if is_remote(path)]:
            faults.append(f"{name}: its files must be local; got {remote[0]}.")
        if data.domains:
            faults.append(f"{name}: data.domains must be null, because the names are the joined collection's domains.")
        if data.query_words is not None:
            faults.append(f"{name}: data.query_words must be null; set it for the joined collection.")
    return faults or _shared_files(collections)


def _shared_files(collections: Sequence[tuple[str, DataSettings]]) -> list[str]:
    """Finds files with the same content in two collections."""
    owners: dict[tuple[str, str], tuple[str, str]] = {}
    faults = []
    for name, data in collections:
        for role, path in data.inputs().items():
            owner, owner_path = owners.setdefault((role, digest_of(path)), (name, path))
            if owner != name:
                paths = path if path == owner_path else f"{owner_path} and {path}"
                faults.append(
                    f"collections must differ; {owner} and {name} have the same {role}: {paths}. For parts of one "
                    "collection, such as topics, set data.domains."
                )
    return faults


def join(collections: Mapping[str, DataSettings], output: Path, begin: Callable[[int, int, str], object]) -> Joined:
    """Joins collections: all files of the output are written, or none. The caller holds it (`pipeline.output_folder`).

    Args:
      collections: name to the settings of the data of a run on it, without faults (see `join_faults`).
      output: the folder.
      begin: called before each collection with (number from 1, total, name).

    Raises:
      DataError: a collection has too many bad records, or no list; or the output is not ours.
    """
    folder = MadeFolder(output, CONVERSION)
    with folder.staging() as staging:
        joined = _join(collections, staging, begin)
        folder.publish(staging, joined.as_dict())
    return joined


def _join(collections: Mapping[str, DataSettings], staging: Path, begin: Callable[[int, int, str], object]) -> Joined:
    files, lists, pairs = {}, {}, 0
    with ExitStack() as stack:
        queries, documents, judgments, candidates, domains = (
            stack.enter_context(open(staging / name, "w", encoding="utf-8", newline="\n"))
            for name in (QUERIES_FILE, DOCUMENTS_FILE, JUDGMENTS_FILE, CANDIDATES_FILE, DOMAINS_FILE)
        )
        for number, (name, data) in enumerate(collections.items(), 1):
            begin(number, len(collections), name)
            ingested = _ingest(name, data, staging / "ingested")
            files[name], lists[name] = ingested.files, ingested.report.lists
            if number == 1:
                for role, stream in (("queries", queries), ("documents", documents)):
                    stream.write(TEXT_HEADER if role in data.languages_by_role else "")
            for document in ingested.texts("documents"):
                documents.write(document._replace(id=f"{name}/{document.id}").tsv() + "\n")
            query_lists = ingested.lists()
            for query in ingested.texts("queries"):
                if query.id not in query_lists:
                    continue
                queries.write(query._replace(id=f"{name}/{query.id}").tsv() + "\n")
                domains.write(f"{name}/{query.id}\t{name}\n")
                split, members = query_lists[query.id]
                pairs += len(members)
                for doc_id, grade, rank in members:
                    pair = f"{name}/{query.id}\t{name}/{doc_id}\t{grade}"
                    candidates.write(f"{pair}\t{split}\n")
                    if rank < 0:
                        judgments.write(f"{pair}\n")
            shutil.rmtree(ingested.folder)
    first, *_ = collections.values()
    further: dict[str, object] = {"candidates": CANDIDATES_FILE, "domains": DOMAINS_FILE}
    kept = first.model_dump(include={*_KEPT})
    for key in _KEPT:
        if kept[key] != DataSettings.model_fields[key].default:
            further[key] = json.dumps(kept[key])
    text = config_text(first.query_language, first.document_language, first.top_grade, further)
    (staging / CONFIG_FILE).write_text(text, encoding="utf-8")
    notes = tuple(cut_notes(files_of_texts(staging), first.word_rules))
    return Joined(files, lists, pairs, notes, tuple(sorted(path.name for path in staging.iterdir())))


class _Member(NamedTuple):
    """A document of a list, and its rank from 0 among the list's NR documents; negative for judged documents."""

    doc_id: str
    grade: int
    rank: int


class _Ingested(NamedTuple):
    """A collection as a run reads it."""

    folder: Path
    roles: Mapping[str, Role]
    report: DataReport

    @property
    def files(self) -> dict[str, ReadReport]:
        """Role to the account of its files; all readable documents count as used, whether a list needs them or not."""
        return {**self.report.files, "documents": self.roles["documents"].report}

    def texts(self, role: str) -> Iterator[Text]:
        """The records of queries or documents, in their order."""
        for shard in self.roles[role].shards:
            with open(self.folder / shard.name, "rb") as stream:
                yield from read_texts(stream, shard)

    def lists(self) -> dict[str, tuple[str, list[_Member]]]:
        """query_id to its split and its documents, the judged ones first, then the others in the order of the draw."""
        import tensorflow as tf

        from models.lists.ranking_lists import IDS_SPEC

        query_lists = {}
        for split in SPLITS:
            files = sorted(str(path) for path in self.folder.glob(f"{split}-*"))
            for serialized in tf.data.TFRecordDataset(files, "GZIP").batch(_READ_AT_ONCE):
                columns = tf.io.parse_example(serialized, dict(IDS_SPEC))
                query_ids = columns[f.QUERY_ID].numpy().tolist()
                list_columns = (columns[name].to_list() for name in (f.DOC_ID, f.RELEVANCE, f.NEGATIVE_PLACE))
                for query_id, *values in zip(query_ids, *list_columns, strict=True):
                    members = [_Member(doc_id.decode(), *numbers) for doc_id, *numbers in zip(*values, strict=True)]
                    query_lists[query_id.decode()] = split, sorted(members, key=lambda member: member.rank)
        return query_lists


def _ingest(name: str, data: DataSettings, folder: Path) -> _Ingested:
    """Makes the collection and the lists of a run on it."""
    # Imported late: TensorFlow and Beam take seconds, and faults are reported before.
    import apache_beam as beam

    from components.collection_gen.write_collection import write_collection
    from components.wikiclir_example_gen.ingest import ingest
    from components.wikiclir_example_gen.lists import IngestSettings

    folder.mkdir()
    paths = {role: files_of(path) for role, path in data.inputs().items()}
    digests = data.sha256.model_dump(exclude_none=True, exclude={"wikipedia"})
    languages = data.languages_by_role
    roles = write_collection(paths, digests, data.top_grade, str(folder), languages=languages)
    prefixes = {split: str(folder / split) for split in SPLITS}
    with beam.Pipeline(argv=[]) as pipeline:
        ingest(pipeline, IngestSettings.of(data), str(folder), roles, prefixes, str(folder / REPORT_FILE))
    report = DataReport.from_json((folder / REPORT_FILE).read_text(encoding="utf-8"))
    report.check(data.max_bad_share, splits=())
    if not any(report.lists.values()):
        raise DataError(f"{name} must have a judged query with a document of the top grade; it has none.")
    return _Ingested(folder, roles, report)
