"""A file of an index that changes: what uses it notices, says how to go on, and makes no damage valid."""

import json
import logging
import os
import re
import shutil
from itertools import cycle
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from schemas.errors import DataError
from schemas.index_manifest import LEFT_FILE, MANIFEST_FILE, SEGMENTS, VECTORS_FILE
from schemas.wikiclir import Text
from smooth_clir.retrieval.corpus_index import CorpusIndex
from smooth_clir.retrieval.folder_engines import FolderEngines
from smooth_clir.retrieval.index_files import check_version, file_faults, read_manifest
from smooth_clir.retrieval.index_versions import IndexVersions, push_index
from smooth_clir.retrieval.update_index import IndexUpdater
from smooth_clir.serving.engine_holder import EngineHolder
from tests.models.loaded_once import model_with_words
from tests.serving.fake_engines import Watch

pytestmark = pytest.mark.stages

WORDS: Final = ("un chat blanc", "chien", "lune", "chat noir", "ararat", "loup blanc", "un chien", "lune sur ararat")
DOCUMENTS: Final = [Text(f"d{number:02}", f"title {number}", WORDS[number % 8], 1) for number in range(16)]
QUERIES: Final = ("white cat", "dog", "moon over ararat")
NEW: Final = Text("new", "", "un loup", 1)
MIN_VECTORS, MAX_DOCUMENTS = 4, 4
"""The smallest number of vectors that get lists, and the largest number of documents of a segment."""
VECTORS: Final = f"{SEGMENTS}/0/vectors.npy"
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


def answers(version: str | Path) -> list[list[tuple[bytes, float]]]:
    """The answers of an index's version."""
    index = CorpusIndex(str(version))
    hits = [index.search(model_with_words().encode_query(query), 20) for query in QUERIES]
    return [[(hit.doc_id, round(hit.score, 5)) for hit in results] for results in hits]


@pytest.fixture(scope="module")
def two_versions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of two versions, the second with removed rows; no files are shared."""
    folder = tmp_path_factory.mktemp("made") / "index"
    updater(folder).replace_all(DOCUMENTS[:12])
    updater(folder).change(DOCUMENTS[12:], ["d01"])
    return Path(shutil.copytree(folder, folder.with_name("apart")))


@pytest.fixture
def index(two_versions: Path, tmp_path: Path) -> Path:
    """A copy of that index."""
    return Path(shutil.copytree(two_versions, tmp_path / "index"))


def updater(folder: Path) -> IndexUpdater:
    return IndexUpdater(
        model_with_words().path, IndexVersions(folder), min_vectors=MIN_VECTORS, max_documents=MAX_DOCUMENTS
    )


def engines(index: Path) -> FolderEngines:
    return FolderEngines(str(Path(model_with_words().path).parent), str(index))


def flip(file: Path, share: float) -> None:
    """Changes the byte at a share of a file's length."""
    content = bytearray(file.read_bytes())
    content[int(share * (len(content) - 1))] ^= 1
    file.write_bytes(content)


def test_every_kind_of_file_is_among_the_cases(index: Path) -> None:
    files = {path.relative_to(index / "2").as_posix() for path in (index / "2").rglob("*") if path.is_file()}
    assert {re.sub(r"/\d+/", "/0/", path) for path in files} == set(KINDS)


@pytest.mark.parametrize(("kind", "share"), [*zip(KINDS, cycle([0.0, 0.5, 0.9]))])
def test_a_changed_byte_is_noticed_by_all_that_use_the_file(index: Path, kind: str, share: float) -> None:
    sound = answers(index / "2")
    flip(index / "2" / kind, share)
    name, way_back = re.escape(kind), f"rm -r {index / '2'}$"
    with pytest.raises(DataError, match=f"{name}.*{way_back}"):  # a search, and a service
        engines(index).load(str(engines(index).newest()))
    with pytest.raises(DataError, match=f"{name}.*{way_back}"):  # an update, which keeps and joins nothing damaged
        updater(index).change([NEW], [])
    assert sorted(os.listdir(index)) == [".lock", "1", "2"]
    # An index of all documents is sound again, with no document changed.
    update = updater(index).replace_all([document for document in DOCUMENTS if document.id != "d01"])
    assert Path(update.version) == index / "3"
    assert not check_version(update.version).faults
    assert answers(update.version) == sound


@pytest.mark.parametrize("change", ["cut off", "longer", "missing", "of another version"])
def test_a_file_of_another_length_or_origin_is_noticed(index: Path, change: str) -> None:
    versions = IndexVersions(index)
    for kind in KINDS:
        file = index / "2" / kind
        content = file.read_bytes()
        file.unlink()
        if change == "cut off":
            file.write_bytes(content[:-2])  # without its end, a line feed, a manifest is the same
        elif change == "longer":
            file.write_bytes(content + b"\0")
        elif change == "of another version" and (index / "1" / kind).is_file():
            # A segment of other documents, in the place of this one.
            shutil.copyfile(index / "1" / kind.replace("/0/", "/1/"), file)
        with pytest.raises(DataError, match="damaged|Cannot read|must hold"):
            CorpusIndex(str(index / "2"))
        faults = check_version(str(index / "2")).faults
        assert kind in faults or (faults and kind == MANIFEST_FILE)  # another version's is whole, its files are not
        assert versions.newest() == index / "2"  # and not silently the version before
        assert versions.way_back(index / "2").startswith("Version 1 is sound")
        file.write_bytes(content)


@pytest.mark.parametrize("number", ["1", "2"])
def test_a_manifest_of_another_version_does_not_bring_back_a_removed_document(tmp_path: Path, number: str) -> None:
    updater = IndexUpdater(model_with_words().path, IndexVersions(tmp_path))
    updater.replace_all(DOCUMENTS[:3])
    updater.change([], ["d01"])
    other_number = {"1": "2", "2": "1"}[number]
    os.replace(tmp_path / other_number / MANIFEST_FILE, tmp_path / number / MANIFEST_FILE)
    with pytest.raises(DataError, match=r"removed/0\.npy"):
        CorpusIndex(str(tmp_path / number))


def test_a_version_that_is_copied_under_a_higher_number_answers_as_it_did(index: Path) -> None:
    shutil.copytree(index / "2", index / "9")
    assert engines(index).newest() == f"9@{read_manifest(str(index / '2')).identity}"
    assert answers(index / "9") == answers(index / "2")
    assert updater(index).change([NEW], []).version == str(index / "10")


def test_damage_in_files_that_versions_share_leaves_no_way_back(index: Path) -> None:
    for file in (index / "2" / SEGMENTS / "0").iterdir():
        os.link(file, index / "1" / SEGMENTS / "0" / "link")
        os.replace(index / "1" / SEGMENTS / "0" / "link", index / "1" / SEGMENTS / "0" / file.name)
    flip(index / "2" / VECTORS, 0.9)
    with pytest.raises(DataError, match="index all documents again: `clir index`"):
        engines(index).load("2@")


def test_a_large_file_is_compared_by_its_length_where_small_ones_take_the_time(index: Path) -> None:
    manifest = read_manifest(str(index / "2"))
    sizes = sorted(record.bytes for record in manifest.paths().values())
    largest = max(manifest.paths(), key=lambda name: manifest.paths()[name].bytes)
    flip(index / "2" / largest, 0.9)
    assert file_faults(str(index / "2"), manifest, sum(sizes[:-1])) == {}
    assert [*file_faults(str(index / "2"), manifest, sum(sizes))] == [largest]
    (index / "2" / largest).write_bytes(b"")
    assert [*file_faults(str(index / "2"), manifest, 0)] == [largest]


@pytest.mark.parametrize("kind", [MANIFEST_FILE, VECTORS])
def test_a_service_keeps_the_version_before_a_damaged_one_and_says_so(index: Path, kind: str) -> None:
    os.rename(index / "2", index.parent / "2")
    watch = Watch()
    holder = EngineHolder(engines(index), watch, 1)
    holder.load_first()
    flip(index.parent / "2" / kind, 0.5)
    os.rename(index.parent / "2", index / "2")
    holder.refresh()
    holder.refresh()
    with holder.engine() as engine:
        assert engine.index_version == "1"
    assert [report[:2] for report in watch.reported] == [("swapped", "1"), ("failed", "2")]
    assert f"rm -r {index / '2'}" in watch.reported[1][2]


# An index of an earlier version of the project has no digests of the manifest, of removed rows and of near vectors.


def make_older(version: Path) -> None:
    content = json.loads((version / MANIFEST_FILE).read_text())
    for key in ("files", "of_run", "sha256"):
        del content[key]
    (version / MANIFEST_FILE).write_text(json.dumps({**content, "vectors_sha256": ""}))


def test_an_older_index_is_read_and_gets_digests_with_its_next_version(index: Path) -> None:
    sound = answers(index / "2")
    make_older(index / "2")
    assert answers(index / "2") == sound
    states = check_version(str(index / "2")).states(str(index / "2"))
    unrecorded = {name for name, state in states.items() if state == "unrecorded"}
    assert unrecorded == {MANIFEST_FILE, VECTORS_FILE, "removed/0.npy"}
    update = updater(index).change([], ["d05"])
    assert set(check_version(update.version).states(update.version).values()) == {"sound"}
    assert not any(b"d05" in hit for hits in answers(update.version) for hit in hits)


@pytest.mark.parametrize("rows", [None, [], [99]])
def test_an_older_index_without_its_removed_rows_is_refused(index: Path, rows: list[int] | None) -> None:
    make_older(index / "2")
    file = index / "2" / "removed" / "0.npy"
    file.unlink()
    if rows is not None:
        np.save(file, np.array(rows, np.int32))
    with pytest.raises(DataError, match=r"removed/0\.npy"):
        CorpusIndex(str(index / "2"))


# A run's index takes the place of another one.


@pytest.fixture
def run_index(tmp_path: Path) -> Path:
    """A run's index."""
    version = Path(updater(tmp_path / "made").replace_all(DOCUMENTS[:12]).version)
    manifest = read_manifest(str(version)).model_copy(update={"of_run": True})
    (version / MANIFEST_FILE).write_text(manifest.to_json())
    return version


def test_a_damaged_index_of_a_run_is_not_pushed(run_index: Path, tmp_path: Path) -> None:
    for kind in KINDS:
        if not kind.startswith("removed"):
            content = (run_index / kind).read_bytes()
            flip(run_index / kind, 0.9)
            with pytest.raises(DataError, match="run again"):
                push_index(str(run_index), str(tmp_path / "index"))
            assert os.listdir(tmp_path / "index") == [".lock"]
            (run_index / kind).write_bytes(content)


def test_a_damaged_version_that_a_run_pushed_is_pushed_again_unless_it_was_changed(
    run_index: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "index"
    vectors = Path(push_index(str(run_index), str(folder))) / VECTORS
    shutil.copyfile(vectors, tmp_path / "copy")
    os.replace(tmp_path / "copy", vectors)
    flip(vectors, 0.9)
    pushed = push_index(str(run_index), str(folder))
    assert (Path(pushed).name, check_version(pushed).faults) == ("2", {})
    assert not (Path(pushed) / LEFT_FILE).exists()
    changed = updater(folder).change([NEW], []).version
    flip(Path(changed) / VECTORS_FILE, 0.9)
    with caplog.at_level(logging.WARNING):
        assert push_index(str(run_index), str(folder)) == changed
    assert f"{changed} is damaged" in caplog.text and VECTORS_FILE in caplog.text
    assert f"rm -r {changed}" in caplog.text


def test_documents_that_a_user_added_leave_with_a_word_and_a_way_back(
    run_index: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "index"
    push_index(str(run_index), str(folder))
    mine, changed = Text("mine", "of mine", "un loup", 1), Text("d02", "another title", "chat", 1)
    updater(folder).change([mine, changed], ["d00"])
    with caplog.at_level(logging.WARNING):
        assert Path(push_index(str(run_index), str(folder))).name == "2"  # the same run: nothing leaves
        assert caplog.messages == []
        next_run = updater(run_index.parent).change([Text("of another run", "", "chien", 1)], []).version
        pushed = Path(push_index(next_run, str(folder), "out/serving/1"))
    (message,) = caplog.messages
    assert message.startswith(f"{pushed} replaces {folder / '2'}")
    assert "left out: 2, documents added: 3" in message
    assert message.endswith(f"clir index out/serving/1 --index {folder} --add {pushed / LEFT_FILE}")
    left_lines = (pushed / LEFT_FILE).read_text()
    assert sorted(left_lines.splitlines()) == ["d02\tanother title\tchat", "mine\tof mine\tun loup"]
    texts = [Text(*line.split("\t"), 1) for line in left_lines.splitlines()]  # type: ignore[arg-type]
    updated = CorpusIndex(updater(folder).change(texts, []).version)
    assert {"mine", "of another run"} < {document.id for document in updated.documents()}
    assert [document.title for document in updated.documents() if document.id == "d02"] == ["another title"]


def test_where_no_update_changed_the_version_before_nothing_is_said(
    run_index: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = str(tmp_path / "index")
    push_index(str(run_index), folder)
    next_run = updater(run_index.parent).replace_all(DOCUMENTS[4:]).version
    pushed = push_index(next_run, folder)
    assert caplog.messages == []
    assert not (Path(pushed) / LEFT_FILE).exists()


def test_a_push_that_meets_another_writer_is_refused_and_can_be_repeated(run_index: Path, tmp_path: Path) -> None:
    folder = tmp_path / "index"
    with IndexVersions(folder).writing():
        with pytest.raises(DataError, match="the model was pushed"):
            push_index(str(run_index), str(folder), wait_seconds=0.3)
        with pytest.raises(DataError, match="another process"):
            IndexVersions(folder).check_free()
    IndexVersions(folder).check_free()
    assert Path(push_index(str(run_index), str(folder))).name == "1"
