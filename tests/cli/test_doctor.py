"""`clir doctor`: what a machine has, and what it lacks."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from pipeline import machine
from schemas.errors import DataError
from smooth_clir.cli import doctor
from tests.cli.command import Clir


class Usage(NamedTuple):
    total: int
    used: int
    free: int


@pytest.fixture(autouse=True)
def without_tensorflow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spares the seconds of TensorFlow's import, but for the test of this machine."""
    if not request.node.get_closest_marker("tensors"):
        config = SimpleNamespace(list_physical_devices=lambda kind: [])
        monkeypatch.setitem(sys.modules, "tensorflow", SimpleNamespace(__version__="0", config=config))
        monkeypatch.setitem(sys.modules, "tensorflow_text", SimpleNamespace())


def findings(clir: Clir, code: int = 0) -> dict[str, dict[str, str]]:
    answer = clir("doctor", "--json")
    assert answer.code == code, answer.err
    return {finding["subject"]: finding for finding in json.loads(answer.out)}


def versions(changed: dict[str, str | None]) -> Callable[[str], str]:
    """`metadata.version` with other versions of some libraries; None for a missing one."""
    real = metadata.version

    def version(name: str) -> str:
        installed = changed[name] if name in changed else real(name)
        if installed is None:
            raise metadata.PackageNotFoundError(name)
        return installed

    return version


@pytest.mark.tensors
def test_the_machine_of_these_tests_is_ready(clir: Clir) -> None:
    subjects = findings(clir)
    assert {finding["state"] for finding in subjects.values()} <= {"ok", "absent"}
    assert subjects["TensorFlow"]["says"].startswith(metadata.version("tensorflow"))
    assert len(clir("doctor").out.splitlines()) == len(subjects)


def test_a_library_that_is_missing_or_too_old_is_named(clir: Clir, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", versions({"scipy": None, "faiss-cpu": "1.0"}))
    subjects = findings(clir, code=1)
    assert "got none" in subjects["scipy"]["says"] and "<2,>=1.11" in subjects["scipy"]["says"]
    assert "got 1.0" in subjects["faiss-cpu"]["says"]
    assert "scipy, faiss-cpu" in clir("doctor").err


def test_a_full_disk_little_memory_and_missing_shared_memory_are_faults(
    clir: Clir, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check() -> None:
        raise DataError("/dev/shm must take 8 small files")

    def sysconf(name: Any) -> int:
        return {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": (1 << 30) // 4096}[name]

    monkeypatch.setattr(os, "sysconf", sysconf)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Usage(10 << 30, 9 << 30, 1 << 30))
    monkeypatch.setattr(doctor, "check_shared_memory", check)
    subjects = findings(clir, code=1)
    faults = {subject: finding["says"] for subject, finding in subjects.items() if finding["state"] == "fault"}
    assert faults.keys() == {"memory", "current folder", "shared memory"}
    assert faults["memory"].startswith("1.0 GiB") and faults["current folder"].startswith("1.0 GiB free")
    assert faults["shared memory"] == "/dev/shm must take 8 small files"


def test_a_library_that_only_some_work_needs_is_no_fault(clir: Clir, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        metadata, "version", versions({"pymilvus": None, "tensorflow": None, "tensorflow-cpu": "2.15.1"})
    )
    monkeypatch.setattr(metadata, "requires", lambda name: ["tensorflow==2.15.1", "pymilvus>=2; extra == 'milvus'"])
    monkeypatch.setattr(doctor, "use_multilingual_is_installed", lambda: False)
    subjects = findings(clir)
    assert subjects["libraries"]["says"] == "1 have versions that fit"
    assert subjects["extra milvus"]["state"] == subjects["encoder"]["state"] == "absent"


@pytest.mark.parametrize(("modes", "state"), [("eng-spa\n  spa-eng", "ok"), ("", "absent"), (None, "absent")])
def test_apertium_is_named_with_its_pairs_of_languages(
    clir: Clir, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, modes: str | None, state: str
) -> None:
    if modes is not None:
        (tmp_path / "apertium").write_text(f"#!/bin/sh\necho '  {modes}'\n")
        (tmp_path / "apertium").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    finding = findings(clir)["Apertium"]
    assert finding["state"] == state
    assert ("eng-spa, spa-eng" in finding["says"]) == (state == "ok")


def test_a_library_that_says_nothing_is_a_fault_and_earlier_findings_are_shown(
    clir: Clir, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: list[BaseException] = [AssertionError(), SystemExit(134)]  # the second as a library that ends the process

    def heavy_imports() -> None:
        raise ends.pop(0)

    monkeypatch.setattr(doctor, "heavy_imports", heavy_imports)
    assert findings(clir, code=1)["TensorFlow"]["says"].endswith("AssertionError")
    ended = clir("doctor")
    assert (ended.code, [line.split()[1] for line in ended.out.splitlines()]) == (134, ["Python", "C", "libraries"])


def test_a_container_has_the_memory_of_its_limit(clir: Clir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = tmp_path / "memory.max", tmp_path / "none"
    monkeypatch.setattr(machine, "_CONTAINER_LIMITS", limits)
    limits[0].write_text("max\n")
    assert not findings(clir)["memory"]["says"].startswith("2.0 GiB")
    limits[0].write_text(f"{2 << 30}\n")
    assert findings(clir, code=1)["memory"]["says"].startswith("2.0 GiB")
