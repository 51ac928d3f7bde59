"""`clir doctor`: what a machine has, and what it lacks."""

import json
import os
import shutil
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cli import doctor
from pipeline import machine
from schemas.errors import DataError
from tests.cli.command import Clir


class Usage(NamedTuple):
    total: int
    used: int
    free: int


def findings(clir: Clir, code: int = 0) -> dict[str, dict[str, str]]:
    answer = clir("doctor", "--json")
    assert answer.code == code, answer.err
    return {one["subject"]: one for one in json.loads(answer.out)}


def test_the_machine_of_these_tests_is_ready(clir: Clir) -> None:
    found = findings(clir)
    assert {one["state"] for one in found.values()} <= {"ok", "absent"}
    assert found["TensorFlow"]["says"].startswith(metadata.version("tensorflow"))
    assert len(clir("doctor").out.splitlines()) == len(found)


def test_a_library_that_is_missing_or_too_old_is_named_with_a_remedy(
    clir: Clir, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name == "scipy":
            raise metadata.PackageNotFoundError(name)
        return "1.0" if name == "faiss-cpu" else real(name)

    monkeypatch.setattr(metadata, "version", version)
    found = findings(clir, code=1)
    assert found["scipy"]["says"].startswith("must be <2,>=1.11; there is none: `make setup`")
    assert found["faiss-cpu"]["says"].startswith("must be <2,>=1.8; there is 1.0")
    assert "not ready: " in clir("doctor").err


def test_a_full_disk_and_missing_shared_memory_are_faults(clir: Clir, monkeypatch: pytest.MonkeyPatch) -> None:
    def check() -> None:
        raise DataError("/dev/shm must take 8 small files")

    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Usage(10 << 30, 9 << 30, 1 << 30))
    monkeypatch.setattr(doctor, "check_shared_memory", check)
    found = findings(clir, code=1)
    assert found["current folder"]["says"].startswith("1.0 GiB free; make room")
    assert found["shared memory"]["says"] == "/dev/shm must take 8 small files"


def test_what_only_some_work_needs_is_no_fault(clir: Clir, monkeypatch: pytest.MonkeyPatch) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name == "pymilvus":
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setattr(doctor, "use_multilingual_is_installed", lambda: False)
    found = findings(clir)
    assert found["Milvus"]["state"] == found["encoder"]["state"] == "absent"


def test_a_library_that_says_nothing_is_a_fault_and_what_was_found_before_it_is_shown(
    clir: Clir, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: list[BaseException] = [AssertionError(), SystemExit(134)]  # the second as a library that ends the process

    def heavy_imports() -> None:
        raise ends.pop(0)

    monkeypatch.setattr(doctor, "heavy_imports", heavy_imports)
    assert findings(clir, code=1)["TensorFlow"]["says"] == "cannot be imported: AssertionError"
    ended = clir("doctor")
    assert (ended.code, [line.split()[1] for line in ended.out.splitlines()]) == (134, ["Python", "C", "libraries"])


def test_a_container_has_the_memory_of_its_limit(clir: Clir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = tmp_path / "memory.max", tmp_path / "none"
    monkeypatch.setattr(machine, "_CONTAINER_LIMITS", limits)
    limits[0].write_text("max\n")
    whole = findings(clir)["memory"]["says"]
    limits[0].write_text(f"{2 << 30}\n")
    assert findings(clir, code=1)["memory"]["says"].startswith("2.0 GiB")
    assert not whole.startswith("2.0 GiB")


def test_little_memory_is_a_fault(clir: Clir, monkeypatch: pytest.MonkeyPatch) -> None:
    def sysconf(name: Any) -> int:
        return {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": (1 << 30) // 4096}[name]

    monkeypatch.setattr(os, "sysconf", sysconf)
    assert findings(clir, code=1)["memory"]["says"].startswith("1.0 GiB")
