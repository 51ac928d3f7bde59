"""The states of a folder that `kill -9` at any moment of a piece of work would leave.

A kill leaves the files as they are at that moment, and frees the locks. So a single undisturbed piece of work shows
every kill: its folder is read before each act that may change it, and put back for the work after the kill.
"""

import os
import random
import shutil
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple
from unittest.mock import patch

_ACTS: Final = frozenset(
    ("open", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink", "fcntl.flock")
)
"""Python's audit events of acts that change files, and of locks; each comes before its act."""

Files = Mapping[str, bytes | str | None]
"""Path to the content of a file, the target of a link, or None of a folder."""

_watchers: Final[dict[int, Callable[[str, tuple[Any, ...]], None]]] = {}
"""Thread to the function that is called before each of its acts."""


class Moment(NamedTuple):
    """A moment at which a kill would leave other files than at the moment before."""

    act: str
    """The act before which it is; where a file is opened, after it."""
    files: Files
    done: tuple[str, ...]
    """The steps of the work that were done."""


def moments(
    folder: Path, work: Callable[[], object], done: Sequence[str] = (), functions: Iterable[tuple[Any, str]] = ()
) -> list[Moment]:
    """Does a piece of work, and returns its moments.

    Args:
      folder: the folder that the work changes; it need not exist.
      work: the work, all in this thread.
      done: a list to which the work adds each step that is done.
      functions: owner and name of functions beyond Python's own that change files.
    """
    seen: list[Moment] = []
    thread = threading.get_ident()

    def watch(act: str, arguments: tuple[Any, ...]) -> None:
        del _watchers[thread]  # its own acts are not the work's
        files = dict(read_files(folder))
        if act == "open" and folder in (path := Path(os.fsdecode(arguments[0]))).parents and path.parent.is_dir():
            files[str(path.relative_to(folder))] = b""  # a kill leaves an empty file, until it is written
        if not seen or files != seen[-1].files:
            seen.append(Moment(act, files, tuple(done)))
        _watchers[thread] = watch

    def watched(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if thread in _watchers:
                watch(function.__name__, arguments)
            return function(*arguments, **named)

        return call

    _install_hook()
    with ExitStack() as stack:
        for owner, name in functions:
            stack.enter_context(patch.object(owner, name, watched(getattr(owner, name))))
        _watchers[thread] = watch
        stack.callback(_watchers.pop, thread, None)
        work()
    return seen


def drawn(kills: Sequence[Moment], size: int, always: Collection[str]) -> list[Moment]:
    """The moments before and after each of the acts `always`, and others drawn by a seed: `size` in all, or more."""
    acts = ["", *(kill.act for kill in kills)]
    beside = {number for number in range(len(kills)) if {*acts[number : number + 2]} & {*always}}
    apart = sorted({*range(len(kills))} - beside)
    more = random.Random(size).sample(apart, min(len(apart), max(0, size - len(beside))))
    return [kills[number] for number in sorted({*beside, *more})]


def read_files(folder: Path) -> Files:
    """All that a folder holds, each folder before what is in it."""
    files: dict[str, bytes | str | None] = {}
    for parent, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = os.path.join(parent, name)
            is_link = os.path.islink(path)
            content = os.readlink(path) if is_link else None if name in folders else Path(path).read_bytes()
            files[os.path.relpath(path, folder)] = content
    return files


def put_back(folder: Path, files: Files) -> None:
    """Makes a folder hold what it held, and nothing else."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in files.items():
        if content is None:
            (folder / name).mkdir()
        elif isinstance(content, str):
            (folder / name).symlink_to(content)
        else:
            (folder / name).write_bytes(content)


@cache
def _install_hook() -> None:
    """Installs the hook, once: Python cannot remove it."""
    is_finalizing = sys.is_finalizing  # the module's own names are gone by then

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if not is_finalizing() and event in _ACTS and (watch := _watchers.get(threading.get_ident())):
            if event != "open" or (isinstance(arguments[0], str | bytes | os.PathLike) and arguments[2] & os.O_TRUNC):
                watch(event, arguments)

    sys.addaudithook(hook)
