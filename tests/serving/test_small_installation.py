"""The service in a container: it has few packages and no rights, and can write only to TMPDIR."""

import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from smooth_clir.cli.imports import EXTRA_MODULES, install
from smooth_clir.serving.settings import ServiceSettings
from tests.e2e.process import ROOT

pytestmark = pytest.mark.stages

_DROP_CAPABILITY = 24
_CAPABILITIES = 41


def drop_capabilities() -> None:
    """Makes a process of root's, as CI is, obey the permissions of files; those of other users do."""
    for capability in range(_CAPABILITIES):
        ctypes.CDLL(None).prctl(_DROP_CAPABILITY, capability, 0, 0, 0)


@pytest.fixture
def process(searchable: Path, tmp_path: Path) -> dict[str, Any]:
    """The arguments of a process beside a read-only copy of a run, `run`, without a home."""
    shutil.copytree(searchable, tmp_path / "run")
    (tmp_path / "tmp").mkdir()
    for path in [*tmp_path.rglob("*"), tmp_path]:
        path.chmod(0o755 if path.name == "tmp" else 0o555 if path.is_dir() else 0o444)
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH")}
    environment = {**kept, "TMPDIR": str(tmp_path / "tmp"), "HOME": "/nonexistent"}
    return {"cwd": tmp_path, "env": environment, "text": True, "preexec_fn": drop_capabilities}


def python(*extras: str) -> list[str]:
    """A Python that has the packages of these extras alone, and of TensorFlow 2.15, which needs tensorboard."""
    missing = {name for extra, names in EXTRA_MODULES.items() if extra not in extras for name in names} - {
        "tensorboard"
    }
    return [
        sys.executable,
        "-c",
        f"import sys; sys.modules.update(dict.fromkeys({missing})); import os\n"
        "if os.access('run', os.W_OK): sys.exit('the run can be written')\nexec(sys.argv.pop(1))",
    ]


def test_the_service_answers_with_the_extra_search_alone(process: dict[str, Any]) -> None:
    # Takes above 5 s: a process of its own imports TensorFlow and loads a model.
    main = "from smooth_clir.command import main; main()"
    command = [*python("search"), main, "serve", "run", "--host", "0.0.0.0", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **process) as service:
        try:
            assert service.stdout
            port = service.stdout.readline().strip().rpartition(":")[2]
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"Host": "clir.example"}) as client:
                assert client.get("/readyz").json() == {"ready": True}
                assert client.get("/v1/search?q=white+cat").json()["results"]
                assert client.get("/").status_code == client.get("/metrics").status_code == 200
            service.send_signal(signal.SIGTERM)
            _, log = service.communicate(timeout=40)
        finally:
            service.kill()
    assert (service.returncode, "Traceback" in log) == (0, False), log
    assert list((process["cwd"] / "tmp").iterdir()) == []


def test_a_ranker_ranks_without_any_extra_and_names_those_of_its_other_methods(process: dict[str, Any]) -> None:
    code = """
from smooth_clir import Ranker
ranker = Ranker.load("run")
print(ranker.rank("white cat", {"a": "un chien", "b": "un chat blanc"})[0].doc_id)
for call in (
    lambda: ranker.search("white cat"),
    lambda: Ranker.train(pairs=[], query_language="en", document_language="fr", output="new"),
):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, str(error).rpartition(": ")[2])
"""
    answer = subprocess.run([*python(), code], capture_output=True, check=False, **process)
    errors = [f"DataError {install(extra)}" for extra in ("search", "pipeline")]
    assert answer.stdout.splitlines() == ["b", *errors], answer.stderr


def test_the_container_exposes_and_asks_the_port_of_the_service() -> None:
    dockerfile = (ROOT / "Dockerfile.serving").read_text(encoding="utf-8")
    port = ServiceSettings().port
    assert f"EXPOSE {port}\n" in dockerfile and f"'http://127.0.0.1:{port}/readyz'" in dockerfile
    (lock,) = re.findall(r"^COPY (locks/\S+) ", dockerfile, re.MULTILINE)
    assert (ROOT / lock).is_file() and "locks" not in (ROOT / ".dockerignore").read_text().split()
