"""CollectionGen with TFX's artifacts."""

import gzip
from hashlib import sha256
from pathlib import Path

import pytest

from schemas.collection import COPIES_FILE, MANIFEST_FILE, parse_judgments, parse_manifest, read_texts
from schemas.errors import DataError
from schemas.wikiclir import Judgment

pytestmark = pytest.mark.stages  # it imports TFX

CONTENTS = {
    "queries": b"q1\tWolf\tlives in packs\n",
    "documents": gzip.compress("d1\tLoup\tvit en meute\nbroken\nd2\tÉlan\tvit au nord\n".encode()),
    "judgments": b"q1\td1\t3\nq1\td2\t4\n",
}


@pytest.fixture
def run(tmp_path, make_artifact):
    """Runs the stage on files, with the digests of some content; returns the artifact's folder."""
    from components.collection_gen.component import CollectionGen

    def run(digested=CONTENTS):
        for role, content in CONTENTS.items():
            (tmp_path / role).write_bytes(content)
        collection = make_artifact("Collection", tmp_path)
        paths = {role: [str(tmp_path / role)] for role in CONTENTS}
        digests = {role: sha256(content).hexdigest() for role, content in digested.items()}
        CollectionGen.test_call(collection, map, paths, digests, top_grade=3)
        return Path(collection.uri)

    return run


def test_the_artifact_holds_the_records_of_the_files_and_nothing_else(run, tmp_path):
    folder = run()
    roles = parse_manifest((folder / MANIFEST_FILE).read_text())
    assert [[file.path for file in role.files] for role in roles.values()] == [[str(tmp_path / r)] for r in CONTENTS]
    queries, documents, judgments = (role.shards[0] for role in roles.values())
    with (folder / documents.name).open("rb") as stream:
        assert [text.line for text in read_texts(stream, documents)] == [1, 3]
    with (folder / judgments.name).open("rb") as stream:
        assert [*parse_judgments(stream, judgments.first_line)] == [Judgment("q1", "d1", 3, "", 1)]
    shards = {queries.name, queries.ids_name, documents.name, documents.ids_name, judgments.name}
    assert {path.name for path in folder.iterdir()} == {MANIFEST_FILE, COPIES_FILE, *shards}


def test_a_file_that_changed_since_the_digest_was_taken_is_refused(run, tmp_path):
    with pytest.raises(DataError, match=f"{tmp_path}/documents"):
        run({**CONTENTS, "documents": b"what stood there before"})
