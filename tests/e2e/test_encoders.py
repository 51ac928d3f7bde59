"""Pre-trained encoders of every kind, from files to search: what is encoded when, and what is said where one fails."""

import json
import os
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pytest

from models.encoders.endpoint import PROBES
from models.encoders.text_vectors import stored_form, text_keys
from tests.cli.command import Answer, Clir
from tests.e2e import forked
from tests.e2e.forked import Kill
from tests.e2e.process import DECIDES, SAMPLE, told_stages
from tests.models.loaded_once import loaded_once

pytestmark = pytest.mark.runs

DIM: Final = 24
QUERY: Final = "molten rock below a volcano"
KILLED: Final = -9
KEY, VARIABLE = "sk-Secret/Of+Tests_0123456789", "CLIR_TEST_KEY"
# Forked processes have the environment that stands when the first of them starts: after all tests are imported.
os.environ[VARIABLE] = KEY
SMALL: Final = (
    "preset=paper",
    "data.max_queries=150",
    "training.epochs=2",
    "evaluation.baselines=[]",
    "evaluation.minimums={}",
    "evaluation.significance=0.0001",
)
SEARCH: Final = "search.index=true"
TO_THE_TRAINER: Final = Kill("Trainer", seconds=0.01)
DOWN: Final = "/v1/embeddings must answer; it did not, in one try: [Errno 111] Connection refused. Is it running?\n"


def read(name: str) -> list[tuple[str, str]]:
    """The id and the text of each line of one of the sample's files."""
    rows = (line.split("\t") for line in (SAMPLE / name).read_text(encoding="utf-8").splitlines())
    return [(row[0], row[2]) for row in rows]


QUERIES, DOCUMENTS = read("wiki_en.queries"), read("wiki_fr.documents")


def vector_of(text: str, model: str = "m") -> list[float]:
    """The counts of a text's character trigrams, by a hash that is the model's own."""
    codes = np.frombuffer(f"^{text.casefold()}$".encode("utf-32-le"), np.uint32).astype(np.int64)
    grams = (codes[:-2] * 961 + codes[1:-1] * 31 + codes[2:]) * (1 + 2 * ord(model)) % 9973 % DIM
    return [float(count) for count in np.bincount(grams, minlength=DIM)]


# An endpoint


class Endpoint:
    """An endpoint of this machine that asks for a key, and can be stopped and started again.

    Attributes:
      texts: the texts that were encoded.
      model: the model behind every name.
      left: number of texts until the endpoint dies; None for no end.
      is_slow: whether it keeps callers waiting.
      is_seen: whether the key stood in the process list during a request.
    """

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.model = "m"
        self.left: int | None = None
        self.is_slow = self.is_seen = False
        self._server: _Server | None = None
        self._port = 0
        self.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Starts, always at the same port."""
        self.left, self._server = None, _Server(self, self._port)
        self._port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=[0.01], daemon=True).start()

    def stop(self) -> None:
        """Stops, in the middle of requests if there are some."""
        if self._server:
            server, self._server = self._server, None
            server.is_closing.set()
            server.shutdown()
            server.server_close()

    def dies_of(self, texts: int) -> bool:
        """Whether a request of so many texts is the last."""
        if self.left is not None:
            self.left -= texts
        return self.left is not None and self.left < 0

    def taken(self) -> list[str]:
        """The texts since the last call, but for the probes, with which they must begin."""
        texts, self.texts = self.texts, []
        assert texts[: 2 * len(PROBES)] == [*PROBES, *PROBES]
        return texts[2 * len(PROBES) :]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, endpoint: Endpoint, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.endpoint, self.is_closing = endpoint, threading.Event()

    def handle_error(self, request: object, client_address: object) -> None:
        """Prints nothing where the client hangs up."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        endpoint = self.server.endpoint
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        endpoint.is_seen |= any(KEY.encode() in command_line(path) for path in Path("/proc").glob("[0-9]*"))
        if (self.path, self.headers["Authorization"]) != ("/v1/embeddings", f"Bearer {KEY}"):
            self.send_error(401)
            return
        if endpoint.dies_of(len(texts)):
            endpoint.stop()  # without an answer
            return
        if endpoint.is_slow:
            self.server.is_closing.wait(10)
            return
        endpoint.texts += texts
        entries = [{"index": place, "embedding": vector_of(text, endpoint.model)} for place, text in enumerate(texts)]
        body = json.dumps({"data": entries}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Logs nothing."""


def command_line(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:  # it has ended
        return b""


# Runs of one sample into one folder, with an encoder of each kind


class Runs:
    """Runs into one output folder.

    Attributes:
      folder: holds the output, the input files, which are copies, and all that was ever said.
      output: the output folder.
      documents: the file of the documents.
      said, out: stderr and stdout of the last run.
    """

    def __init__(self, folder: Path, endpoint: Endpoint) -> None:
        self.folder, self.output = folder, folder / "out"
        shutil.copytree(SAMPLE, folder / "data", ignore=shutil.ignore_patterns("*.bz2", "*.gz"))
        self.documents = folder / "data" / "wiki_fr.documents"
        self.said = self.out = ""
        self._runs = 0
        self.encoders: dict[str, dict[str, Any]] = {
            "endpoint": {"address": endpoint.address, "query_model": "m", "key_variable": VARIABLE, "retries": 0},
            "saved_model": {"path": str(folder / "trigrams"), "batch": 7},
            "vectors": {
                "query_vectors": str(folder / "queries.npy"),
                "document_vectors": str(folder / "documents.parquet"),
                "name": "elsewhere",
            },
        }

    def overrides(self, kind: str, *settings: str) -> list[str]:
        """The settings of a run with an encoder of a kind, as arguments."""
        files = {"queries": "wiki_en.queries", "documents": self.documents.name, "judgments": "en2fr.rel"}
        paths = [f"data.{role}={self.documents.with_name(name)}" for role, name in files.items()]
        encoder = {"kind": kind, "licence": f"licence of {kind}", "weight": 0.5, **self.encoders[kind]}
        every = (*SMALL, *paths, f"output={self.output}", f"encoder={json.dumps(encoder)}", *settings)
        return [f"--set={one}" for one in every]

    def run(
        self, kind: str, *settings: str, flags: tuple[str, ...] = (), code: int = 0, kill: Kill | None = None
    ) -> set[str]:
        """Runs; returns the stages that ran, but for those that always do."""
        self._runs += 1
        log, out = (self.folder / f"{name}{self._runs}" for name in ("stderr", "stdout"))
        arguments = ("run", "configs/sample.yaml", *self.overrides(kind, *settings), *flags)
        ended = forked.clir(*arguments, log=log, out=out, kill=kill)
        self.said, self.out = log.read_text(), out.read_text() if out.exists() else ""
        assert ended == code, self.said
        assert "Traceback" not in self.said
        return {name for name, cached in told_stages(self.said).items() if not cached} - DECIDES

    @property
    def versions(self) -> list[Path]:
        """The pushed models, the oldest first."""
        return sorted((self.output / "serving").iterdir(), key=lambda version: int(version.name))

    @property
    def reason(self) -> str:
        """The gate's."""
        return str(json.loads((self.output / "evaluation" / "verdict.json").read_text())["reason"])

    def vectors(self) -> dict[str, npt.NDArray[Any]]:
        """The newest vectors of all texts, by the names of their files."""
        folders = (self.output / "artifacts" / "TextVectorGen" / "text_vectors").iterdir()
        newest = max(folders, key=lambda folder: int(folder.name))
        return {path.name: np.load(path) for path in newest.glob("*.npy")}


def check_vectors(found: dict[str, npt.NDArray[Any]], texts: list[str], model: str) -> None:
    """Checks that vectors are the very bytes of what a model gives for the distinct texts, and that none is lost."""
    stored = [stored_form(np.array([vector_of(text, model)], np.float32)) for text in texts]
    rows = dict(zip(text_keys(texts).tolist(), stored, strict=True))
    of_queries, of_documents = (found[f"{role}_keys.npy"].tolist() for role in ("query", "document"))
    assert sorted([*of_queries, *of_documents]) == sorted(rows)
    for role, of_role in (("query", of_queries), ("document", of_documents)):
        expected = np.concatenate([rows[key] for key in of_role])
        assert found[f"{role}_vectors.npy"].tobytes() == expected.tobytes()


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    endpoint = Endpoint()
    yield endpoint
    endpoint.stop()


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """The texts that the first run encodes."""
    return []


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, endpoint: Endpoint, texts: list[str]) -> Runs:
    """A folder with a run whose encoder is an endpoint, and an index. Tests leave inputs and endpoint as before."""
    runs = Runs(tmp_path_factory.mktemp("encoders"), endpoint)
    assert {"TextVectorGen", "Trainer", "CorpusIndexer"} <= runs.run("endpoint", SEARCH)
    texts += endpoint.taken()
    return runs


@pytest.fixture
def down(runs: Runs, endpoint: Endpoint) -> Iterator[None]:
    """The endpoint does not run."""
    endpoint.stop()
    yield
    endpoint.start()


@pytest.fixture(scope="module", autouse=True)
def each_model_loaded_once() -> Iterator[None]:
    with loaded_once():
        yield


def card_of(version: Path) -> str:
    return (version / "MODEL_CARD.md").read_text(encoding="utf-8")


def rank(clir: Clir, model: Path, runs: Runs, *flags: object) -> Answer:
    return clir("rank", model, "--query", QUERY, "--documents", runs.documents, "--top", 3, *flags)


# What is encoded


def test_every_distinct_text_is_encoded_once(runs: Runs, texts: list[str]) -> None:
    documents = [text for _, text in DOCUMENTS]
    assert len(texts) == len({*texts}) == 150 + len(documents)
    assert {*documents} < {*texts} <= {*documents, *(text for _, text in QUERIES)}
    check_vectors(runs.vectors(), texts, "m")


def test_a_second_run_is_cached_and_asks_for_nothing_but_the_probes(runs: Runs, endpoint: Endpoint) -> None:
    assert runs.run("endpoint", SEARCH) == {"IndexPusher"}
    assert endpoint.taken() == []
    # The encoder has a column of its own among the channels.
    assert runs.out.splitlines()[0].split()[:5] == ["test", "split", "model", "encoder", "smooth_cosine"]


def test_the_model_s_card_names_the_encoder_and_its_licence(runs: Runs) -> None:
    card = card_of(runs.versions[0])
    assert "`m`, of the kind `endpoint`; licence: licence of endpoint." in card
    assert "plus 0.5 times the standardised cosine of the vectors of the pre-trained encoder `m`." in card


def test_another_weight_and_another_name_encode_nothing_again(runs: Runs, endpoint: Endpoint) -> None:
    runs.run("endpoint", "encoder.weight=0.3", "encoder.name=other", code=KILLED, kill=TO_THE_TRAINER)
    assert told_stages(runs.said)["TextVectorGen"]
    assert endpoint.taken() == []


def test_a_document_more_encodes_one_text(runs: Runs, endpoint: Endpoint) -> None:
    content = runs.documents.read_text(encoding="utf-8")
    runs.documents.write_text(f"{content}new\tNouveau\tun document tout nouveau\n", encoding="utf-8")
    runs.run("endpoint", code=KILLED, kill=Kill("TextVectorGen"))
    runs.documents.write_text(content, encoding="utf-8")
    assert endpoint.taken() == ["un document tout nouveau"]


def test_another_model_behind_the_address_is_said_and_encodes_everything_again_whenever_the_endpoint_dies(
    runs: Runs, endpoint: Endpoint, texts: list[str]
) -> None:
    endpoint.model, endpoint.left = "n", 250  # in the midst of the documents, which come after the queries
    runs.run("endpoint", code=1)
    assert f"the endpoint {endpoint.address} has another model than before (its vectors of fixed" in runs.said
    assert f"{len(texts)} distinct texts, {len(texts)} of them to encode" in runs.said
    assert "/v1/embeddings must answer; it did not, in one try: Remote end closed connection" in runs.said
    assert 150 < len(endpoint.taken()) < len(texts)
    endpoint.start()
    runs.run("endpoint", code=KILLED, kill=Kill("TextVectorGen"))
    endpoint.model = "m"
    assert sorted(endpoint.taken()) == sorted(text for _, text in DOCUMENTS)
    check_vectors(runs.vectors(), texts, "n")


# What new texts are encoded by


def test_rank_and_its_explanation_ask_the_endpoint(runs: Runs, endpoint: Endpoint, clir: Clir) -> None:
    done = rank(clir, runs.versions[0], runs, "--explain", "--json")
    assert (done.code, done.err) == (0, "")
    assert {*endpoint.taken()} == {QUERY, *(text for _, text in DOCUMENTS)}
    best, *_ = json.loads(done.out)["documents"]
    assert {part["name"] for part in best["parts"]} == {"encoder", "smooth_cosine"}
    assert sum(part["part"] for part in best["parts"]) == pytest.approx(best["score"], abs=1e-5)
    assert all(part["part"] for part in best["parts"])


def test_search_asks_for_the_query_alone(runs: Runs, endpoint: Endpoint, clir: Clir) -> None:
    ranked = json.loads(rank(clir, runs.versions[0], runs, "--json").out)["documents"]
    endpoint.taken()
    done = clir("search", runs.output, QUERY, "-k", 3, "--json")
    assert endpoint.taken() == [QUERY]
    found = json.loads(done.out)["results"]
    assert [one["doc_id"] for one in found] == [one["doc_id"] for one in ranked]
    assert [one["score"] for one in found] == pytest.approx([one["score"] for one in ranked], abs=1e-5)


def test_a_document_that_is_added_to_the_index_is_the_only_one_encoded(
    runs: Runs, endpoint: Endpoint, clir: Clir, tmp_path: Path
) -> None:
    shutil.copytree(runs.output / "index", tmp_path / "index")
    (tmp_path / "more").write_text("new\tNouveau\tun document tout nouveau\n")
    arguments = ("index", runs.versions[0], "--index", tmp_path / "index", "--add", tmp_path / "more")
    done = clir(*arguments)
    assert f"index/2 holds {len(DOCUMENTS) + 1} documents: 1 added, 0 replaced, 0 removed" in done.out
    assert endpoint.taken() == ["un document tout nouveau"]
    endpoint.stop()
    (tmp_path / "more").write_text("other\tAutre\tun autre document\n")
    done = clir(*arguments)
    endpoint.start()
    assert (done.code, done.err.splitlines()[-1]) == (1, f"clir: the endpoint {endpoint.address}{DOWN}".rstrip())
    assert sorted(path.name for path in (tmp_path / "index").glob("[0-9]*")) == ["1", "2"]


@pytest.mark.usefixtures("down")
def test_commands_say_in_a_sentence_that_the_endpoint_is_down(runs: Runs, endpoint: Endpoint, clir: Clir) -> None:
    sentence = f"the endpoint {endpoint.address}{DOWN}"
    for done in (rank(clir, runs.versions[0], runs), clir("search", runs.output, QUERY), clir("replay", runs.output)):
        assert done == (1, "", f"clir: {sentence}")
    before = (runs.output / "config.yaml").read_bytes()
    for flags in ((), ("--estimate",)):
        runs.run("endpoint", flags=flags, code=1)
        assert runs.said.endswith(sentence)
    assert (runs.output / "config.yaml").read_bytes() == before


def test_rank_refuses_another_model_behind_the_address_and_a_missing_key(
    runs: Runs, endpoint: Endpoint, clir: Clir, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.model = "n"
    done = rank(clir, runs.versions[0], runs)
    endpoint.model = "m"
    assert (done.code, done.out) == (1, "")
    assert "must give the vectors that this model was trained with: its vectors of fixed texts differ by" in done.err
    assert endpoint.taken() == []
    monkeypatch.delenv(VARIABLE)
    done = rank(clir, runs.versions[0], runs)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert f"the environment variable {VARIABLE} (encoder.key_variable) must hold the endpoint's key" in done.err
    assert endpoint.texts == []


def test_the_service_answers_503_while_the_endpoint_is_down_or_slow_and_then_works_again(
    runs: Runs, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    from serving import engine
    from serving.newest_engine import FolderEngines
    from tests.serving.live_service import live_service

    monkeypatch.setattr(engine, "_ENDPOINT_SECONDS", 2.0)
    with live_service(FolderEngines(str(runs.output / "serving"), str(runs.output / "index"))) as live:
        requests: dict[str, dict[str, Any]] = {
            "search": {"query": QUERY, "snippets": True},
            "rank": {"query": QUERY, "documents": ["lave", "loup"]},
            "explain": {"query": QUERY, "text": "de la lave"},
        }

        def ask(*paths: str) -> list[tuple[int, Any]]:
            answers = [live.client.post(f"/v1/{path}", json=requests[path]) for path in paths or requests]
            return [(answer.status_code, answer.json()) for answer in answers]

        assert [status for status, _ in ask()] == [200] * 3
        endpoint.stop()
        assert ask() == [(503, {"error": f"the endpoint {endpoint.address}{DOWN}".rstrip()})] * 3
        endpoint.start()
        assert [status for status, _ in ask()] == [200] * 3
        endpoint.is_slow = True
        ((status, answer),) = ask("search")
        endpoint.is_slow = False
        assert status == 503
        assert "/v1/embeddings must answer within 2 s; it did not, in one try." in answer["error"]
        assert [status for status, _ in ask()] == [200] * 3
        assert KEY not in live.log.getvalue()
    endpoint.texts = []


def test_a_replay_and_an_evaluation_give_the_run_s_own_numbers(
    runs: Runs, endpoint: Endpoint, clir: Clir, tmp_path: Path
) -> None:
    done = clir("replay", runs.output)
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("every list is in the evaluator's order\n")
    rows = [line.split() for line in (runs.output / "evaluation" / "qrels.trec").read_text().splitlines()]
    lists = tmp_path / "candidates"
    lists.write_text("".join(f"{query_id}\t{doc_id}\t{grade}\ttest\n" for query_id, _, doc_id, grade in rows))
    files = ("--queries", SAMPLE / "wiki_en.queries", "--documents", runs.documents, "--candidates", lists)
    endpoint.taken()
    done = clir("evaluate", runs.versions[0], *files, "--json")
    assert done.code == 0, done.err
    expected, found = json.loads((runs.output / "evaluation" / "metrics.json").read_text()), json.loads(done.out)
    assert found["metrics"] == pytest.approx(expected["metrics"])
    assert found["channels"].keys() == {"encoder", "smooth_cosine"}
    assert found["channels"]["encoder"] == pytest.approx(expected["channels"]["encoder"])
    text_of = dict(QUERIES), dict(DOCUMENTS)
    asked = {text_of[0][row[0]] for row in rows} | {text_of[1][row[2]] for row in rows}
    assert sorted(endpoint.taken()) == sorted(asked)


# Encoders of other kinds, beside a pushed model whose encoder is an endpoint


def write_saved_model(folder: str) -> None:
    """Writes a SavedModel that counts trigrams of bytes."""
    import tensorflow as tf

    class Trigrams(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def __call__(self, texts: tf.Tensor) -> tf.Tensor:
            grams = tf.strings.ngrams(tf.strings.bytes_split(tf.strings.join(["^", texts, "$"])), 3, separator="")
            places = tf.strings.to_hash_bucket_fast(grams.flat_values, DIM)
            return tf.math.segment_sum(tf.one_hot(places, DIM), grams.value_rowids())

    model = Trigrams()
    tf.saved_model.save(model, folder, signatures=model.__call__)


def test_a_saved_model_becomes_a_part_of_the_model_and_is_compared_with_the_model_of_the_endpoint(
    runs: Runs, endpoint: Endpoint, clir: Clir
) -> None:
    write_saved_model(runs.encoders["saved_model"]["path"])
    before = runs.versions[0].name
    assert runs.run("saved_model") == {"TextVectorGen", "Trainer", "Evaluator", "TrainingReport"}
    assert f"not significantly worse than version {before}" in runs.reason
    assert runs.out.splitlines()[0].split()[3:5] == ["encoder", "smooth_cosine"]
    assert len(endpoint.taken()) < len(DOCUMENTS) + 50  # the lists of the test split
    assert "`trigrams`, of the kind `saved_model`; licence: licence of saved_model." in card_of(runs.versions[-1])
    done = clir("replay", runs.output)
    assert (done.code, done.err) == (0, "")
    shutil.rmtree(runs.encoders["saved_model"]["path"])
    assert rank(clir, runs.output, runs, "--explain").code == 0
    assert endpoint.texts == []


def run_vectors(runs: Runs) -> set[str]:
    """Runs with vectors of the sample in files of both formats, and a head; see `Runs.run`."""
    write_vectors(*(runs.encoders["vectors"][f"{role}_vectors"] for role in ("query", "document")))
    return runs.run("vectors", "preset=closed", "lexicon.kind=none")


def write_vectors(queries: str, documents: str) -> None:
    """Writes vectors of the sample as files of both formats."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    np.save(queries, np.array([vector_of(text) for _, text in QUERIES], np.float32))
    Path(queries).with_suffix(".ids").write_text("".join(f"{one}\n" for one, _ in QUERIES))
    ids, vectors = zip(*((one, vector_of(text)) for one, text in DOCUMENTS), strict=True)
    pq.write_table(pa.table({"id": ids, "vector": vectors}), documents)


def test_vectors_in_files_get_a_head_by_the_preset_closed_and_rank_no_new_texts(
    runs: Runs, endpoint: Endpoint, clir: Clir, texts: list[str]
) -> None:
    before = runs.versions[-1].name
    ran = run_vectors(runs)
    assert ran == {"TextVectorGen", "Trainer", "Evaluator", "TrainingReport"}
    assert f"not significantly worse than version {before}" in runs.reason
    assert runs.out.splitlines()[0].split()[:4] == ["test", "split", "model", "random"]
    check_vectors(runs.vectors(), texts, "m")
    card = card_of(runs.versions[-1])
    assert "`elsewhere`, of the kind `vectors`; licence: licence of vectors." in card
    assert "the `cosine` of two vectors, linear maps of those of the pre-trained encoder `elsewhere`." in card
    done = rank(clir, runs.output, runs)
    assert (done.code, done.out) == (1, "")
    assert "a new document must be encoded, but this model's vectors came in files (encoder.kind vectors)" in done.err
    assert endpoint.texts == []


# Without a run


@pytest.mark.parametrize("kind", ["endpoint", "saved_model", "vectors"])
def test_a_specification_for_kubeflow_is_compiled_without_the_endpoint(
    runs: Runs, endpoint: Endpoint, clir: Clir, tmp_path: Path, kind: str
) -> None:
    if kind == "saved_model":
        shutil.rmtree(runs.encoders[kind]["path"], ignore_errors=True)
        write_saved_model(runs.encoders[kind]["path"])
    path = tmp_path / "pipeline.yaml"
    settings = runs.overrides(kind, f"output={tmp_path}")
    done = clir("compile", "configs/sample.yaml", "--output", path, "--image", "clir:1", *settings)
    assert done.code == 0, done.err
    assert "TextVectorGen" in path.read_text()
    assert KEY not in path.read_text()
    assert endpoint.texts == []


@pytest.mark.long
def test_the_estimate_counts_texts_a_second(runs: Runs, endpoint: Endpoint) -> None:
    shutil.rmtree(runs.encoders["saved_model"]["path"], ignore_errors=True)
    write_saved_model(runs.encoders["saved_model"]["path"])
    endpoint.texts = []
    for kind in ("endpoint", "saved_model"):
        runs.run(kind, flags=("--estimate", "--json"))
        estimate = json.loads(runs.out)
        # A model that holds its encoder is evaluated by it, so that the texts of the test split come again.
        again = 0 if kind == "endpoint" else estimate["size"]["lists"]["test"] + len(DOCUMENTS)
        assert estimate["encoder"]["encoded"] == 150 + len(DOCUMENTS) + again
        assert estimate["encoder"]["texts_per_second"] > 0
        assert estimate["seconds"]["encoder"] > 0
    assert {*endpoint.texts} <= {text for _, text in DOCUMENTS}
    runs.run("endpoint", flags=("--estimate",))
    assert "the encoder takes " in runs.out and f" texts a second; texts: {150 + len(DOCUMENTS)}" in runs.out
    endpoint.texts = []


@pytest.mark.long
def test_a_pushed_model_that_no_encoder_answers_for_is_not_compared_but_by_request(
    runs: Runs, endpoint: Endpoint, texts: list[str]
) -> None:
    run_vectors(runs)
    runs.run("endpoint", code=1)
    assert "the last pushed model: a new query must be encoded, but this model's vectors came in files" in runs.said
    assert "Remove it, or set evaluation.start_anew." in runs.said
    runs.run("endpoint", "evaluation.start_anew=true")
    endpoint.model = "o"
    runs.run("endpoint", code=1)
    assert f"the last pushed model: the endpoint {endpoint.address} must give the vectors that this model" in runs.said
    pushed = len(runs.versions)
    assert runs.run("endpoint", "evaluation.start_anew=true") == set()
    endpoint.model = "m"
    assert len(runs.versions) == pushed + 1
    check_vectors(runs.vectors(), texts, "o")
    endpoint.texts = []


def test_the_key_stands_in_no_file_and_was_in_no_process_list(runs: Runs, endpoint: Endpoint) -> None:
    files = [path for path in runs.folder.rglob("*") if path.is_file()]
    assert len(files) > 100
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
    assert not endpoint.is_seen
