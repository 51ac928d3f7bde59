"""An index in Milvus: it finds what the local one finds, and whatever happens to a write, the version before stays."""

import os
import shutil
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from components.index_pusher import milvus_versions
from components.index_pusher.index_versions import IndexVersions
from components.index_pusher.milvus_versions import MilvusVersions
from components.on_workers import OnWorkers
from models.exported.model import LoadedModel
from models.retrieval import milvus_index
from models.retrieval.corpus_index import CorpusIndex
from models.retrieval.milvus_index import Milvus, MilvusIndex, import_client
from models.retrieval.milvus_settings import MilvusAddress
from models.retrieval.search_index import SearchIndex
from schemas.errors import DataError
from schemas.wikiclir import Text
from serving.newest_engine import FolderEngines
from serving.update_index import IndexUpdater
from tests.cli.command import Clir
from tests.milvus_server import MilvusServer
from tests.models.small_lexicon import export_with_words
from tests.serving.live_service import live_service
from tests.serving.proxy import proxy

pytestmark = pytest.mark.long

TEXTS = ["chat", "chien blanc", "un chat noir", "lune", "ararat", "zzz", "chat chat chien"]
NAMES = "abcdefghij"
DOCUMENTS = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(TEXTS), max_size=8)
STEPS = st.lists(st.tuples(st.booleans(), DOCUMENTS, st.sets(st.sampled_from(NAMES), max_size=4)), max_size=4)
QUERIES = ("white cat", "dog", "moon over ararat", "zzz", "cat dog moon", "qqqq")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return export_with_words(tmp_path_factory.mktemp("model") / "serving" / "1")


@pytest.fixture(scope="module")
def model(path: str) -> LoadedModel:
    return LoadedModel(path)


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A name of the test's own."""
    return "".join(letter if letter.isalnum() else "_" for letter in request.node.name)[:60]


def texts_of(documents: dict[str, str]) -> list[Text]:
    return [Text(key, f"title {key}", text, 1) for key, text in documents.items()]


def searchable_at(address: str) -> MilvusIndex:
    """The newest version at an address."""
    milvus = Milvus(MilvusAddress.parse(address), 5)
    collection = milvus.newest()
    assert collection
    return MilvusIndex(milvus, collection)


def assert_finds_the_same(model: LoadedModel, there: SearchIndex, here: SearchIndex, most: int = 99) -> None:
    assert len(there) == len(here)
    for query in map(model.encode_query, QUERIES):
        for search in ("search", "dense_search", "words_search"):
            found, expected = (getattr(index, search)(query, most) for index in (there, here))
            assert [one.doc_id for one in found] == [one.doc_id for one in expected]
            for part in ("score", "dense", "words"):
                of_found, of_expected = ([getattr(one, part) for one in ones] for ones in (found, expected))
                assert of_found == pytest.approx(of_expected, abs=1e-5)
            assert [(text.id, text.title, text.text) for text in there.texts([one.place for one in found])] == [
                (text.id, text.title, text.text) for text in here.texts([one.place for one in expected])
            ]


def collections(server: MilvusServer, name: str) -> set[str]:
    return {one for one in server.client().list_collections() if one.startswith(name)}


@settings(max_examples=4, deadline=None, phases=[Phase.generate])
@given(steps=STEPS)
def test_after_every_update_it_finds_what_a_new_local_index_finds(
    milvus: MilvusServer, path: str, model: LoadedModel, tmp_path_factory: pytest.TempPathFactory, steps: list[Any]
) -> None:
    folder = tmp_path_factory.mktemp("index")
    engine = milvus.settings(f"steps_{folder.name}")
    updater = IndexUpdater(path, IndexVersions(folder), most=4, milvus=MilvusVersions(engine))
    updater.replace_all([])
    expected: dict[str, str] = {}
    for is_whole, documents, removed in steps:
        if is_whole:
            updater.replace_all(texts_of(documents))
            expected = dict(documents)
        else:
            updater.change(texts_of(documents), removed)
            expected = {**{key: text for key, text in expected.items() if key not in removed}, **documents}
        index = searchable_at(str(engine.address))
        assert {one.id: one.text for one in index.documents()} == expected
        rebuilt = IndexUpdater(path, IndexVersions(tmp_path_factory.mktemp("rebuilt"))).replace_all(texts_of(expected))
        assert_finds_the_same(model, index, CorpusIndex(rebuilt.version))
        assert index.drift.model_dump(exclude={"divergence"}) == rebuilt.drift.model_dump(exclude={"divergence"})


@pytest.fixture(scope="module")
def versions(path: str, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three versions on disk, each of another number of documents."""
    made = []
    for number in (3, 5, 4):
        folder = tmp_path_factory.mktemp("versions") / "index"
        documents = {f"d{one}": f"{TEXTS[one % len(TEXTS)]} {TEXTS[one % 3]}" for one in range(number)}
        made.append(Path(IndexUpdater(path, IndexVersions(folder), most=2).replace_all(texts_of(documents)).version))
    return made


def test_the_version_before_stays_and_older_ones_and_unfinished_ones_go(
    milvus: MilvusServer, versions: list[Path], name: str
) -> None:
    published = MilvusVersions(milvus.settings(name))
    first = published.publish(versions[0])
    unfinished = MilvusVersions(milvus.settings(name, vector_index={"kind": "hnsw"}))
    with pytest.raises(ZeroDivisionError):
        unfinished.publish(versions[0], apply=lambda *_: [1 / 0])
    assert len(collections(milvus, name)) == 2
    second = published.publish(versions[1])
    assert collections(milvus, name) == {first, second}
    assert published.publish(versions[1]) == second
    assert collections(milvus, name) == {first, second}
    third = published.publish(versions[2])
    assert collections(milvus, name) == {second, third}
    # Back to the one before, which is still whole: nothing is written.
    assert published.publish(versions[1], apply=lambda *_: [1 / 0]) == second
    assert len(searchable_at(milvus.address(name))) == 5


class Killed(BaseException):
    """Ends a process where it is."""


@pytest.mark.parametrize(
    ("method", "call", "is_switched"),
    [
        ("upsert", 3, False),
        ("create_index", 1, False),
        ("alter_collection_properties", 1, False),
        ("alter_alias", 1, False),
        ("list_collections", 1, True),
    ],
)
def test_a_kill_at_any_moment_leaves_a_whole_version_and_the_same_command_completes_the_new_one(
    milvus: MilvusServer,
    versions: list[Path],
    model: LoadedModel,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    call: int,
    is_switched: bool,
) -> None:
    published = MilvusVersions(milvus.settings(name))
    first = published.publish(versions[0])
    calls: list[str] = []

    def ask(milvus: Milvus, asked: str, *arguments: Any, **named: Any) -> Any:
        calls.append(asked)
        if calls.count(method) == call:
            raise Killed
        return original(milvus, asked, *arguments, **named)

    original = Milvus.ask
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(Milvus, "ask", ask)
        published.publish(versions[1])
    assert_finds_the_same(model, searchable_at(milvus.address(name)), CorpusIndex(str(versions[is_switched])))
    second = MilvusVersions(milvus.settings(name)).publish(versions[1])
    assert_finds_the_same(model, searchable_at(milvus.address(name)), CorpusIndex(str(versions[1])))
    assert collections(milvus, name) == {first, second}


def test_of_two_writers_the_first_to_finish_wins_and_the_other_is_told(
    milvus: MilvusServer, versions: list[Path], model: LoadedModel, name: str
) -> None:
    engine = milvus.settings(name)
    MilvusVersions(engine).publish(versions[0])

    def meanwhile(put: Callable[[Any], int], records: Iterable[Any]) -> Iterator[int]:
        first, *others = records
        yield put(first)
        MilvusVersions(engine).publish(versions[2])
        yield from map(put, others)

    with pytest.raises(DataError, match="refused upsert|meanwhile"):
        MilvusVersions(engine).publish(versions[1], apply=meanwhile)
    assert_finds_the_same(model, searchable_at(milvus.address(name)), CorpusIndex(str(versions[2])))
    MilvusVersions(engine).publish(versions[1])
    assert len(searchable_at(milvus.address(name))) == 5


def test_a_collection_of_somebody_else_is_never_touched(
    milvus: MilvusServer, versions: list[Path], path: str, clir: Clir, name: str
) -> None:
    client = milvus.client()
    client.create_collection(name, dimension=4)
    client.insert(name, [{"id": 1, "vector": [0.5] * 4}])
    with pytest.raises(DataError, match=f"there is the collection {name}, which `clir` did not write"):
        MilvusVersions(milvus.settings(name))
    answer = clir("search", Path(path).parents[1], "cat", "--index", milvus.address(name))
    assert (answer.code, "did not write" in answer.err) == (1, True)
    # An alias of such a collection, and one that looks like an old version.
    client.create_alias(name, f"{name}_alias")
    with pytest.raises(DataError, match="did not write"):
        MilvusVersions(milvus.settings(f"{name}_alias"))
    beside = MilvusVersions(milvus.settings(name[:-1]))
    client.create_collection(f"{name[:-1]}_0123456789abcdef", dimension=4)
    for version in versions:
        beside.publish(version)
    assert {name, f"{name[:-1]}_0123456789abcdef"} <= collections(milvus, name[:-1])
    assert client.query(name, filter="id == 1")[0]["id"] == 1


def test_the_index_of_another_model_is_refused_and_replaced_only_as_a_whole(
    milvus: MilvusServer, path: str, clir: Clir, tmp_path: Path, name: str
) -> None:
    documents, address = tmp_path / "documents", milvus.address(name)
    documents.write_text("a\tLe chat\tun chat blanc\n")
    first, second = tmp_path / "first", tmp_path / "second"
    shutil.copytree(path, first / "serving" / "1")
    export_with_words(second / "serving" / "1", "bm25")
    assert clir("index", first, "--documents", documents, "--index", address).code == 0
    assert clir("search", first, "cat", "--index", address).code == 0
    answer = clir("search", second, "cat", "--index", address)
    assert (answer.code, "must be the index of a model in" in answer.err) == (1, True)
    assert clir("index", second, "--documents", documents).code == 0
    answer = clir("index", second, "--add", documents, "--index", address)
    assert (answer.code, "must be in this folder to be changed" in answer.err) == (1, True)
    answer = clir("index", second, "--documents", documents, "--index", address)
    assert (answer.code, "; version 1 takes its place" in answer.err) == (0, True)
    assert clir("search", second, "cat", "--index", address).code == 0


def test_a_collection_that_lost_documents_is_refused_and_written_again(
    milvus: MilvusServer, versions: list[Path], model: LoadedModel, name: str
) -> None:
    published = MilvusVersions(milvus.settings(name))
    collection = published.publish(versions[1])
    assert published.fault_of(versions[1]) == ""
    assert "must hold the version 1; it holds" in published.fault_of(versions[0])
    milvus.client().delete(collection, filter="number >= 65536")
    with pytest.raises(DataError, match="must hold 5 documents; it holds 2"):
        searchable_at(milvus.address(name))
    assert published.fault_of(versions[1]) == "must hold 5 documents; it holds 2"
    assert published.publish(versions[1]) == collection
    assert_finds_the_same(model, searchable_at(milvus.address(name)), CorpusIndex(str(versions[1])))


def test_long_texts_and_all_characters_come_back_and_a_title_that_is_too_long_is_reported(
    milvus: MilvusServer, path: str, model: LoadedModel, tmp_path: Path, name: str
) -> None:
    documents = [
        Text("é\U0001f408", "\U0001f408" * 9, "chat \U0001f408 قط " * 20_000, 1),
        Text("b", "", "\x01 % _ ' \" \\ qqqq", 2),
    ]
    folder = IndexVersions(tmp_path / "index")
    updater = IndexUpdater(path, folder, milvus=MilvusVersions(milvus.settings(name)))
    update = updater.replace_all(documents)
    assert_finds_the_same(model, searchable_at(milvus.address(name)), CorpusIndex(update.version))
    with pytest.raises(DataError, match="title of c must be at most 65,535 long in Milvus; got 70,000"):
        updater.change([Text("c", "t" * 70_000, "chat", 1)], [])
    assert len(searchable_at(milvus.address(name))) == 2
    assert updater.change([], ["c"]).documents == 2


@pytest.mark.parametrize("kind", ["flat", "ivf", "hnsw"])
def test_every_index_of_vectors_that_workers_write_finds_the_best(
    milvus: MilvusServer, versions: list[Path], model: LoadedModel, tmp_path: Path, name: str, kind: str
) -> None:
    engine = milvus.settings(name, vector_index={"kind": kind, "nlist": 128, "nprobe": 128})
    on_workers = OnWorkers(partial(beam.Pipeline, argv=[]), str(tmp_path / "work"))
    MilvusVersions(engine).publish(versions[1], apply=on_workers if kind == "ivf" else map)
    assert_finds_the_same(model, searchable_at(milvus.address(name)), CorpusIndex(str(versions[1])))


def test_a_candidate_of_one_channel_gets_the_score_of_the_other_too(
    milvus: MilvusServer, path: str, model: LoadedModel, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = {f"d{number}": f"{TEXTS[number % 7]} {TEXTS[number % 5]}" for number in range(30)}
    update = IndexUpdater(path, IndexVersions(tmp_path / "index")).replace_all(texts_of(documents))
    MilvusVersions(milvus.settings(name)).publish(Path(update.version))
    monkeypatch.setattr(milvus_index, "DEPTH", 3)
    index = searchable_at(milvus.address(name))
    for query in QUERIES:
        exact = dict(zip(documents, model.score(query, [*documents.values()])["scores"], strict=True))
        found = index.search(model.encode_query(query), 3)
        assert [one.score for one in found] == pytest.approx([exact[one.doc_id.decode()] for one in found], abs=1e-5)


@pytest.fixture
def mortal(milvus: MilvusServer) -> Iterator[MilvusServer]:
    """The server, which a test may kill."""
    yield milvus
    if not milvus.runs:
        milvus.start()


def test_a_server_that_goes_while_documents_are_written_is_reported(
    mortal: MilvusServer, versions: list[Path], model: LoadedModel, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(milvus_versions, "_WRITE_SECONDS", 2)
    engine = mortal.settings(name)
    MilvusVersions(engine).publish(versions[0])

    def meanwhile(put: Callable[[Any], int], records: Iterable[Any]) -> Iterator[int]:
        first, *others = records
        yield put(first)
        mortal.kill()
        yield from map(put, others)

    with pytest.raises(DataError, match="no Milvus answers at milvus://"):
        MilvusVersions(engine).publish(versions[1], apply=meanwhile)
    mortal.start()
    MilvusVersions(engine).publish(versions[1])
    assert_finds_the_same(model, searchable_at(mortal.address(name)), CorpusIndex(str(versions[1])))


def test_a_service_says_so_while_the_server_is_gone_and_goes_on_after_it(
    mortal: MilvusServer, versions: list[Path], path: str, name: str
) -> None:
    MilvusVersions(mortal.settings(name)).publish(versions[0])
    source = FolderEngines(str(Path(path).parent), mortal.address(name), seconds=2)
    with live_service(source, poll_seconds=0.5) as live:
        assert live.client.get("/v1/search?q=cat").json()["results"]
        mortal.kill()
        answer = live.client.get("/v1/search?q=cat")
        assert answer.status_code == 503
        assert "no Milvus answers at milvus://" in answer.json()["error"]
        assert live.client.post("/v1/rank", json={"query": "cat", "documents": ["chat"]}).status_code == 200
        mortal.start()
        MilvusVersions(mortal.settings(name)).publish(versions[1])
        deadline = time.monotonic() + 60
        while live.client.get("/v1/collection").json()["documents"] != 5:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert live.client.get("/v1/search?q=cat").status_code == 200


def test_a_server_that_is_away_for_a_moment_is_asked_again(
    mortal: MilvusServer, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(milvus_index, "_CONNECT_SECONDS", 60)
    mortal.kill()
    back = threading.Timer(2, mortal.start)
    back.start()
    try:
        assert Milvus(MilvusAddress.parse(mortal.address(name))).newest() is None
    finally:
        back.join()


def test_an_idle_connection_sends_nothing(milvus: MilvusServer, name: str) -> None:
    with proxy(milvus.port) as opened:
        connection = Milvus(MilvusAddress.parse(f"milvus://127.0.0.1:{opened.port}/{name}"), 5)
        assert connection.newest() is None
        time.sleep(1)  # what belongs to the answer has come
        before = len(opened.received)
        time.sleep(11)
        assert len(opened.received) == before > 0
        assert connection.newest() is None
        assert len(opened.received) > before


def test_a_connection_may_be_encrypted(milvus: MilvusServer, versions: list[Path], tmp_path: Path, name: str) -> None:
    MilvusVersions(milvus.settings(name)).publish(versions[0])
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, *subject],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with proxy(milvus.port, context) as opened:
        address = f"milvus+tls://localhost:{opened.port}/{name}"
        script = (
            "import sys; from models.retrieval.milvus_index import *; "
            "print(Milvus(MilvusAddress.parse(sys.argv[1]), 5).newest())"
        )
        trusting = {**os.environ, "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH": str(certificate)}
        command = [sys.executable, "-c", script, address]
        done = subprocess.run(command, env=trusting, capture_output=True, text=True, check=True)
        assert done.stdout.startswith(name)
        with pytest.raises(DataError, match="no Milvus answers at"):
            Milvus(MilvusAddress.parse(address), 5)


def test_the_collection_is_one_that_other_programs_can_read(
    milvus: MilvusServer, versions: list[Path], name: str
) -> None:
    MilvusVersions(milvus.settings(name)).publish(versions[1])
    client, data_type = milvus.client(), import_client().DataType
    fields = {one["name"]: one["type"] for one in client.describe_collection(name)["fields"]}
    assert fields == {
        "number": data_type.INT64, "doc_id": data_type.VARCHAR, "title": data_type.VARCHAR, "text": data_type.ARRAY,
        "vector": data_type.FLOAT_VECTOR, "terms": data_type.SPARSE_FLOAT_VECTOR,
    }  # fmt: skip
    (row,) = client.query(name, filter='doc_id == "d1"', output_fields=["title", "text"])
    assert (row["title"], "".join(row["text"])) == ("title d1", "chien blanc chien blanc")
