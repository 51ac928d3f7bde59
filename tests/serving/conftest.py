"""Two versions of a small model, and the stand-in for TF Serving in front of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import pytest

from components.index_pusher.milvus_versions import MilvusVersions
from tests.milvus_server import MilvusServer
from tests.models.small_model import export_small_model
from tests.serving.searchable import export_searchable, index_documents
from tests.stand_in_tf_serving.grpc_server import start_grpc
from tests.stand_in_tf_serving.predictor import Predictor
from tests.stand_in_tf_serving.rest_server import RestServer


class StandIn(NamedTuple):
    """A stand-in that is running."""

    grpc: str
    rest: str
    versions: dict[str, Path]


@pytest.fixture(scope="session")
def searchable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run's output as far as it is served: a model, its index, and the languages."""
    folder = tmp_path_factory.mktemp("searchable")
    (folder / "index").mkdir()
    export_searchable(folder / "serving" / "1")
    index_documents(folder / "serving" / "1", folder / "index" / "1")
    (folder / "config.yaml").write_text("data: {query_language: en, document_language: fr}\n")
    return folder


@pytest.fixture(scope="session")
def milvus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusServer]:
    """A Milvus server."""
    server = MilvusServer(tmp_path_factory.mktemp("milvus"))
    yield server
    server.kill()


@pytest.fixture(scope="session", params=["on disk", pytest.param("in Milvus", marks=pytest.mark.long)])
def searched(request: pytest.FixtureRequest, searchable: Path) -> str:
    """The index of that output: its folder, and the address of the same in Milvus."""
    if request.param == "on disk":
        return str(searchable / "index")
    server: MilvusServer = request.getfixturevalue("milvus")
    MilvusVersions(server.settings("searchable")).publish(searchable / "index" / "1")
    return server.address("searchable")


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    """The stand-in, with versions 7 and 12, which score differently."""
    folder = tmp_path_factory.mktemp("serving")
    versions = {"7": folder / "7", "12": folder / "12"}
    export_small_model(versions["7"], epsilon=0.5)
    export_small_model(versions["12"], epsilon=2.0)
    with standing_in(versions) as found:
        yield found


@contextmanager
def standing_in(versions: dict[str, Path]) -> Iterator[StandIn]:
    """The stand-in, with these versions."""
    predictor = Predictor([str(path) for path in versions.values()])
    server, port = start_grpc(predictor)
    rest = RestServer(predictor)
    Thread(target=rest.serve_forever, daemon=True).start()
    yield StandIn(f"127.0.0.1:{port}", f"http://127.0.0.1:{rest.server_port}", versions)
    server.stop(None).wait()
    rest.shutdown()
    rest.server_close()
