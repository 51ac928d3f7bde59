"""Every input that the cache keys by a digest: a run refuses what takes its place after it was hashed."""

import bz2
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Final, get_args, get_origin

import pytest

from pipeline.config import RunConfig
from pipeline.config_file import load_config
from pipeline.input_files import resolve_digests, sha256_of_file
from pipeline.pipeline import create_pipeline
from pipeline.stages import StageEnd
from schemas.errors import DataError
from schemas.settings import InputPath, KindSettings, Settings
from tests.pipeline.toy_pipeline import FILES, run
from tests.wikipedia.collection.test_build import ENGLISH, FRENCH
from tests.wikipedia.small_wiki import write_table

pytestmark = pytest.mark.stages

COLLECTION: Final = {
    **FILES,
    "candidates": "q1\td1\t2\ttest\nq1\td2\t1\ttest\n",
    "domains": "q1\tnews\n",
}
TABLES: Final = {
    "redirects": (
        "redirect",
        {"rd_from": 1, "rd_namespace": 0, "rd_title": "Wolf", "rd_interwiki": "", "rd_fragment": ""},
    ),
    "page_links": ("pagelinks", {"pl_from": 1, "pl_from_namespace": 0, "pl_target_id": 1}),
    "link_targets": ("linktarget", {"lt_id": 1, "lt_namespace": 0, "lt_title": "Wolf"}),
}  # fmt: skip
"""Setting to a table and its row."""
LATER: Final = {
    "channels.lexicon.pairs": "LexiconGen",
    "embeddings.query": "Transform",
    "embeddings.document": "Transform",
}
"""The inputs that stages after the first one read, and whose own tests show the refusal: setting to stage."""
DUMPS: Final = (
    "data.wikipedia.sitelinks",
    *(f"data.wikipedia.wikis.en.{name}" for name in ("pages", "language_links", *TABLES)),
)


def inputs_of(settings: type[Settings], above: str = "") -> Iterator[str]:
    """The dotted settings that are inputs, in a section of several kinds those of all."""
    for kind in settings.kinds.values() if issubclass(settings, KindSettings) and settings.is_base() else ():
        yield from inputs_of(kind, above)
    for name, field in settings.model_fields.items():
        if any(isinstance(note, InputPath) for note in field.metadata):
            yield f"{above}{name}"
        for kind in (field.annotation, *get_args(field.annotation)):
            if isinstance(kind, type) and issubclass(kind, Settings):
                yield from inputs_of(kind, f"{above}{name}.{'*.' if get_origin(field.annotation) is dict else ''}")


def resolved(folder: Path, paths: dict[str, str], *settings: str) -> RunConfig:
    (folder / "run.yaml").write_text("data: {query_language: en, document_language: fr}\n")
    overrides = [*(f"{key}={path}" for key, path in paths.items()), f"output={folder / 'out'}", *settings]
    return resolve_digests(load_config(str(folder / "run.yaml"), overrides))


def collection(folder: Path) -> dict[str, str]:
    """Setting to file of a collection with all its inputs."""
    for role, text in COLLECTION.items():
        (folder / role).write_text(text)
    return {f"data.{role}": str(folder / role) for role in COLLECTION}


def dumps(folder: Path) -> dict[str, str]:
    """Setting to file of two wikis with all the dumps that a wiki may have."""
    english, french = (wiki.write(folder) for wiki in (ENGLISH, FRENCH))
    for setting, (table, row) in TABLES.items():
        path = folder / f"enwiki-20260101-{table}.sql.gz"
        english[setting] = write_table(path, table, list(row), [tuple(row.values())])
    (folder / "sitelinks").write_text("Q1\tenwiki\tWolf\nQ1\tfrwiki\tLoup\n")
    return {
        "data.wikipedia.sitelinks": str(folder / "sitelinks"),
        "data.wikipedia.wikis.fr.pages": french["pages"],
        **{f"data.wikipedia.wikis.en.{setting}": path for setting, path in english.items()},
    }


def change(path: Path) -> None:
    """Gives a file other bytes that are as readable."""
    content = path.read_bytes()
    if path.suffix == ".bz2":
        changed = bz2.compress(bz2.decompress(content), 1)
    elif path.suffix == ".gz":
        changed = gzip.compress(gzip.decompress(content), mtime=1)
    else:
        changed = content + b"\n"
    path.write_bytes(changed)


def check_reads_nothing(stage_end: StageEnd) -> None:
    """Called with a stage that is done: the stage that reads the files comes first, or after one that reads none."""
    assert stage_end.name == "ImportSchemaGen"


def test_every_input_of_a_run_is_among_those_that_are_swapped() -> None:
    # The encoder's files are those of tests/components/test_text_vector_gen.py.
    inputs = {name for name in inputs_of(RunConfig) if not name.startswith("channels.encoder.")}
    swapped = (*(f"data.{role}" for role in COLLECTION), *LATER, *DUMPS)
    assert inputs == {name.replace("wikis.en", "wikis.*") for name in swapped}


@pytest.mark.parametrize("setting", [*(f"data.{role}" for role in COLLECTION), *DUMPS])
def test_an_input_that_changes_after_it_was_hashed_ends_the_run(tmp_path: Path, setting: str) -> None:
    paths = dumps(tmp_path) if setting in DUMPS else collection(tmp_path)
    config = resolved(tmp_path, paths)
    change(Path(paths[setting]))
    with pytest.raises(DataError, match=f"{paths[setting]} .*changed while the run read it"):
        run(config, create_pipeline, check_reads_nothing)


@pytest.mark.parametrize(("setting", "stage"), LATER.items())
def test_a_later_stage_gets_the_digest_of_each_file_that_it_reads(tmp_path: Path, setting: str, stage: str) -> None:
    path = tmp_path / "input"
    path.write_text("wolf\tloup\n" if setting == "channels.lexicon.pairs" else "wolf 1 0\n")
    kind = "channels.lexicon.kind=lexicon" if setting == "channels.lexicon.pairs" else "channels.towers.embedding_dim=2"
    config = resolved(tmp_path, {**collection(tmp_path), setting: str(path)}, kind)
    (node,) = (node for node in create_pipeline(config, "", "", "").components if node.id == stage)
    properties = str(node.exec_properties)
    assert str(path) in properties and sha256_of_file(str(path)) in properties
