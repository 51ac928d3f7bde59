"""A portable engine on this machine: a job server, and an external pool that starts two worker processes for each job.

It is the contract that Flink and Spark keep: the job server hands the workers bundles over gRPC, and what they share
with this process are files.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORKERS = 2


class Engine:
    """The interface of an engine for the tests.

    Args:
      ports: the ports of the job server and of the pool.
      log: the pool's log, with a line for each worker that it starts.

    Attributes:
      arguments: the arguments of a Beam pipeline that runs on it.
    """

    def __init__(self, ports: tuple[int, int], log: Path) -> None:
        job_server, pool = ports
        self.arguments = [
            "--runner=PortableRunner",
            f"--job_endpoint=localhost:{job_server}",
            "--environment_type=EXTERNAL",
            f"--environment_config=localhost:{pool}",
            "--job_server_timeout=600",
        ]
        self._log = log
        self._counted = 0

    def started_workers(self) -> int:
        """How many worker processes the pool has started since the last call; a job has two of its own."""
        before, self._counted = self._counted, self._log.read_text().count("started a worker\n")
        return self._counted - before


@contextmanager
def engine(folder: Path) -> Iterator[Engine]:
    """An engine that lives as long as the context; the folder gets its logs."""
    ports = free_ports()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    commands = {
        "job-server": ["tests.engines.job_server", str(ports[0]), str(WORKERS)],
        "pool": ["tests.engines.pool", f"--service_port={ports[1]}"],
    }
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for name, command in commands.items():
            with (folder / f"{name}.log").open("wb") as log:
                processes.append(
                    subprocess.Popen(
                        [sys.executable, "-m", *command],
                        env=environment,
                        stdout=log,
                        stderr=log,
                        start_new_session=True,
                        cwd=folder,
                    )  # fmt: skip
                )
        for port, process in zip(ports, processes, strict=True):
            wait_for(port, process)
        yield Engine(ports, folder / "pool.log")
    finally:
        for process in processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, 9)  # with those that it started, which are in a session of their own
            process.wait(10)


def free_ports() -> tuple[int, int]:
    """Two ports of the loopback address that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("127.0.0.1", 0)) as second:
        return first.getsockname()[1], second.getsockname()[1]


def wait_for(port: int, process: subprocess.Popen[bytes], seconds: float = 60) -> None:
    """Waits until somebody listens on a port."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as connection:
            if connection.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(f"{process.args} listens on no port {port}; it ended with {process.poll()}")
