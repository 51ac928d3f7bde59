"""The real messages of the cases: the command runs on each, and one ingestion takes those left out or accepted."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from schemas.wikiclir import read_lines
from tests.bad_input.case import Case
from tests.bad_input.domains import DOMAINS
from tests.bad_input.spoil import DOMAINS_FILE, QUERY_DOMAINS, ROLES, write_candidates, write_collection
from tests.cli.command import Clir
from tests.e2e.process import fresh


class Seen(NamedTuple):
    """The outcome of a case.

    Attributes:
      code: the exit code; None where no command ran.
      said: the message, a line each, without the folder's path.
    """

    code: object
    said: tuple[str, ...]


def run_case(case: Case, folder: Path) -> Seen:
    """Runs the command of a case that is refused, in a folder with its files.

    Raises:
      AssertionError: something but a message stands on stdout or, with a traceback, on stderr.
    """
    write_collection(folder)
    case.make(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        if case.most_bytes is None:
            code, out, err = Clir(patch)(*case.arguments)
        else:
            done = fresh(*case.arguments, cwd=folder, most_bytes=case.most_bytes)
            code, out, err = done.code, done.out, done.err
    assert out == ""
    assert "Traceback" not in err, err
    lines = (re.fullmatch("(?:clir|Error): (.*)", line) for line in err.splitlines())
    said = (_without(folder, line[1]) for line in lines if line)
    return Seen(code, tuple(re.sub(case.varies, "…", line) for line in said))


def ingest_cases(cases: Sequence[Case], folder: Path) -> dict[str, Seen]:
    """Reads the good collection and, within it, the records of all cases: those of domains in a job of their own.

    Returns:
      what the report says of the lines that each case brought, by its name.

    Raises:
      AssertionError: the report counts a line that no case brought, or more lines than it shows.
    """
    of_domains = [case for case in cases if case in DOMAINS]
    others = [case for case in cases if case not in DOMAINS]
    return _ingest(others, folder / "others", ROLES) | _ingest(
        of_domains, folder / "domains", {**ROLES, "domains": DOMAINS_FILE}
    )


def _ingest(cases: Sequence[Case], folder: Path, files: Mapping[str, str]) -> dict[str, Seen]:
    """Reads the good collection and the records of some cases, in one job; see `ingest_cases`."""
    import apache_beam as beam

    from components.collection_gen import write_collection as collection_gen
    from components.wikiclir_example_gen.ingest import ingest
    from components.wikiclir_example_gen.lists import IngestSettings
    from schemas.relevance import MOST_RELEVANT
    from schemas.splits import SPLITS

    folder.mkdir()
    write_collection(folder)
    write_candidates(folder)
    (folder / DOMAINS_FILE).write_text(QUERY_DOMAINS)
    brought = {case: _lines_brought(case, folder, files) for case in cases}
    paths = {role: [str(folder / name)] for role, name in files.items()}
    collection = folder / "collection"
    collection.mkdir()
    roles = collection_gen.write_collection(paths, {}, MOST_RELEVANT, str(collection), open)
    settings = IngestSettings(negatives=1, seed=1, max_queries=None, top_grade=MOST_RELEVANT)
    splits = {split: str(folder / split / "data") for split in SPLITS}
    report_file = folder / "report.json"
    with beam.Pipeline(argv=[]) as pipeline:
        ingest(pipeline, settings, str(collection), roles, splits, str(report_file))
    seen: dict[str, Seen] = {case.name: Seen(None, ()) for case in cases}
    for role, file in json.loads(report_file.read_text())["files"].items():
        for drop in file["drops"]:
            assert drop["count"] == len(drop["examples"]), "the report counts more lines than it shows"
            for example in drop["examples"]:
                (name,) = (case.name for case in cases if example["line"] in brought[case][role])
                line = f"{example['file']}:{example['line']}: {drop['meaning']}: {example['text']}"
                seen[name] = Seen(None, (*seen[name].said, _without(folder, line)))
    return seen


def _lines_brought(case: Case, folder: Path, files: Mapping[str, str]) -> dict[str, range]:
    """Spoils the collection by one more case: the lines of each file that are new."""
    before = {role: _line_count(folder / name) for role, name in files.items()}
    case.make(folder)
    return {role: range(before[role] + 1, _line_count(folder / name) + 1) for role, name in files.items()}


def _line_count(path: Path) -> int:
    with path.open("rb") as stream:
        return sum(1 for _ in read_lines(stream, str(path)))


def _without(folder: Path, line: str) -> str:
    """A line without the folder's path."""
    return line.replace(f"{folder}/", "").replace(str(folder), ".")
