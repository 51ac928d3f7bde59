"""Every input that the cache keys by a digest: a run refuses what takes its place after it was hashed."""

import bz2
import gzip
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, get_args, get_origin

import pytest

from pipeline.config import RunConfig
from schemas.settings import InputPath, Settings
from tests.e2e.forked import Swap, clir
from tests.e2e.process import SAMPLE, SMALL
from tests.wikipedia.dumps.dump_files import Value
from tests.wikipedia.small_wiki import write_table

pytestmark = pytest.mark.tensors


class Keyed(NamedTuple):
    """An input: its setting, the stage that reads it first, and the sample's file for it, if it has one."""

    setting: str
    stage: str
    sample: str = ""


ROLES: Final = (
    Keyed("data.queries", "CollectionGen", "wiki_en.queries"),
    Keyed("data.documents", "CollectionGen", "wiki_fr.documents"),
    Keyed("data.judgments", "CollectionGen", "en2fr.rel"),
)
OTHERS: Final = (
    Keyed("data.candidates", "CollectionGen"),
    Keyed("data.domains", "CollectionGen"),
    Keyed("lexicon.pairs", "LexiconGen"),
    Keyed("embeddings.query", "Transform"),
    Keyed("embeddings.document", "Transform"),
)
WIKI: Final = "data.wikipedia.wikis.en"
DUMPS: Final = (
    Keyed(f"{WIKI}.pages", "WikipediaGen", "enwiki-20260101-pages-articles.xml.bz2"),
    Keyed(f"{WIKI}.language_links", "WikipediaGen", "enwiki-20260101-langlinks.sql.gz"),
    Keyed(f"{WIKI}.redirects", "WikipediaGen"),
    Keyed(f"{WIKI}.page_links", "WikipediaGen"),
    Keyed(f"{WIKI}.link_targets", "WikipediaGen"),
    Keyed("data.wikipedia.sitelinks", "WikipediaGen"),
)
TABLES: Final[Mapping[str, tuple[str, Sequence[str], Sequence[Sequence[Value]]]]] = {
    "redirects": (
        "redirect",
        ("rd_from", "rd_namespace", "rd_title", "rd_interwiki", "rd_fragment"),
        [(1, 0, "Honey", "", "")],
    ),
    "page_links": ("pagelinks", ("pl_from", "pl_namespace", "pl_target_id"), [(1, 0, 1)]),
    "link_targets": ("linktarget", ("lt_id", "lt_namespace", "lt_title"), [(1, 0, "Honey")]),
}
"""Setting to a table, its columns and rows."""
BESIDE: Final = {
    "lexicon.pairs": ("lexicon.kind=lexicon",),
    "embeddings.query": ("model.embedding_dim=2",),
    "embeddings.document": ("model.embedding_dim=2",),
}
"""The settings without which nothing reads an input."""


def test_every_input_of_a_run_is_among_those_that_are_swapped() -> None:
    # The encoder's files are those of tests/components/text_vector_gen/test_component.py.
    inputs = {one for one in _inputs(RunConfig) if not one.startswith("encoder.")}
    assert inputs == {one.setting.replace("wikis.en", "wikis.*") for one in (*ROLES, *OTHERS, *DUMPS)}


@pytest.mark.runs
@pytest.mark.long
@pytest.mark.parametrize("one", [*ROLES, *OTHERS, *DUMPS], ids=lambda one: one.setting)
def test_an_input_that_changes_after_it_was_hashed_ends_the_run(one: Keyed, tmp_path: Path) -> None:
    file = SAMPLE / one.sample if one.sample else _write(one.setting, tmp_path, "before")
    path, other = tmp_path / file.name, tmp_path / "other"
    path.write_bytes(file.read_bytes())
    other.write_bytes(_changed(file.read_bytes()))
    settings = [*SMALL, f"output={tmp_path / 'output'}", f"{one.setting}={path}", *BESIDE.get(one.setting, ())]
    if one.setting.endswith("link_targets"):
        settings.append(f"{WIKI}.page_links={_write(f'{WIKI}.page_links', tmp_path, 'links')}")
    config = "configs/sample_dumps.yaml" if one in DUMPS else "configs/sample.yaml"
    log = tmp_path / "log"
    ended = clir("run", config, *(f"--set={each}" for each in settings), log=log, swap=Swap(one.stage, path, other))
    said = log.read_text()
    assert ended == 1, said
    assert "must not change while a run reads it" in said
    assert str(path) in said and "Traceback" not in said


def _inputs(settings: type[Settings], above: str = "") -> Iterator[str]:
    """The dotted settings that are inputs."""
    for name, field in settings.model_fields.items():
        if any(isinstance(one, InputPath) for one in field.metadata):
            yield f"{above}{name}"
        for kind in (field.annotation, *get_args(field.annotation)):
            if isinstance(kind, type) and issubclass(kind, Settings):
                yield from _inputs(kind, f"{above}{name}.{'*.' if get_origin(field.annotation) is dict else ''}")


def _changed(content: bytes) -> bytes:
    """Other bytes that are as readable."""
    if content.startswith(b"BZh"):
        return bz2.compress(bz2.decompress(content), 1)
    if content.startswith(b"\x1f\x8b"):
        return gzip.compress(gzip.decompress(content), mtime=1)
    return content + b"\n"


def _write(setting: str, folder: Path, name: str) -> Path:
    """Writes a file for an input that the sample has none for."""
    key = setting.rpartition(".")[2]
    made = folder / name
    made.mkdir()
    if key in TABLES:
        table, columns, rows = TABLES[key]
        return Path(write_table(made / f"enwiki-20260101-{table}.sql.gz", table, columns, rows))
    content = {
        "candidates": "".join(
            f"{line}\t{('train', 'eval', 'test')[number % 3]}\n"
            for number, line in enumerate((SAMPLE / "en2fr.rel").read_text().splitlines())
        ),
        "domains": "1\tnews\n2\thealth\n",
        "sitelinks": "Q1\tenwiki\tHoney\nQ1\tfrwiki\tMiel\n",
        "pairs": "honey\tmiel\n",
        "query": "honey 1 0\nbee 0 1\n",
        "document": "miel 1 0\nabeille 0 1\n",
    }[key]
    (made / key).write_text(content)
    return made / key
