"""An index in Milvus: it finds what the local one finds, and whatever happens to a write, a whole version stays."""

import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import apache_beam as beam
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from components.on_workers import OnWorkers
from models.exported.model import LoadedModel
from models.lists.feedback import Feedback
from schemas.errors import DataError
from schemas.wikiclir import Text
from smooth_clir.retrieval import milvus_index, milvus_versions
from smooth_clir.retrieval.corpus_index import CorpusIndex
from smooth_clir.retrieval.folder_engines import FolderEngines
from smooth_clir.retrieval.index_versions import IndexVersions
from smooth_clir.retrieval.milvus import Milvus, import_client
from smooth_clir.retrieval.milvus_index import MilvusIndex
from smooth_clir.retrieval.milvus_settings import MilvusAddress, MilvusSettings
from smooth_clir.retrieval.milvus_versions import MilvusVersions
from smooth_clir.retrieval.search_index import SearchIndex
from smooth_clir.retrieval.update_index import IndexUpdater
from smooth_clir.retrieval.where import Where
from tests.cli.command import Clir
from tests.milvus_proxy import Change, MilvusProxy, milvus_proxy
from tests.milvus_server import MilvusServer
from tests.models.small_lexicon import export_with_words
from tests.serving.live_service import LiveService, live_service
from tests.serving.proxy import proxy

pytestmark = pytest.mark.long

TEXTS = ["chat", "chien blanc", "un chat noir", "lune", "ararat", "zzz", "chat chat chien"]
NAMES = "abcdefghij"
DOCUMENTS = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(TEXTS), max_size=8)
STEPS = st.lists(st.tuples(st.booleans(), DOCUMENTS, st.sets(st.sampled_from(NAMES), max_size=4)), max_size=4)
QUERIES = ("white cat", "dog", "moon over ararat", "zzz", "cat dog moon", "qqqq")


class Index(NamedTuple):
    """The index of a name in Milvus."""

    server: MilvusServer
    name: str
    model: LoadedModel

    @property
    def address(self) -> str:
        return self.server.address(self.name)

    def settings(self, **changes: object) -> MilvusSettings:
        return self.server.settings(self.name, **changes)

    def publish(self, version: Path, apply: Any = map, **changes: object) -> str:
        """Makes a version on disk the newest one; returns its collection."""
        return MilvusVersions(self.settings(**changes)).publish(version, apply=apply)

    def newest(self) -> MilvusIndex:
        """The newest version."""
        milvus = Milvus(MilvusAddress.parse(self.address), 5)
        collection = milvus.newest()
        assert collection
        return MilvusIndex(milvus, collection)

    def collections(self) -> set[str]:
        """The collections whose names start with the index's."""
        return {name for name in self.server.client().list_collections() if name.startswith(self.name)}

    def assert_finds_the_same(self, version: str | Path) -> None:
        """Checks that each kind of search finds what it finds in a version on disk."""
        in_milvus: SearchIndex = self.newest()
        on_disk: SearchIndex = CorpusIndex(str(version))
        assert len(in_milvus) == len(on_disk)
        for query in map(self.model.encode_query, QUERIES):
            for search, options in (
                ("search", ()),
                ("search", (self.model.feedback,)),
                ("dense_search", ()),
                ("words_search", ()),
            ):
                hits, expected = (getattr(index, search)(query, 99, *options) for index in (in_milvus, on_disk))
                assert [hit.doc_id for hit in hits] == [hit.doc_id for hit in expected]
                for part in ("score", "dense", "words", "feedback"):
                    scores, exact = ([getattr(hit, part) for hit in index_hits] for index_hits in (hits, expected))
                    assert scores == pytest.approx(exact, abs=1e-5)
                texts, stored = (
                    [text[:3] for text in index.texts([hit.position for hit in index_hits])]
                    for index, index_hits in ((in_milvus, hits), (on_disk, expected))
                )
                assert texts == stored


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return export_with_words(tmp_path_factory.mktemp("model") / "serving" / "1", feedback=Feedback(4.0, 3))


@pytest.fixture(scope="module")
def model(path: str) -> LoadedModel:
    return LoadedModel(path)


@pytest.fixture
def index(request: pytest.FixtureRequest, milvus: MilvusServer, model: LoadedModel) -> Iterator[Index]:
    """An index with a name of the test's own; the server runs again after the test."""
    name = "index_" + "".join(letter if letter.isalnum() else "_" for letter in request.node.name)[-60:]
    yield Index(milvus, name, model)
    if not milvus.runs:
        milvus.start()


@pytest.fixture(scope="module")
def versions(path: str, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three versions on disk, each of another number of documents."""
    paths = []
    for number in (3, 5, 4):
        folder = tmp_path_factory.mktemp("versions") / "index"
        documents = {f"d{row}": f"{TEXTS[row % len(TEXTS)]} {TEXTS[row % 3]}" for row in range(number)}
        paths.append(
            Path(IndexUpdater(path, IndexVersions(folder), max_documents=2).replace_all(texts_of(documents)).version)
        )
    return paths


def texts_of(documents: dict[str, str]) -> list[Text]:
    return [Text(key, f"title {key}", text, 1) for key, text in documents.items()]


# What is found


@settings(max_examples=6, deadline=None, phases=[Phase.generate])
@given(steps=STEPS)
def test_after_every_update_it_finds_what_a_new_local_index_finds(
    milvus: MilvusServer, path: str, model: LoadedModel, tmp_path_factory: pytest.TempPathFactory, steps: list[Any]
) -> None:
    folder = tmp_path_factory.mktemp("index")
    index = Index(milvus, f"steps_{folder.name}", model)
    updater = IndexUpdater(path, IndexVersions(folder), max_documents=4, milvus=MilvusVersions(index.settings()))
    updater.replace_all([])
    expected: dict[str, str] = {}
    for is_whole, documents, removed in steps:
        if is_whole:
            updater.replace_all(texts_of(documents))
            expected = dict(documents)
        else:
            updater.change(texts_of(documents), removed)
            expected = {**{key: text for key, text in expected.items() if key not in removed}, **documents}
        newest = index.newest()
        assert {document.id: document.text for document in newest.documents()} == expected
        rebuilt = IndexUpdater(path, IndexVersions(tmp_path_factory.mktemp("rebuilt"))).replace_all(texts_of(expected))
        index.assert_finds_the_same(rebuilt.version)
        assert newest.drift.model_dump(exclude={"divergence"}) == rebuilt.drift.model_dump(exclude={"divergence"})


@pytest.mark.parametrize("kind", ["flat", "ivf", "hnsw"])
def test_every_index_of_vectors_finds_the_best_and_workers_may_write_it(
    index: Index, versions: list[Path], tmp_path: Path, kind: str
) -> None:
    on_workers = OnWorkers(partial(beam.Pipeline, argv=[]), str(tmp_path / "work"))
    vector_index = {"kind": kind, "nlist": 128, "nprobe": 128}
    index.publish(versions[1], on_workers if kind == "ivf" else map, vector_index=vector_index)
    index.assert_finds_the_same(versions[1])


def test_a_candidate_of_one_channel_gets_the_score_of_the_other_too(
    index: Index, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = {f"d{number}": f"{TEXTS[number % 7]} {TEXTS[number % 5]}" for number in range(30)}
    index.publish(Path(IndexUpdater(path, IndexVersions(tmp_path / "index")).replace_all(texts_of(documents)).version))
    monkeypatch.setattr(milvus_index, "DEPTH", 3)
    newest = index.newest()
    for query in QUERIES:
        exact = dict(zip(documents, index.model.score(query, [*documents.values()])["scores"], strict=True))
        hits = newest.search(index.model.encode_query(query), 3)
        assert [hit.score for hit in hits] == pytest.approx([exact[hit.doc_id.decode()] for hit in hits], abs=1e-5)


def test_long_texts_and_all_characters_come_back_and_a_title_that_is_too_long_is_reported(
    index: Index, path: str, tmp_path: Path
) -> None:
    documents = [
        Text("é\U0001f408", "\U0001f408" * 9, "chat \U0001f408 قط " * 20_000, 1),
        Text("b", "", "\x01 % _ ' \" \\ qqqq", 2),
    ]
    updater = IndexUpdater(path, IndexVersions(tmp_path / "index"), milvus=MilvusVersions(index.settings()))
    index.assert_finds_the_same(updater.replace_all(documents).version)
    with pytest.raises(DataError, match="title of c .* 70,000"):
        updater.change([Text("c", "t" * 70_000, "chat", 1)], [])
    assert len(index.newest()) == 2
    assert updater.change([], ["c"]).documents == 2


def test_a_filter_finds_what_it_finds_on_disk_whatever_the_values_hold(
    index: Index, path: str, tmp_path: Path, clir: Clir
) -> None:
    values = ["", "es", 'f"r', "a\\\\b", "été \U0001f408", "es"]
    numbers = ["", "2020", "-3.5", "1e300", "0", "2020.0"]
    documents = [
        Text(f"d{row}", "", f"{TEXTS[row % 7]} {TEXTS[row % 3]}", 1, (values[row % 6], numbers[row % 5]))
        for row in range(30)
    ]
    updater = IndexUpdater(path, IndexVersions(tmp_path / "index"), milvus=MilvusVersions(index.settings()))
    version = updater.replace_all(documents, ["lang", "year"]).version
    on_disk, in_milvus = CorpusIndex(version), index.newest()
    assert in_milvus.fields == on_disk.fields
    assert {document.id: document.fields for document in in_milvus.documents()} == {
        document.id: (document.fields[0], document.fields[1].replace("1e300", "1e+300")) for document in documents
    }
    quoted = ('"{}"'.format(value.replace('"', '""')) for value in values[1:])
    conditions = [
        *(f"lang{sign}{value}" for value in quoted for sign in ("=", "!=")),
        *(f"year{sign}{number}" for number in ("2020", "-3.5", "0") for sign in ("=", "!=", "<", "<=", ">", ">=")),
        'lang=es|"f""r",year<=2020',
        "lang=none",
    ]
    for condition in conditions:
        where = Where.parse(condition, on_disk.fields)
        for query in map(index.model.encode_query, ("white cat", "zzz", "qqqq")):
            for feedback in (Feedback(0.0), index.model.feedback):
                hits, expected = (found.search(query, 9, feedback, where) for found in (in_milvus, on_disk))
                assert [hit.doc_id for hit in hits] == [hit.doc_id for hit in expected], condition
                assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in expected], abs=1e-5)
    with pytest.raises(DataError, match="lang of e .* 70,000"):
        updater.change([Text("e", "", "chat", 1, ("l" * 70_000, ""))], [])


def test_the_collection_is_one_that_other_programs_can_read(index: Index, versions: list[Path]) -> None:
    index.publish(versions[1])
    client, data_type = index.server.client(), import_client().DataType
    fields = {field["name"]: field["type"] for field in client.describe_collection(index.name)["fields"]}
    assert fields == {
        "number": data_type.INT64, "doc_id": data_type.VARCHAR, "title": data_type.VARCHAR, "text": data_type.ARRAY,
        "vector": data_type.FLOAT_VECTOR, "terms": data_type.SPARSE_FLOAT_VECTOR,
        "own_terms": data_type.SPARSE_FLOAT_VECTOR,
    }  # fmt: skip
    (row,) = client.query(index.name, filter='doc_id == "d1"', output_fields=["title", "text"])
    assert (row["title"], "".join(row["text"])) == ("title d1", "chien blanc chien blanc")


# Versions


def test_the_version_before_stays_and_older_ones_and_unfinished_ones_go(index: Index, versions: list[Path]) -> None:
    first = index.publish(versions[0])
    with pytest.raises(ZeroDivisionError):
        index.publish(versions[0], lambda *_: [1 / 0], vector_index={"kind": "hnsw"})
    assert len(index.collections()) == 2
    second = index.publish(versions[1])
    assert index.collections() == {first, second}
    assert index.publish(versions[1]) == second
    assert index.collections() == {first, second}
    third = index.publish(versions[2])
    assert index.collections() == {second, third}
    # Back to the one before, which is still whole: nothing is written.
    assert index.publish(versions[1], lambda *_: [1 / 0]) == second
    assert len(index.newest()) == 5


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
    index: Index, versions: list[Path], monkeypatch: pytest.MonkeyPatch, method: str, call: int, is_switched: bool
) -> None:
    first = index.publish(versions[0])
    calls: list[str] = []

    def ask(milvus: Milvus, called: str, *arguments: Any, **named: Any) -> Any:
        calls.append(called)
        if calls.count(method) == call:
            raise Killed
        return original(milvus, called, *arguments, **named)

    original = Milvus.ask
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(Milvus, "ask", ask)
        index.publish(versions[1])
    index.assert_finds_the_same(versions[is_switched])
    second = index.publish(versions[1])
    index.assert_finds_the_same(versions[1])
    assert index.collections() == {first, second}


def test_of_two_writers_the_first_to_finish_wins_and_the_other_is_told_which(
    index: Index, versions: list[Path]
) -> None:
    def meanwhile(write: Callable[[Any], int], records: Iterable[Any]) -> Iterator[int]:
        first, *remaining = records
        yield write(first)
        won.append(index.publish(versions[2]))
        yield from map(write, remaining)

    won: list[str] = []
    index.publish(versions[0])
    with pytest.raises(DataError, match="another process published .* with 4 documents") as error:
        index.publish(versions[1], meanwhile)
    assert won[0] in str(error.value)
    index.assert_finds_the_same(versions[2])
    index.publish(versions[1])
    assert len(index.newest()) == 5


def test_a_collection_of_somebody_else_is_never_touched(
    index: Index, versions: list[Path], path: str, clir: Clir
) -> None:
    client, name = index.server.client(), index.name
    client.create_collection(name, dimension=4)
    client.insert(name, [{"id": 1, "vector": [0.5] * 4}])
    with pytest.raises(DataError, match=f"names the collection {name}"):
        MilvusVersions(index.settings())
    answer = clir("search", Path(path).parents[1], "cat", "--index", index.address)
    assert (answer.code, name in answer.err) == (1, True)
    # An alias of such a collection, and one that looks like an old version.
    client.create_alias(name, f"{name}_alias")
    with pytest.raises(DataError, match=name):
        MilvusVersions(index._replace(name=f"{name}_alias").settings())
    beside = index._replace(name=name[:-1])
    client.create_collection(f"{beside.name}_0123456789abcdef", dimension=4)
    for version in versions:
        beside.publish(version)
    assert {name, f"{beside.name}_0123456789abcdef"} <= beside.collections()
    assert client.query(name, filter="id == 1")[0]["id"] == 1


def test_the_index_of_another_model_is_refused_and_replaced_only_as_a_whole(
    index: Index, path: str, clir: Clir, tmp_path: Path
) -> None:
    documents, first, second = tmp_path / "documents", tmp_path / "first", tmp_path / "second"
    documents.write_text("a\tLe chat\tun chat blanc\n")
    shutil.copytree(path, first / "serving" / "1")
    export_with_words(second / "serving" / "1", "bm25")
    in_milvus = ("--index", index.address)
    assert clir("index", first, "--documents", documents, *in_milvus).code == 0
    assert clir("search", first, "cat", *in_milvus).code == 0
    answer = clir("search", second, "cat", *in_milvus)
    assert (answer.code, "No model in" in answer.err) == (1, True)
    assert clir("index", second, "--documents", documents).code == 0
    answer = clir("index", second, "--add", documents, *in_milvus)
    assert (answer.code, "was made from another folder" in answer.err) == (1, True)
    answer = clir("index", second, "--documents", documents, *in_milvus)
    assert (answer.code, "; version 1 replaces it" in answer.err) == (0, True)
    assert clir("search", second, "cat", *in_milvus).code == 0


def test_a_collection_that_lost_documents_is_refused_and_written_again(index: Index, versions: list[Path]) -> None:
    collection = index.publish(versions[1])
    published = MilvusVersions(index.settings())
    assert published.fault_of(versions[1]) == ""
    assert collection in published.fault_of(versions[0])
    index.server.client().delete(collection, filter="number >= 65536")
    with pytest.raises(DataError, match="must hold 5 documents; it holds 2"):
        index.newest()
    assert published.fault_of(versions[1]) == "must hold 5 documents; it holds 2"
    assert index.publish(versions[1]) == collection
    index.assert_finds_the_same(versions[1])


def test_another_address_leaves_the_index_of_the_run_as_it_is(
    index: Index, path: str, clir: Clir, tmp_path: Path
) -> None:
    def documents(*texts: str) -> Path:
        file = tmp_path / "documents"
        file.write_text("".join(f"d{number}\t{text}\n" for number, text in enumerate(texts)))
        return file

    run, in_milvus = tmp_path / "run", ("--index", index.address.replace("milvus:", "MILVUS:"))
    shutil.copytree(path, run / "serving" / "1")
    assert clir("index", run, "--documents", documents("chat", "chien blanc")).code == 0
    before = sorted((run / "index").rglob("*"))
    added = clir("index", run, "--add", documents("chat", "chien blanc", "lune"), *in_milvus, "--json")
    assert (added.code, json.loads(added.out)["documents"]) == (0, 3)  # it begins with the run's
    for text in ("un chat", "un chien", "une lune"):
        assert clir("index", run, "--documents", documents(text), *in_milvus).code == 0
    assert clir("index", run, "--documents", documents(70_000 * "t" + "\tun chat"), *in_milvus).code == 1
    assert sorted((run / "index").rglob("*")) == before
    assert clir("index", run, "--check").code == 0


@pytest.mark.parametrize("restarts", [True, False])
def test_a_collection_that_is_not_loaded_is_loaded_when_it_is_needed(
    index: Index, versions: list[Path], restarts: bool
) -> None:
    collection = index.publish(versions[1])
    uses: list[Callable[[], object]] = [
        lambda: index.assert_finds_the_same(versions[1]),
        lambda: index.publish(versions[1]),
        lambda: MilvusVersions(index.settings()).fault_of(versions[1]),
        partial(index.newest().search, index.model.encode_query("cat"), 3),
        lambda: [*opened.documents()],
    ]
    opened = index.newest()
    for use in uses:
        if restarts:
            index.server.kill()
            index.server.start()
        else:
            index.server.client().release_collection(collection)
        use()
        assert index.server.client().get_load_state(collection)["state"].name == "Loaded"


# Answers that a server of Milvus does not give


def numbers_of(message: Any) -> Any:
    """The ids of a search's answer."""
    return message.results.ids.int_id.data


def column(name: str, answer: Any) -> Any:
    """A column of an answer."""
    columns = answer.results.fields_data if hasattr(answer, "results") else answer.fields_data
    return next(field for field in columns if field.field_name == name)


def without(name: str) -> Change:
    def remove(answer: Any) -> None:
        columns = answer.results.fields_data if hasattr(answer, "results") else answer.fields_data
        columns.remove(column(name, answer))

    return remove


def change_type(name: str, answer: Any) -> None:
    """Gives numbers for the texts of a column."""
    field = column(name, answer)
    field.type = 5
    field.scalars.long_data.data.extend(range(len(field.scalars.string_data.data)))


def fewer_rows(answer: Any) -> None:
    for field in answer.fields_data:
        del getattr(field.scalars, field.scalars.WhichOneof("data")).data[1:]


def no_number(answer: Any) -> None:
    answer.results.scores[:] = [float("nan")] * len(answer.results.scores)


def numbered(change: Callable[[int], int]) -> Change:
    """Changes the ids of a search's answer."""

    def renumber(answer: Any) -> None:
        numbers_of(answer)[:] = [change(number) for number in numbers_of(answer)]

    return renumber


ANSWERS: dict[str, tuple[str, Change]] = {
    "ids of no row": ("Search", numbered(lambda number: number + 99)),
    "ids below 0": ("Search", numbered(lambda number: -1 - number)),
    "one id": ("Search", numbered(lambda number: 0)),
    "ids of texts": ("Search", lambda answer: answer.results.ids.str_id.data.extend(map(str, numbers_of(answer)))),
    "fewer ids": ("Search", lambda answer: numbers_of(answer).pop()),
    "fewer scores": ("Search", lambda answer: answer.results.scores.pop()),
    "scores that are no number": ("Search", no_number),
    "a vector that is no number": (
        "Search",
        lambda answer: column("vector", answer).vectors.float_vector.data.__setitem__(0, float("nan")),
    ),
    "shorter vectors": ("Search", lambda answer: setattr(column("vector", answer).vectors, "dim", 3)),
    "too few numbers": ("Search", lambda answer: column("vector", answer).vectors.float_vector.data.pop()),
    "a longer answer": ("Search", lambda answer: answer.results.topks.__setitem__(0, 99)),
    "a shorter answer": ("Search", lambda answer: answer.results.topks.__setitem__(0, 1)),
    "no answer to the query": ("Search", lambda answer: answer.results.topks.pop()),
    "no results": ("Search", lambda answer: answer.results.Clear()),
    "no ids of documents": ("Search", without("doc_id")),
    "no vectors": ("Search", without("vector")),
    "no bytes": ("Search", lambda answer: b""),
    "other bytes": ("Search", lambda answer: b"\xff" * 9),
    "deep nesting": ("Search", lambda answer: b"\x0b" * 100_000),
    "no rows": ("Query", lambda answer: answer.ClearField("fields_data")),
    "fewer rows": ("Query", fewer_rows),
    "the row of another": ("Query", lambda answer: column("number", answer).scalars.long_data.data.__setitem__(0, 77)),
    "another document": (
        "Query",
        lambda answer: column("doc_id", answer).scalars.string_data.data.__setitem__(0, "other"),
    ),
    "titles of numbers": ("Query", partial(change_type, "title")),
    "ids of numbers": ("Query", partial(change_type, "doc_id")),
    **{f"no {name}": ("Query", without(name)) for name in ("number", "doc_id", "title", "text")},
    "no bytes of texts": ("Query", lambda answer: b""),
}


@pytest.fixture(scope="module")
def proxied(milvus: MilvusServer, versions: list[Path], path: str) -> Iterator[tuple[MilvusProxy, LiveService]]:
    """A service whose Milvus is the server behind a proxy."""
    MilvusVersions(milvus.settings("asked")).publish(versions[1])
    with milvus_proxy(milvus.port) as opened:
        source = FolderEngines(str(Path(path).parent), f"milvus://127.0.0.1:{opened.port}/asked", seconds=1)
        with live_service(source, poll_seconds=999) as live:
            yield opened, live


@pytest.mark.parametrize("case", ANSWERS)
def test_a_service_gives_the_reason_when_milvus_answers_nonsense(
    proxied: tuple[MilvusProxy, LiveService], case: str
) -> None:
    opened, live = proxied
    method, change = ANSWERS[case]
    opened.changes = {method: change}
    answer = live.client.get("/v1/search?q=white cat")
    opened.changes = {}
    assert answer.status_code == 503, answer.text
    assert re.search("Milvus (at|answers at)|index has no document", answer.json()["error"])
    assert len(live.client.get("/v1/search?q=white cat").json()["results"]) == 5


@pytest.mark.parametrize(
    ("method", "change"),
    [
        ("DescribeAlias", lambda answer: b""),
        ("DescribeCollection", lambda answer: b""),
        ("DescribeCollection", lambda answer: setattr(answer.properties[0], "value", "[" * 100_000)),
        ("DescribeCollection", lambda answer: setattr(answer.properties[0], "value", "{}")),
        ("Query", lambda answer: answer.ClearField("fields_data")),
        ("Query", lambda answer: column("count(*)", answer).scalars.long_data.data.append(5)),
    ],
)
def test_an_index_that_milvus_describes_wrongly_is_not_opened(
    proxied: tuple[MilvusProxy, LiveService], path: str, method: str, change: Change
) -> None:
    proxied[0].changes = {method: change}
    engines = FolderEngines(str(Path(path).parent), f"milvus://127.0.0.1:{proxied[0].port}/asked", seconds=1)
    with pytest.raises(DataError, match="milvus://"):
        engines.load(engines.newest() or "")
    proxied[0].changes = {}


# The connection


def test_a_server_that_goes_while_documents_are_written_is_reported(
    index: Index, versions: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def meanwhile(write: Callable[[Any], int], records: Iterable[Any]) -> Iterator[int]:
        first, *remaining = records
        yield write(first)
        index.server.kill()
        yield from map(write, remaining)

    monkeypatch.setattr(milvus_versions, "_WRITE_SECONDS", 2)
    index.publish(versions[0])
    with pytest.raises(DataError, match="no Milvus answers at milvus://"):
        index.publish(versions[1], meanwhile)
    index.server.start()
    index.publish(versions[1])
    index.assert_finds_the_same(versions[1])


def test_a_service_says_so_while_the_server_is_gone_and_goes_on_after_it(
    index: Index, versions: list[Path], path: str
) -> None:
    index.publish(versions[0])
    source = FolderEngines(str(Path(path).parent), index.address, seconds=2)
    with live_service(source, poll_seconds=0.5) as live:
        assert live.client.get("/v1/search?q=cat").json()["results"]
        index.server.kill()
        answer = live.client.get("/v1/search?q=cat")
        assert answer.status_code == 503
        assert "no Milvus answers at milvus://" in answer.json()["error"]
        assert live.client.post("/v1/rank", json={"query": "cat", "documents": ["chat"]}).status_code == 200
        index.server.start()
        index.publish(versions[1])
        deadline = time.monotonic() + 60
        while live.client.get("/v1/collection").json()["documents"] != 5:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert live.client.get("/v1/search?q=cat").status_code == 200


def test_a_server_that_is_away_for_a_moment_is_asked_again(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smooth_clir.retrieval.milvus._CONNECT_SECONDS", 60)
    index.server.kill()
    back = threading.Timer(2, index.server.start)
    back.start()
    try:
        assert Milvus(MilvusAddress.parse(index.address)).newest() is None
    finally:
        back.join()


def test_an_idle_connection_sends_nothing(index: Index) -> None:
    with proxy(index.server.port) as opened:
        connection = Milvus(MilvusAddress.parse(f"milvus://127.0.0.1:{opened.port}/{index.name}"), 5)
        assert connection.newest() is None
        time.sleep(1)  # what belongs to the answer has come
        before = len(opened.received)
        time.sleep(11)
        assert len(opened.received) == before > 0
        assert connection.newest() is None
        assert len(opened.received) > before


def test_a_connection_may_be_encrypted(index: Index, versions: list[Path], tmp_path: Path) -> None:
    index.publish(versions[0])
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2"]
    openssl = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate]
    subprocess.run([*openssl, *subject], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with proxy(index.server.port, context) as opened:
        address = f"milvus+tls://localhost:{opened.port}/{index.name}"
        script = (
            "import sys; from smooth_clir.retrieval.milvus import *; "
            "print(Milvus(MilvusAddress.parse(sys.argv[1]), 5).newest())"
        )
        trusting = {**os.environ, "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH": str(certificate)}
        command = [sys.executable, "-c", script, address]
        process = subprocess.run(command, env=trusting, capture_output=True, text=True, check=True)
        assert process.stdout.startswith(index.name)
        with pytest.raises(DataError, match="no Milvus answers at"):
            Milvus(MilvusAddress.parse(address), 5)
