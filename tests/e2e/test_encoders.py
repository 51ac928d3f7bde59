"""A run with a pre-trained encoder behind an endpoint: which texts it encodes when, and where the endpoint's key is."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from models.encoders.endpoint import PROBES
from models.encoders.text_vectors import stored_form, text_keys
from tests.cli.command import Clir
from tests.e2e import forked
from tests.e2e.forked import Kill
from tests.e2e.process import DECIDES, SAMPLE, reported_stages
from tests.models.encoders.endpoint_server import (
    KEY,
    KEY_OF_THIS_MACHINE,
    VARIABLE,
    EndpointServer,
    Handler,
    embed,
    good,
    listening,
)

pytestmark = pytest.mark.long

# Forked processes have the environment that stands when the first of them starts: after all tests are imported.
os.environ |= KEY_OF_THIS_MACHINE
QUERIES = 150


class Runs:
    """Runs with an endpoint into one output folder, with a head over the encoder's vectors.

    Attributes:
      folder: holds the output, the input files, which are copies, and all that the runs wrote.
      documents: the file of the documents.
      texts: the texts of each run after the probes, with which it must begin.
      is_key_shown: whether the key stood in the process list during a request.
    """

    def __init__(self, folder: Path, endpoint: EndpointServer) -> None:
        self.folder, self.output = folder, folder / "out"
        shutil.copytree(SAMPLE, folder / "data", ignore=shutil.ignore_patterns("*.bz2", "*.gz"))
        self.documents = folder / "data" / "wiki_fr.documents"
        self.texts: list[list[str]] = []
        self.is_key_shown = False
        self._endpoint = endpoint
        endpoint.answer = self._answer

    def _answer(self, handler: Handler, content: object) -> None:
        self.is_key_shown |= any(KEY.encode() in command_line(path) for path in Path("/proc").glob("[0-9]*"))
        good(handler, content)

    def run(self, *settings: str, kill: Kill | None = None) -> set[str]:
        """Runs; returns the stages that ran, but for those that always do."""
        files = {"queries": "wiki_en.queries", "documents": "wiki_fr.documents", "judgments": "en2fr.rel"}
        endpoint = {"kind": "endpoint", "address": self._endpoint.address, "query_model": "m", "key_variable": VARIABLE}
        overrides = (
            *("preset=closed", "channels.lexicon=null", f"data.max_queries={QUERIES}", "training.epochs=2"),
            *("evaluation.baselines=[]", "evaluation.minimums={}", f"output={self.output}"),
            *(f"data.{role}={self.folder / 'data' / name}" for role, name in files.items()),
            f"channels.encoder={json.dumps(endpoint)}",
            *settings,
        )
        log = self.folder / f"log{len(self.texts)}"
        arguments = ("run", "configs/sample.yaml", *(f"--set={override}" for override in overrides))
        code = forked.clir(*arguments, log=log, kill=kill)
        assert code == (-9 if kill else 0), log.read_text()
        assert {headers["Authorization"] for _, headers, _ in self._endpoint.requests} == {f"Bearer {KEY}"}
        assert [content["input"] for _, _, content in self._endpoint.requests[:2]] == [[*PROBES]] * 2
        self.texts.append(self._endpoint.take_texts())
        return {name for name, cached in reported_stages(log.read_text()).items() if not cached} - DECIDES


def command_line(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:  # it has ended
        return b""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    """A run, one with a document more and another name, killed as soon as it is encoded, and the first once more."""
    with listening() as endpoint:
        runs = Runs(tmp_path_factory.mktemp("encoders"), endpoint)
        assert {"TextVectorGen", "Trainer"} <= runs.run()
        content = runs.documents.read_text(encoding="utf-8")
        runs.documents.write_text(f"{content}new\tNouveau\tun document tout nouveau\n", encoding="utf-8")
        runs.run("channels.encoder.name=other", "channels.encoder.batch=7", kill=Kill("TextVectorGen"))
        runs.documents.write_text(content, encoding="utf-8")
        assert runs.run() == set()
        yield runs


def texts_of(name: str) -> set[str]:
    """The text of each line of one of the sample's files."""
    return {line.split("\t")[2] for line in (SAMPLE / name).read_text(encoding="utf-8").splitlines()}


def test_each_distinct_text_is_encoded_once_and_its_vector_is_kept(runs: Runs) -> None:
    texts, documents = runs.texts[0], texts_of("wiki_fr.documents")
    assert len(texts) == len({*texts}) == QUERIES + len(documents)
    assert documents < {*texts} <= documents | texts_of("wiki_en.queries")
    vectors = dict(zip(text_keys(texts).tolist(), stored_form(np.array([*map(embed, texts)], np.float32)), strict=True))
    artifacts = (runs.output / "artifacts" / "TextVectorGen" / "text_vectors").iterdir()
    first = min(artifacts, key=lambda path: int(path.name))
    for role in ("query", "document"):
        expected = [vectors.pop(key) for key in np.load(first / f"{role}_keys.npy").tolist()]
        assert np.load(first / f"{role}_vectors.npy").tobytes() == np.stack(expected).tobytes()
    assert vectors == {}


def test_a_document_more_is_the_only_text_that_is_encoded_and_the_same_run_again_encodes_none(runs: Runs) -> None:
    assert runs.texts[1:] == [["un document tout nouveau"], []]


def test_a_replay_by_new_vectors_of_the_endpoint_gives_the_run_s_own_numbers(runs: Runs, clir: Clir) -> None:
    ended = clir("replay", runs.output)
    assert (ended.code, ended.err) == (0, "")


def test_the_key_stands_in_no_file_and_was_in_no_process_list(runs: Runs) -> None:
    files = [path for path in runs.folder.rglob("*") if path.is_file()]
    assert len(files) > 50
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
    assert not runs.is_key_shown
