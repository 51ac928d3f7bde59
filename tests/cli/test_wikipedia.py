"""cli/wikipedia.py: the command's input and errors, its folder, and a killed command."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.config_file import load_config
from pipeline.wikipedia import make
from smooth_clir.wikipedia.collection import look, read_dumps
from tests.cli.command import Answer, Clir
from tests.wikipedia.collection.test_build import ENGLISH, FRENCH

MADE = {
    "README.md", "config.yaml", "en2fr.rel", "manifest.json", "title_pairs.tsv", "wiki_en.queries",
    "wiki_fr.documents", "wikipedia.json",
}  # fmt: skip


class Dumps:
    """Two small wikis, a configuration beside them, and the command on it."""

    def __init__(self, folder: Path, clir: Clir) -> None:
        self.folder = folder
        self.out = folder / "out"
        self._clir = clir
        self.content: dict[str, Any] = {
            "wikis": {"en": ENGLISH.write(folder), "fr": FRENCH.write(folder)},
            "pairs": ["en-fr"],
            "min_query_words": 1,
            "min_document_words": 1,
            "output": str(self.out),
        }

    @property
    def config(self) -> Path:
        """The configuration, written as it is now."""
        path = self.folder / "wikipedia.yaml"
        path.write_text(yaml.safe_dump(self.content), encoding="utf-8")
        return path

    @property
    def french_pages(self) -> Path:
        """The file of the French pages."""
        return Path(self.content["wikis"]["fr"]["pages"])

    def make(self, *options: object) -> Answer:
        """Runs the command."""
        return self._clir("wikipedia", self.config, *options)

    def names(self) -> set[str]:
        """The names in the output, without its lock."""
        return {path.name for path in self.out.iterdir()} - {".lock"}


@pytest.fixture
def dumps(tmp_path: Path, clir: Clir) -> Dumps:
    return Dumps(tmp_path, clir)


def test_a_collection_is_made_that_a_run_takes(dumps: Dumps) -> None:
    done = dumps.make()
    assert done.code == 0, done.err
    assert done.out.splitlines()[:7] == [
        "en queries, fr documents",
        "enwiki: 10 read, 10 used",
        "  9 articles, 1 of 1 redirects used",
        "frwiki: 12 read, 12 used",
        "  7 articles, 3 of 5 redirects used",
        "pages with queries: 9 read, 4 used; left out: 1 disambiguation page (drop_disambiguations); 1 no link to the "
        "other language; 1 the page that it links to in the other language is not in the dump; 1 no sentence above the "
        "first heading; 1 queries shorter than min_query_words without the title's words",
        "documents: 7 read, 7 used",
    ]
    assert "judgments: 4 of grade 2, 4 of grade 1" in done.out
    assert f"clir run {dumps.out / 'config.yaml'}" in done.err
    assert "enwiki-20260101-pages-articles.xml.bz2" in done.err  # which has no checksum beside it
    assert dumps.names() == MADE
    config = load_config(str(dumps.out / "config.yaml"))
    assert config.data.documents == str(dumps.out / "wiki_fr.documents")
    title_pairs = dumps.out / "title_pairs.tsv"
    assert config.channels.lexicon.pairs == (str(title_pairs) if title_pairs.read_text(encoding="utf-8") else None)


def test_several_pairs_and_both_directions_are_made_in_one_go(dumps: Dumps) -> None:
    dumps.content["pairs"] = ["en-fr", "fr-en", "fr-fr"]
    done = dumps.make("--json")
    assert done.code == 0, done.err
    assert set(json.loads(done.out)["pairs"]) == {"en-fr", "fr-en", "fr-fr"}
    assert dumps.names() == {"en_fr", "fr_en", "fr_fr", "wikipedia.json"}
    assert (dumps.out / "fr_en" / "wiki_fr.queries").read_text(encoding="utf-8").count("\n") == 5
    for folder in ("en_fr", "fr_en", "fr_fr"):
        load_config(str(dumps.out / folder / "config.yaml"))


def test_made_again_it_is_the_same_and_other_pairs_replace_it(dumps: Dumps) -> None:
    dumps.make()
    first = {path.name: path.read_bytes() for path in dumps.out.iterdir()}
    assert dumps.make().code == 0
    assert {path.name: path.read_bytes() for path in dumps.out.iterdir()} == first
    assert dumps.make("--set", "shards=2").code == 0
    assert "wiki_fr.documents" not in dumps.names()
    assert dumps.make("--set", "pairs=[fr-en, fr-fr]").code == 0
    assert dumps.names() == {"fr_en", "fr_fr", "wikipedia.json"}


def test_a_run_and_files_of_the_user_beside_the_pairs_stay(dumps: Dumps) -> None:
    assert dumps.make("--set", "pairs=[en-fr, fr-en]").code == 0
    (dumps.out / "en_fr" / "run").mkdir()
    (dumps.out / "en_fr" / "run" / "model").write_text("mine")
    assert dumps.make().code == 0
    (dumps.out / "notes.txt").write_text("mine")
    assert dumps.make().code == 0
    assert dumps.names() == MADE | {"en_fr", "notes.txt"}
    assert [path.name for path in (dumps.out / "en_fr").iterdir()] == ["run"]
    assert dumps.make("--set", "pairs=[en-fr, fr-en]").code == 0


@pytest.mark.parametrize("name", ["thesis.doc", "fr_en/wiki_fr.queries", "config.yaml"])
def test_a_file_that_is_not_ours_is_not_overwritten(dumps: Dumps, name: str) -> None:
    if name != "thesis.doc":
        dumps.make()
    (dumps.out / name).parent.mkdir(exist_ok=True, parents=True)
    (dumps.out / name).write_text("mine")
    refused = dumps.make("--set", "pairs=[en-fr, fr-en]")
    assert (refused.code, name in refused.err) == (2, True)
    assert (dumps.out / name).read_text() == "mine"


def test_after_a_kill_nothing_is_half_written_and_the_next_command_continues(
    dumps: Dumps, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    real = read_dumps.read_articles

    def die_at_the_second(piece: Any, folder: str) -> Any:
        if len(read) == 1:
            raise KeyboardInterrupt
        read.append(piece.name)
        return real(piece, folder)

    monkeypatch.setattr(read_dumps, "read_articles", die_at_the_second)
    assert dumps.make().code == 130
    assert dumps.names() == {".wikipedia.work", "wikipedia.json"}
    monkeypatch.setattr(read_dumps, "read_articles", real)
    (work,) = (dumps.out / ".wikipedia.work").iterdir()
    kept = work / f"{read[0]}.npz"
    before = kept.stat().st_mtime_ns
    seen: list[int] = []
    real_build = make.build_collection

    def build(*arguments: Any) -> Any:
        seen.append(kept.stat().st_mtime_ns)
        return real_build(*arguments)

    monkeypatch.setattr(make, "build_collection", build)
    assert dumps.make().code == 0
    assert seen == [before]
    assert dumps.names() == MADE


def test_other_settings_read_the_dumps_again(dumps: Dumps, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make, "build_collection", lambda *arguments: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        dumps.make()
    (first,) = (dumps.out / ".wikipedia.work").iterdir()
    with pytest.raises(ZeroDivisionError):
        dumps.make("--set", "max_words=7")
    (second,) = (dumps.out / ".wikipedia.work").iterdir()
    assert first != second


@pytest.mark.parametrize(
    ("changes", "reported"),
    [
        ({"pairs": ["en"]}, "pairs: "),
        ({"pairs": ["en-de"]}, "de; got en, fr"),
        ({"pairs": []}, "pairs: "),
        ({"wikis": {"xx": {"pages": "p"}}}, "got 'xx'"),
        ({"wikis": {"en": {"pages": "no-such-file"}, "fr": {"pages": "p"}}}, "wikis.en.pages: "),
        ({"colour": 1}, "colour: "),
        ({"queries": "title"}, "queries: "),
    ],
)
def test_a_wrong_configuration_is_refused_before_anything_is_read(
    dumps: Dumps, changes: dict[str, Any], reported: str
) -> None:
    dumps.content |= changes
    refused = dumps.make()
    assert (refused.code, reported in refused.err) == (2, True)
    assert not dumps.out.exists()


def test_wikis_without_language_links_are_refused(dumps: Dumps) -> None:
    del dumps.content["wikis"]["en"]["language_links"]
    refused = dumps.make()
    assert (refused.code, "wikis.en.language_links" in refused.err) == (2, True)


def truncated(dumps: Dumps, monkeypatch: pytest.MonkeyPatch) -> str:
    pages = dumps.french_pages
    pages.write_bytes(pages.read_bytes()[:-40])
    return str(pages)


def changing(dumps: Dumps, monkeypatch: pytest.MonkeyPatch) -> str:
    real = read_dumps.read_articles

    def read(piece: Any, folder: str) -> Any:
        Path(piece.chunk.path).touch()
        return real(piece, folder)

    monkeypatch.setattr(read_dumps, "read_articles", read)
    return "changed while the run read it"


def full_disk(dumps: Dumps, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(look, "SMALL_BYTES", 0)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10, 10, 0))  # type: ignore[attr-defined]
    return "1 MB"


@pytest.mark.parametrize("spoil", [truncated, changing, full_disk])
def test_a_dump_that_cannot_be_read_is_named_and_nothing_is_made_of_it(
    dumps: Dumps, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Dumps, pytest.MonkeyPatch], str]
) -> None:
    reported = spoil(dumps, monkeypatch)
    refused = dumps.make()
    assert (refused.code, reported in refused.err) == (1, True)
    assert not {"wiki_en.queries", "manifest.json"} & dumps.names()


def test_a_check_and_an_estimate_show_counts_and_write_nothing(dumps: Dumps) -> None:
    checked = dumps.make("--check")
    assert checked.code == 0
    assert "en: 10 pages read, 100.0% of the dump" in checked.out
    assert "    query: The is a grey hunter of the woods." in checked.out
    assert [part["articles"] for part in json.loads(dumps.make("--check", "--json").out)] == [9, 7]
    estimated = dumps.make("--estimate", "--processes", 1)
    assert estimated.code == 0
    assert estimated.out.startswith("estimate: some 22 pages, 1 s with 1 process, 1 MB of disk")
    assert not dumps.out.exists()
    assert dumps.make("--estimate", "--check").code == 2


def test_the_manifest_names_no_folder(dumps: Dumps) -> None:
    dumps.content["wikis"]["en"] = ENGLISH._replace(pages=dict(ENGLISH.pages) | {"Empty": ""}).write(dumps.folder)
    assert dumps.make().code == 0
    manifest = (dumps.out / "manifest.json").read_text(encoding="utf-8")
    assert '"text": "Empty"' in manifest
    assert str(dumps.folder) not in manifest
