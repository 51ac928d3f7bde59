"""A Milvus of its own process: Milvus Lite's server, which `make test-long` installs into build/milvus-lite."""

import os
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any, Final

from smooth_clir.retrieval.milvus import import_client
from smooth_clir.retrieval.milvus_settings import MilvusSettings

_ENVIRONMENT: Final = Path(__file__).parents[1] / "build" / "milvus-lite"


class MilvusServer:
    """A server that answers.

    Args:
      folder: the folder of its data.

    Attributes:
      port: its port.
    """

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def runs(self) -> bool:
        """Whether its process is there."""
        return self._process is not None

    def address(self, name: str) -> str:
        """The address of an index."""
        return f"milvus://127.0.0.1:{self.port}/{name}"

    def settings(self, name: str, **values: object) -> MilvusSettings:
        """The settings of an index."""
        return MilvusSettings.model_validate({"address": self.address(name), **values})

    def client(self) -> Any:
        """A client of somebody else."""
        return import_client().MilvusClient(uri=f"http://127.0.0.1:{self.port}", timeout=10)

    def start(self) -> None:
        """Starts the process, with the data that are there."""
        program = _ENVIRONMENT / "bin" / "milvus-lite"
        assert program.exists(), "there is no server; `make test-long` installs it"
        arguments = ["server", "--data-dir", str(self._folder), "--host", "127.0.0.1", "--port", str(self.port)]
        self._process = subprocess.Popen(
            [program, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        for _ in range(600):
            assert self._process.poll() is None
            with socket.socket() as connection:
                if connection.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        raise AssertionError("the server must answer within a minute")

    def kill(self) -> None:
        """Ends the process at once."""
        if self._process:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None
