"""A small model with its index, and the stand-in for TF Serving; TensorFlow is imported by the tests that use them."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.milvus_server import MilvusServer
    from tests.stand_in_tf_serving.running import StandIn


@pytest.fixture(scope="module", autouse=True)
def each_model_loaded_once(request: pytest.FixtureRequest) -> Iterator[None]:
    """Loads equal models once in this process."""
    if not request.node.get_closest_marker("stages"):
        yield
        return
    from tests.models.loaded_once import loaded_once

    with loaded_once():
        yield


@pytest.fixture(scope="session")
def searchable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run's output as far as it is served: a model, its index, and the languages."""
    from tests.models.loaded_once import loaded_once
    from tests.serving.searchable import export_searchable, index_documents

    folder = tmp_path_factory.mktemp("searchable")
    (folder / "index").mkdir()
    export_searchable(folder / "serving" / "1")
    with loaded_once():
        index_documents(folder / "serving" / "1", folder / "index" / "1")
    (folder / "config.yaml").write_text("data: {query_language: en, document_language: fr}\n")
    return folder


@pytest.fixture(scope="session")
def milvus(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[MilvusServer]":
    """A Milvus server."""
    from tests.milvus_server import MilvusServer

    server = MilvusServer(tmp_path_factory.mktemp("milvus"))
    yield server
    server.kill()


@pytest.fixture(scope="session", params=["on disk", pytest.param("in Milvus", marks=pytest.mark.long)])
def searched(request: pytest.FixtureRequest, searchable: Path) -> str:
    """The index of that output: its folder, and the address of the same in Milvus."""
    if request.param == "on disk":
        return str(searchable / "index")
    from smooth_clir.retrieval.milvus_versions import MilvusVersions

    server: MilvusServer = request.getfixturevalue("milvus")
    MilvusVersions(server.settings("searchable")).publish(searchable / "index" / "1")
    return server.address("searchable")


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[StandIn]":
    """The stand-in, with versions 7 and 12, which score differently."""
    from tests.models.loaded_once import loaded_once
    from tests.models.small_model import export_small_model
    from tests.stand_in_tf_serving.running import standing_in

    folder = tmp_path_factory.mktemp("serving")
    versions = {"7": folder / "7", "12": folder / "12"}
    export_small_model(versions["7"], stem_embeddings=True)
    export_small_model(versions["12"])
    with ExitStack() as stack:
        with loaded_once():
            running = stack.enter_context(standing_in(versions))
        yield running
