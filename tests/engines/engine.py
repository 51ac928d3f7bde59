"""A portable engine on this machine: a job server, and an external pool that starts two worker processes for each job.

It is the contract that Flink and Spark keep: the job server hands the workers bundles over gRPC, and what they share
with this process are files.
"""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORKERS = 2
_POLL_SECONDS = 0.05


class Engine:
    """The interface of an engine for the tests.

    Attributes:
      arguments: of a Beam pipeline that runs on it.
    """

    def __init__(self, job_server: int, pool: int, pool_process: subprocess.Popen[bytes]) -> None:
        self.arguments = [
            "--runner=PortableRunner",
            f"--job_endpoint=localhost:{job_server}",
            "--environment_type=EXTERNAL",
            f"--environment_config=localhost:{pool}",
            "--job_server_timeout=600",
        ]
        self._pool = pool_process
        self._peaks: dict[int, int] = {}
        self._reported: set[int] = set()
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    @property
    def settings(self) -> list[str]:
        """The same as overrides of a configuration."""
        _, endpoint, _, pool, _ = (argument.partition("=")[2] for argument in self.arguments)
        return [
            "beam.runner=portable",
            f"beam.endpoint={endpoint}",
            "beam.environment=external",
            f"beam.environment_config={pool}",
        ]

    def take_peaks(self) -> list[int]:
        """The peak resident memory of every worker process that started since the last call, in bytes.

        A job has workers of its own, which may outlive it for a while.
        """
        peaks = {worker: peak for worker, peak in self._peaks.copy().items() if worker not in self._reported}
        self._reported.update(peaks)
        return sorted(peaks.values())

    def stop(self) -> None:
        """Ends the watching."""
        self._done.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._done.wait(_POLL_SECONDS):
            # The pool's child is the process that its workers are forked from.
            for worker in [worker for child in children(self._pool.pid) for worker in children(child)]:
                if peak := peak_bytes(worker):
                    self._peaks[worker] = peak


def children(process: int) -> list[int]:
    """The processes that a process started."""
    try:
        text = Path(f"/proc/{process}/task/{process}/children").read_text() if process else ""
        tasks = [Path(task, "children").read_text() for task in Path(f"/proc/{process}/task").iterdir()]
    except OSError:
        return []
    return [int(child) for child in {*" ".join([text, *tasks]).split()}]


def peak_bytes(process: int) -> int:
    """The peak resident memory of a process (`VmHWM`); 0 where it has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:")), 0)


@contextmanager
def engine(folder: Path, pool: str = "tests.engines.pool") -> Iterator[Engine]:
    """An engine that lives as long as the context.

    Args:
      folder: of the files that get what it says.
      pool: the module of the pool; the peaks of workers are known of the default one.
    """
    ports = free_ports(2)
    # Beam's pool starts its workers by the name `python`.
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    commands = {
        "job-server": ["tests.engines.job_server", str(ports[0]), str(WORKERS)],
        "pool": [pool, f"--service_port={ports[1]}"],
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
                    )
                )
        for port, process in zip(ports, processes, strict=True):
            wait_for(port, process)
        made = Engine(*ports, processes[1])
        try:
            yield made
        finally:
            made.stop()
    finally:
        for process in processes:
            end(process)


def free_ports(count: int) -> list[int]:
    """Ports of the loopback address that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def wait_for(port: int, process: subprocess.Popen[bytes], seconds: float = 60) -> None:
    """Waits until somebody listens on a port."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(f"{process.args} listens on no port {port}; it ended with {process.poll()}")


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a process and those that it started, which are in a session of their own."""
    try:
        os.killpg(process.pid, 9)
    except ProcessLookupError:
        pass
    process.wait(10)
