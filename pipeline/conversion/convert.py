"""Converts other layouts of collections into our files and a configuration.

Lines read = lines used + lines left out, for each file; lines that are left out are counted by reason.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO

import yaml

from components.wikiclir_example_gen.settings import DataSettings
from models.translators.settings import TranslatorSettings
from pipeline.conversion.inputs import (
    NEGATIVES,
    TEXT_HEADER,
    ConversionInputs,
    ConversionReason,
    ConversionSettings,
    Sources,
    leave_out,
)
from pipeline.conversion.lists import donor_split, missing_split, reranking_list, sampled_list, split_for
from pipeline.even_sample import EvenSample
from pipeline.layout import CONFIG_FILE
from pipeline.made_folder import Made, MadeFolder
from schemas.cut_texts import CutTexts
from schemas.drops import DropReason, ReadReport
from schemas.errors import DataError
from schemas.splits import SPLITS
from schemas.wikiclir import Reason
from schemas.word_rules import WordRules

QUERIES_FILE: Final = "queries.tsv"
DOCUMENTS_FILE: Final = "documents.tsv"
JUDGMENTS_FILE: Final = "judgments.tsv"
CANDIDATES_FILE: Final = "candidates.tsv"
DOMAINS_FILE: Final = "domains.tsv"
ACCOUNT_FILE: Final = "conversion.json"
"""The account of the conversion, and the record of the folder's files."""

_NAMES: Final = (QUERIES_FILE, DOCUMENTS_FILE, JUDGMENTS_FILE, CANDIDATES_FILE, DOMAINS_FILE, CONFIG_FILE)
CONVERSION: Final = Made("conversion", "conversion", ACCOUNT_FILE, re.compile("|".join(map(re.escape, _NAMES))))

USUAL_TOP_GRADE: Final = 2
RUN_FOLDER: Final = "run"
MAX_WORDS: Final[int] = DataSettings.model_fields["max_document_tokens"].default
_QUERIES_READ: Final = "queries.read"


@dataclass(frozen=True)
class Conversion:
    """The result of a conversion.

    Attributes:
      files: name of each input to the report of its lines.
      lists: split to its number of query lists; without candidates, as a run will divide them.
      pairs: number of query-document pairs of the candidates; 0 without candidates.
      top_grade: the grade of MR documents.
      notes: sentences for the user.
      written: names of the files in the folder.
      runs_commands: whether a run starts a program, which needs permission.
    """

    files: Mapping[str, ReadReport]
    lists: Mapping[str, int]
    pairs: int
    top_grade: int
    notes: tuple[str, ...]
    written: tuple[str, ...]
    runs_commands: bool = False

    def describe(self) -> Iterator[str]:
        """Lines for a person: each file's account, the first left-out line of each reason, and the lists."""
        for name, file in self.files.items():
            yield f"{name}: {file.describe()}"
            for drop in file.drops:
                if drop.reason is not Reason.HEADER:
                    example = drop.examples[0]
                    yield f"  {example.file}:{example.line}: {drop.reason.text}: {example.excerpt}".rstrip(": ")
        lists = ", ".join(f"{count:,} {split}" for split, count in self.lists.items())
        yield f"query lists: {lists}" + (f"; {self.pairs:,} query-document pairs" if self.pairs else "")
        yield f"grades: 0 .. {self.top_grade}"

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "inputs": {name: file.as_dict() for name, file in self.files.items()},
            "lists": dict(self.lists),
            "pairs": self.pairs,
            "top_grade": self.top_grade,
            "notes": list(self.notes),
            "written": list(self.written),
        }


def convert(sources: Sources, settings: ConversionSettings, output: Path) -> Conversion:
    """Converts files: all files of the output are written, or none. The caller holds it (`pipeline.output_folder`).

    Raises:
      DataError: a file holds too many bad lines, cannot be read to its end, or holds nothing of use; or the output is
        not ours.
    """
    folder = MadeFolder(output, CONVERSION)
    with folder.staging() as staging:
        conversion = _Converter(sources, settings, staging).convert()
        folder.publish(staging, conversion.as_dict())
    return conversion


class _Converter:
    """One conversion into an empty folder."""

    def __init__(self, sources: Sources, settings: ConversionSettings, staging: Path) -> None:
        self._sources = sources
        self._settings = settings
        self._staging = staging
        self._named = sources.named_splits()
        self._inputs = ConversionInputs(sources, settings, staging / DOCUMENTS_FILE, staging / _QUERIES_READ)
        self._top_grade = self._find_top_grade()
        self._grades = {
            query_id: {doc_id: min(max(judgment.grade, 0), self._top_grade) for doc_id, (judgment, _) in judged.items()}
            for query_id, judged in self._inputs.judged.items()
        }
        self._splits = {query_id: self._split(query_id) for query_id in self._grades}

    def convert(self) -> Conversion:
        """Writes the lists, and then the queries and judgments of these lists."""
        query_ids, pairs = self._write_lists()
        self._write_queries()
        self._write_judgments(query_ids)
        counts = {split: sum(self._splits[query_id] == split for query_id in query_ids) for split in SPLITS}
        self._note_splits(counts)
        candidates = {"candidates": CANDIDATES_FILE} if self._sources.has_candidates() else {}
        write_config(self._staging, self._settings, self._top_grade, candidates)
        self._inputs.notes += text_notes(self._staging, self._settings)
        files = {account.name: account.report() for account in self._inputs.accounts()}
        written = tuple(sorted(path.name for path in self._staging.iterdir()))
        return Conversion(files, counts, pairs, self._top_grade, tuple(self._inputs.notes), written)

    def _find_top_grade(self) -> int:
        """The grade of MR documents: `--top-grade`, or the highest of the judgments."""
        grades = [judgment.grade for judged in self._inputs.judged.values() for judgment, _ in judged.values()]
        highest = max(grades, default=0)
        paths = " and ".join(path for _, path in self._sources.judgments)
        if highest < 1:
            raise DataError(f"{paths} must hold a grade above 0; the highest is {highest}.")
        top_grade = self._settings.top_grade or highest
        if top_grade > highest:
            raise DataError(f"{paths} must hold a grade of {top_grade} (--top-grade); the highest is {highest}.")
        if above := sum(grade > top_grade for grade in grades):
            self._inputs.notes.append(f"{above:,} grades above {top_grade} count as {top_grade} (--top-grade)")
        return top_grade

    def _split(self, query_id: str) -> str:
        first, _ = next(iter(self._inputs.judged[query_id].values()))
        return split_for(query_id, first.split, self._named)

    def _write_lists(self) -> tuple[list[str], int]:
        """Writes the candidates, if there are any, and accounts for queries without a list.

        Returns:
          the queries with a list, and the number of pairs of all candidates.
        """
        query_ids: list[str] = []
        reasons: dict[str, DropReason] = {}
        pairs = lacking = 0
        # Each list is written as it is made: all together take many times the memory of the judgments.
        with self._writer(CANDIDATES_FILE) if self._sources.has_candidates() else nullcontext() as stream:
            for query_id, candidates in self._lists():
                if isinstance(candidates, DropReason):
                    reasons[query_id] = candidates
                    continue
                query_ids.append(query_id)
                lacking += len(self._grades[query_id].keys() - candidates.keys())
                if stream is not None:
                    pairs += len(candidates)
                    for doc_id, grade in candidates.items():
                        stream.write(f"{query_id}\t{doc_id}\t{grade}\t{self._splits[query_id]}\n")
        self._leave_out(reasons)
        self._account_for_run(set(query_ids), pairs, lacking)
        return query_ids, pairs

    def _lists(self) -> Iterator[tuple[str, Mapping[str, int] | DropReason]]:
        """Yields each judged query with its list (doc_id to grade), or with the reason why it has no list."""
        doc_ids = list(self._inputs.doc_ids)
        for query_id, judged in self._grades.items():
            if self._top_grade not in judged.values():
                yield query_id, ConversionReason.NO_TOP_GRADE
            elif self._inputs.first_stage is not None:
                ranked = self._inputs.first_stage.doc_ids(query_id)
                candidates = reranking_list(judged, ranked, self._splits[query_id] == "test")
                if not ranked:
                    yield query_id, ConversionReason.NOT_IN_RUN
                elif self._top_grade not in candidates.values():
                    yield query_id, ConversionReason.NO_TOP_GRADE_IN_RUN
                else:
                    yield query_id, candidates
            elif self._sources.has_candidates():
                yield query_id, sampled_list(query_id, judged, doc_ids, self._inputs.copies, self._settings.negatives)
            else:
                yield query_id, judged

    def _leave_out(self, reasons: Mapping[str, DropReason]) -> None:
        """Accounts for queries without a list, in the order of their file, and for their judgments."""
        lines, notes, top = self._inputs.query_lines, self._inputs.notes, self._top_grade
        for query_id in sorted(reasons, key=lines.__getitem__):
            self._inputs.queries.leave_out(reasons[query_id], lines.pop(query_id), query_id)
        for query_id in reasons:
            for judgment, account in self._inputs.judged[query_id].values():
                account.leave_out(Reason.QUERY_DROPPED, judgment.line, judgment.excerpt)
        kinds = list(reasons.values())
        if count := kinds.count(ConversionReason.NO_TOP_GRADE):
            advice = f"; --top-grade {top - 1} counts higher grades as {top - 1}, and keeps more" if top > 1 else ""
            notes.append(
                f"{count:,} of {len(self._grades):,} judged queries have no document of grade {top}, which every list "
                f"needs, and are left out{advice}"
            )
        if count := kinds.count(ConversionReason.NO_TOP_GRADE_IN_RUN):
            notes.append(
                f"warning: {count:,} test queries are left out, because the run has no document of grade {top} for "
                "them; the metrics do not count these queries"
            )

    def _account_for_run(self, query_ids: Collection[str], pairs: int, lacking: int) -> None:
        """Accounts for the kept lines of the run, and for the judged documents that are not among them."""
        stage, account = self._inputs.first_stage, self._inputs.run
        if stage is None or account is None:
            return
        for query_id in stage.query_ids():
            for line in stage.lines(query_id):
                if query_id in query_ids:
                    account.used += 1
                else:
                    leave_out(account, Reason.QUERY_DROPPED, line)
        self._inputs.notes.append(
            f"judged documents that the run lacks: {pairs - account.used:,} added to train and eval lists, "
            f"{lacking:,} left out of test lists"
        )

    def _write_queries(self) -> None:
        """Copies the queries that were not left out."""
        source = self._staging / _QUERIES_READ
        with open(source, encoding="utf-8", newline="\n") as lines, self._writer(QUERIES_FILE) as stream:
            for line in lines:
                if line == TEXT_HEADER:
                    stream.write(line)
                elif line.split("\t", 1)[0] in self._inputs.query_lines:
                    stream.write(line)
                    self._inputs.queries.used += 1
        source.unlink()

    def _write_judgments(self, query_ids: Iterable[str]) -> None:
        with self._writer(JUDGMENTS_FILE) as stream:
            for query_id in query_ids:
                for doc_id, (_, account) in self._inputs.judged[query_id].items():
                    stream.write(f"{query_id}\t{doc_id}\t{self._grades[query_id][doc_id]}\n")
                    account.used += 1

    def _writer(self, name: str) -> TextIO:
        return open_for_writing(self._staging / name)

    def _note_splits(self, counts: Mapping[str, int]) -> None:
        notes = self._inputs.notes
        if missing := missing_split(self._named):
            donor = donor_split(self._named)
            notes.append(
                f"no judgments are named {missing}: it takes a share of {donor}'s queries, by a hash of their ids"
            )
        elif len(self._named) < 2:
            notes.append("queries go to the splits by a hash of their ids")
        notes += empty_split_notes(counts)


def open_for_writing(path: Path) -> TextIO:
    """Opens a file of our own form for writing."""
    return open(path, "w", encoding="utf-8", newline="\n")


def empty_split_notes(counts: Mapping[str, int]) -> list[str]:
    """A warning where a split has no query list."""
    empty = [split for split, count in counts.items() if not count]
    needs = f"warning: a run needs a query list in every split, but {' and '.join(empty)} got none"
    return [f"{needs}; bring more judged queries"] if empty else []


def text_notes(folder: Path, settings: ConversionSettings) -> list[str]:
    """A note for each written file of whose texts a run cuts some."""
    return [*cut_notes(files_of_texts(folder), WordRules(max_tokens=MAX_WORDS, segmented=settings.segmented))]


def write_config(
    folder: Path,
    settings: ConversionSettings,
    top_grade: int,
    further: Mapping[str, object],
    translator: TranslatorSettings | None = None,
) -> None:
    """Writes the configuration of a run on the converted files; see `config_text`."""
    data = dict(further)
    if not further and settings.negatives != NEGATIVES:
        data["negatives"] = settings.negatives
    if settings.segmented:
        data["segmented"] = "true"
    text = config_text(settings.query_language, settings.document_language, top_grade, data, translator)
    (folder / CONFIG_FILE).write_text(text, encoding="utf-8")


def files_of_texts(folder: Path) -> dict[str, Path]:
    """The files of texts in an output folder."""
    return {"queries": folder / QUERIES_FILE, "documents": folder / DOCUMENTS_FILE}


def config_text(
    query_language: str,
    document_language: str,
    top_grade: int,
    further: Mapping[str, object],
    translator: TranslatorSettings | None = None,
) -> str:
    """A configuration for `clir run`, whose paths are relative to its folder.

    Args:
      query_language, document_language: ISO 639-1 codes.
      top_grade: the grade of MR documents.
      further: further settings of the data, such as `candidates`, without which a run draws the NR documents.
      translator: the translator that teaches the lexicon, or None.
    """
    data: dict[str, object] = {"queries": QUERIES_FILE, "documents": DOCUMENTS_FILE, "judgments": JUDGMENTS_FILE}
    # Quoted, because YAML reads a bare `no` as false.
    data |= {**further, "query_language": f'"{query_language}"', "document_language": f'"{document_language}"'}
    lines = ["# Made by clir convert. Settings that are not given here have their defaults: docs/settings.md."]
    if top_grade != USUAL_TOP_GRADE:
        data["top_grade"] = top_grade
    lines += ["data:", *(f"  {key}: {value}" for key, value in data.items())]
    if translator:
        values = translator.model_dump(mode="json", exclude_unset=True)
        lines.append(yaml.safe_dump({"channels": {"lexicon": {"translator": values}}}, allow_unicode=True).rstrip())
    return "\n".join([*lines, f"output: {RUN_FOLDER}", ""])


def cut_notes(files: Mapping[str, Path], rules: WordRules) -> Iterator[str]:
    """Yields a note for each file in which the limit cuts texts; of many texts, reads a sample.

    Args:
      files: "queries" and "documents" to their file: id, title and text, tab-separated.
      rules: the words of the texts; the limit is the value of `data.max_document_tokens`.
    """
    for what, path in files.items():
        with open(path, "rb") as lines:
            sample = EvenSample(line.split(b"\t")[2] for line in lines)
        cut = _cut(sample.items, rules)
        if cut.cut_texts:
            among = "" if sample.is_whole else f"in an even sample of {len(sample.items):,} {what}, "
            note = f"{among}{cut.sentence(what, rules.max_tokens)}"
            yield f"warning: {note}; a higher limit in config.yaml keeps more" if cut.is_much else note


def _cut(texts: Sequence[bytes], rules: WordRules) -> CutTexts:
    # A text has no more words than bytes, unless it consists of a few Arabic ligatures that stand for phrases.
    if max(map(len, texts), default=0) <= rules.max_tokens:
        return CutTexts()
    # Imported late: TensorFlow takes seconds, and collections of short texts do not need it.
    from models.texts.word_counts import distinct_words

    return distinct_words(texts, rules).cut
