"""A file of an index that changes: what uses it notices, says how to go on, and makes no damage valid."""

import json
import logging
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from components.index_pusher.index_versions import IndexVersions, push_index
from models.exported.model import LoadedModel
from models.retrieval.corpus_index import CorpusIndex
from models.retrieval.index_files import check_version, file_faults, read_manifest
from schemas.errors import DataError
from schemas.index_manifest import LEFT_FILE, MANIFEST_FILE, SEGMENTS, VECTORS_FILE
from schemas.wikiclir import Text
from serving.newest_engine import EngineHolder, FolderEngines
from serving.update_index import IndexUpdater
from tests.models.loaded_once import loaded_once
from tests.models.small_lexicon import export_with_words

pytestmark = pytest.mark.stages

WORDS: Final = ("un chat blanc", "chien", "lune", "chat noir", "ararat", "loup blanc", "un chien", "lune sur ararat")
DOCUMENTS: Final = [Text(f"d{number:02}", f"title {number}", WORDS[number % 8], 1) for number in range(16)]
QUERIES: Final = ("white cat", "dog", "moon over ararat")
LEAST, MOST = 4, 4
"""Vectors that need lists, and documents of a segment."""

KINDS: Final = (
    MANIFEST_FILE,
    VECTORS_FILE,
    "removed/0.npy",
    *(
        f"{SEGMENTS}/0/{name}"
        for name in (
            "documents.tsv", "documents_starts.npy", "documents_digests.npy", "documents_counts.npy", "vectors.npy",
            "terms.txt", "postings_starts.npy", "postings_documents.npy", "postings_weights.npy", "frequent_terms.npy",
            "frequent_weights.npy",
        )
    ),
)  # fmt: skip
"""A file of every kind in a version."""

Answers = list[list[tuple[bytes, float]]]


@pytest.fixture(scope="module", autouse=True)
def each_model_loaded_once() -> Iterator[None]:
    with loaded_once():
        yield


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return export_with_words(tmp_path_factory.mktemp("model") / "1")


@pytest.fixture(scope="module")
def answers(path: str) -> Callable[[str | Path], Answers]:
    """Returns the answers of an index's version."""
    model = LoadedModel(path)

    def of(version: str | Path) -> Answers:
        index = CorpusIndex(str(version))
        found = [index.search(model.encode_query(query), 20) for query in QUERIES]
        return [[(one.doc_id, round(one.score, 5)) for one in results] for results in found]

    return of


@pytest.fixture(scope="module")
def made(path: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of two versions, the second with removed rows; no files are shared."""
    folder = tmp_path_factory.mktemp("made") / "index"
    updater = updater_of(path, folder)
    updater.replace_all(DOCUMENTS[:12])
    updater.change(DOCUMENTS[12:], ["d01"])
    return Path(shutil.copytree(folder, folder.with_name("apart")))


@pytest.fixture
def index(made: Path, tmp_path: Path) -> Path:
    """A copy of that index."""
    return Path(shutil.copytree(made, tmp_path / "index"))


def updater_of(path: str, folder: Path) -> IndexUpdater:
    return IndexUpdater(path, IndexVersions(folder), least=LEAST, most=MOST)


def flip(file: Path, share: float) -> None:
    """Changes the byte at a share of a file's length."""
    content = bytearray(file.read_bytes())
    content[int(share * (len(content) - 1))] ^= 1
    file.write_bytes(content)


def test_every_kind_of_file_is_among_the_cases(index: Path) -> None:
    held = {path.relative_to(index / "2").as_posix() for path in (index / "2").rglob("*") if path.is_file()}
    assert {re.sub(r"/\d+/", "/0/", path) for path in held} == set(KINDS)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_byte_is_noticed_by_all_that_use_the_file(
    path: str, index: Path, answers: Callable[[str | Path], Answers], kind: str, share: float
) -> None:
    sound = answers(index / "2")
    flip(index / "2" / kind, share)
    name = re.escape(kind)
    # a search, and a service
    with pytest.raises(DataError, match=rf"{name}.* Version 1 is sound; to go back to it: rm -r {index / '2'}$"):
        source = FolderEngines(str(Path(path).parent), str(index))
        source.load(str(source.newest()))
    # an update keeps nothing damaged, and joins nothing damaged
    with pytest.raises(DataError, match=rf"{name}.* Version 1 is sound; to go back to it"):
        updater_of(path, index).change([Text("new", "", "un loup", 1)], [])
    assert sorted(os.listdir(index)) == [".lock", "1", "2"]
    # an index of all documents is sound again, with no document changed
    update = updater_of(path, index).replace_all([one for one in DOCUMENTS if one.id != "d01"])
    assert Path(update.version) == index / "3"
    assert not check_version(update.version).faults
    assert answers(update.version) == sound


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["cut off", "longer", "missing", "of another version"])
def test_a_file_of_another_length_or_origin_is_noticed(path: str, index: Path, kind: str, how: str) -> None:
    file = index / "2" / kind
    content = file.read_bytes()
    file.unlink()
    if how == "cut off":
        file.write_bytes(content[:-2])  # without its end, a line feed, a manifest is the same
    elif how == "longer":
        file.write_bytes(content + b"\0")
    elif how == "of another version" and (index / "1" / kind).is_file():
        # a segment of other documents, in the place of this one
        shutil.copyfile(index / "1" / kind.replace("/0/", "/1/"), file)
    with pytest.raises(DataError, match="must hold|must be what"):
        CorpusIndex(str(index / "2"))
    faults = check_version(str(index / "2")).faults
    assert kind in faults or (faults and kind == MANIFEST_FILE)  # another version's is whole, and its files are not
    versions = IndexVersions(index)
    assert versions.newest() == index / "2"  # and not silently the version before
    assert versions.way_back(index / "2").startswith("Version 1 is sound")


@pytest.mark.parametrize("number", ["1", "2"])
def test_a_manifest_of_another_version_does_not_bring_back_what_was_removed(
    path: str, tmp_path: Path, number: str
) -> None:
    updater = IndexUpdater(path, IndexVersions(tmp_path))
    updater.replace_all(DOCUMENTS[:3])
    updater.change([], ["d01"])
    other = {"1": "2", "2": "1"}[number]
    os.replace(tmp_path / other / MANIFEST_FILE, tmp_path / number / MANIFEST_FILE)
    with pytest.raises(
        DataError, match=r"removed/0\.npy (No such file|must not be there, for no row was removed|is missing)"
    ):
        CorpusIndex(str(tmp_path / number))


def test_a_version_that_is_copied_under_a_higher_number_answers_as_it_did(
    path: str, index: Path, answers: Callable[[str | Path], Answers]
) -> None:
    shutil.copytree(index / "2", index / "9")
    source = FolderEngines(str(Path(path).parent), str(index))
    assert source.newest() == f"9@{read_manifest(str(index / '2')).identity}"
    assert answers(index / "9") == answers(index / "2")
    assert updater_of(path, index).change([Text("new", "", "un loup", 1)], []).version == str(index / "10")


def test_damage_in_files_that_versions_share_leaves_no_way_back(path: str, index: Path) -> None:
    for file in (index / "2" / SEGMENTS / "0").iterdir():
        os.link(file, index / "1" / SEGMENTS / "0" / "link")
        os.replace(index / "1" / SEGMENTS / "0" / "link", index / "1" / SEGMENTS / "0" / file.name)
    flip(index / "2" / SEGMENTS / "0" / "vectors.npy", 0.9)
    with pytest.raises(DataError, match="No version before it is sound; index all documents again: `clir index`"):
        FolderEngines(str(Path(path).parent), str(index)).load("2@")


def test_a_large_file_is_compared_by_its_length_where_small_ones_take_the_time(index: Path) -> None:
    manifest = read_manifest(str(index / "2"))
    sizes = sorted(record.bytes for record in manifest.paths().values())
    largest = max(manifest.paths(), key=lambda name: manifest.paths()[name].bytes)
    flip(index / "2" / largest, 0.9)
    assert file_faults(str(index / "2"), manifest, sum(sizes[:-1])) == {}
    assert [*file_faults(str(index / "2"), manifest, sum(sizes))] == [largest]
    (index / "2" / largest).write_bytes(b"")
    assert [*file_faults(str(index / "2"), manifest, 0)] == [largest]


class Watch:
    def __init__(self) -> None:
        self.reported = list[tuple[Any, ...]]()

    def swapped(self, engine: Any, seconds: float) -> None:
        self.reported.append(("swapped", engine.index_version))

    def drained(self, engine: Any, seconds: float) -> None:
        self.reported.append(("drained", engine.index_version))

    def failed(self, name: str, error: Exception) -> None:
        self.reported.append(("failed", name.partition("@")[0], str(error)))


@pytest.mark.parametrize("kind", [MANIFEST_FILE, f"{SEGMENTS}/0/vectors.npy"])
def test_a_service_keeps_the_version_before_a_damaged_one_and_says_so(path: str, index: Path, kind: str) -> None:
    os.rename(index / "2", index.parent / "2")
    watch = Watch()
    holder = EngineHolder(FolderEngines(str(Path(path).parent), str(index)), watch, 1)
    holder.load_first()
    flip(index.parent / "2" / kind, 0.5)
    os.rename(index.parent / "2", index / "2")
    holder.refresh()
    holder.refresh()
    with holder.engine() as engine:
        assert engine.index_version == "1"
    assert [one[:2] for one in watch.reported] == [("swapped", "1"), ("failed", "2")]
    assert f"Version 1 is sound; to go back to it: rm -r {index / '2'}" in watch.reported[1][2]


# An index of an earlier version of the project has no digests of the manifest, of removed rows and of near vectors.


def make_older(version: Path) -> None:
    content = json.loads((version / MANIFEST_FILE).read_text())
    for key in ("files", "of_run", "sha256"):
        del content[key]
    (version / MANIFEST_FILE).write_text(json.dumps({**content, "vectors_sha256": ""}))


def test_an_older_index_is_read_and_gets_digests_with_its_next_version(
    path: str, index: Path, answers: Callable[[str | Path], Answers]
) -> None:
    sound = answers(index / "2")
    make_older(index / "2")
    assert answers(index / "2") == sound
    states = check_version(str(index / "2")).states(str(index / "2"))
    unrecorded = {name for name, state in states.items() if state == "unrecorded"}
    assert unrecorded == {MANIFEST_FILE, VECTORS_FILE, "removed/0.npy"}
    update = updater_of(path, index).change([], ["d05"])
    assert set(check_version(update.version).states(update.version).values()) == {"sound"}
    assert not any(b"d05" in row for found in answers(update.version) for row, _ in found)


@pytest.mark.parametrize("how", ["missing", "fewer", "beyond"])
def test_an_older_index_without_its_removed_rows_is_refused(index: Path, how: str) -> None:
    make_older(index / "2")
    file = index / "2" / "removed" / "0.npy"
    file.unlink()
    if how != "missing":
        np.save(file, np.array([] if how == "fewer" else [99], np.int32))
    with pytest.raises(DataError, match=r"removed/0\.npy (No such file or directory|must hold 1 rows below 4)"):
        CorpusIndex(str(index / "2"))


# A run's index takes the place of another one.


@pytest.fixture
def of_run(path: str, tmp_path: Path) -> Path:
    """A run's index."""
    version = Path(updater_of(path, tmp_path / "made").replace_all(DOCUMENTS[:12]).version)
    manifest = read_manifest(str(version)).model_copy(update={"of_run": True})
    (version / MANIFEST_FILE).write_text(manifest.to_json())
    return version


@pytest.mark.parametrize("kind", [one for one in KINDS if not one.startswith("removed")])
def test_a_damaged_index_of_a_run_is_not_pushed(of_run: Path, tmp_path: Path, kind: str) -> None:
    flip(of_run / kind, 0.9)
    with pytest.raises(DataError, match="must hold the index that the run made: .* and run again: the index is then"):
        push_index(str(of_run), str(tmp_path / "index"))
    assert os.listdir(tmp_path / "index") == [".lock"]


def test_a_damaged_version_that_a_run_pushed_is_pushed_again(of_run: Path, tmp_path: Path) -> None:
    folder = str(tmp_path / "index")
    pushed = push_index(str(of_run), folder)
    vectors = Path(pushed) / SEGMENTS / "0" / "vectors.npy"
    shutil.copyfile(vectors, tmp_path / "copy")
    os.replace(tmp_path / "copy", vectors)
    flip(vectors, 0.9)
    again = push_index(str(of_run), folder)
    assert (Path(again).name, check_version(again).faults) == ("2", {})
    assert not (Path(again) / LEFT_FILE).exists()


def test_a_damaged_version_with_updates_stays_and_is_named(
    path: str, of_run: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "index"
    push_index(str(of_run), str(folder))
    changed = updater_of(path, folder).change([Text("mine", "", "un loup", 1)], []).version
    flip(Path(changed) / VECTORS_FILE, 0.9)
    with caplog.at_level(logging.WARNING):
        assert push_index(str(of_run), str(folder)) == changed
    assert f"{changed} is damaged, and stays because `clir index` changed it: {VECTORS_FILE} must have" in caplog.text
    assert f"Version 1 is sound; to go back to it: rm -r {changed}" in caplog.text


def test_documents_that_a_user_added_leave_with_a_word_and_a_way_back(
    path: str, of_run: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "index"
    push_index(str(of_run), str(folder))
    mine, changed = Text("mine", "of mine", "un loup", 1), Text("d02", "another title", "chat", 1)
    updater_of(path, folder).change([mine, changed], ["d00"])
    with caplog.at_level(logging.WARNING):
        assert Path(push_index(str(of_run), str(folder))).name == "2"  # the same run: nothing leaves
        assert caplog.messages == []
        other = updater_of(path, of_run.parent).change([Text("of another run", "", "chien", 1)], []).version
        pushed = Path(push_index(other, str(folder), "out/serving/1"))
    (message,) = caplog.messages
    command = f"clir index out/serving/1 --index {folder} --add {pushed / LEFT_FILE}"
    assert message == (
        f"{pushed} takes the place of {folder / '2'}, which `clir index` changed; documents that leave: 2, "
        f"that come: 3; to bring back what leaves: {command}"
    )
    left = (pushed / LEFT_FILE).read_text()
    assert sorted(left.splitlines()) == ["d02\tanother title\tchat", "mine\tof mine\tun loup"]
    texts = [Text(*line.split("\t"), 1) for line in left.splitlines()]  # type: ignore[arg-type]
    again = CorpusIndex(updater_of(path, folder).change(texts, []).version)
    assert {"mine", "of another run"} < {one.id for one in again.documents()}
    assert [one.title for one in again.documents() if one.id == "d02"] == ["another title"]


def test_where_no_update_changed_the_version_before_nothing_is_said(
    path: str, of_run: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = str(tmp_path / "index")
    push_index(str(of_run), folder)
    other = updater_of(path, of_run.parent).replace_all(DOCUMENTS[4:]).version
    pushed = push_index(other, folder)
    assert caplog.messages == []
    assert not (Path(pushed) / LEFT_FILE).exists()


def test_a_push_that_meets_another_writer_says_that_the_same_command_completes_the_run(
    of_run: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "index"
    with IndexVersions(folder).writing():
        with pytest.raises(DataError, match="is being written by another process; the model is pushed, its index is"):
            push_index(str(of_run), str(folder), wait_seconds=0.3)
        with pytest.raises(DataError, match="is being written by another process; wait until it is done"):
            IndexVersions(folder).check_free()
    IndexVersions(folder).check_free()
    assert Path(push_index(str(of_run), str(folder))).name == "1"
