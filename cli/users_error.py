"""Tells a user's error from ours."""

import errno
import os
import re
from typing import Final

from cli.raised import Raised, raised_in, without_step
from pipeline.layout import METADATA_FILE
from schemas.errors import ConfigError, DataError
from schemas.printable import printable

_NO_SPACE: Final = (*map(os.strerror, (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)), "database or disk is full")
"""How the system and SQLite tell of a full disk, a quota or a limit: Beam and TensorFlow pass on the words alone."""

_DATABASE: Final = (
    "database disk image is malformed",
    "file is not a database",
    "unsupported file format",
    "unable to open database file",
    "attempt to write a readonly database",
    "database is locked",
    "disk I/O error",
)
"""What SQLite says where the file is at fault, and not the query."""

_NO_MEMORY: Final = (os.strerror(errno.ENOMEM), "std::bad_alloc", "can't start new thread", "OOM when allocating")

_WAYS_OUT: Final = {
    "give this user the right to it, or choose another": ("EACCES", "EPERM"),
    "choose another, on a disk that can be written": ("EROFS", "EOPNOTSUPP", "ENOLCK"),
    "put it back": ("ENOENT", "ENXIO", "ENODEV"),
    "move away what lies in its place": ("EEXIST", "EISDIR", "ENOTDIR", "ENOTEMPTY"),
    "choose a shorter path": ("ENAMETOOLONG",),
    "allow more open files (ulimit -n)": ("EMFILE", "ENFILE"),
    "see whether the disk is whole, and its network there": ("EIO", "ESTALE", "EREMOTEIO", "ETIMEDOUT"),
    "let go of it": ("EBUSY", "ETXTBSY", "EAGAIN", "ELOOP", "EMLINK"),
}
"""What to do about what the system cannot do for want of something outside of the program."""

_WAY_OUT: Final = {getattr(errno, name): way for way, names in _WAYS_OUT.items() for name in names}
_NUMBERS: Final = {os.strerror(number).lower(): number for number in _WAY_OUT}
_STRERROR: Final = "|".join(re.escape(words) for words in _NUMBERS)
_AGAIN: Final = "and run it again: stages that are done stay in the cache."
_LONGEST: Final = 1000


def users_error(error: BaseException | None) -> ConfigError | DataError | None:
    """The user's error behind an exception, if any: runners wrap what a stage raises, or keep its words alone.

    That is an error of ours for users; and what a library raises because of the data, the disk or the memory, which is
    recognised by its kind: what the system says, TensorFlow's code of it, or what SQLite says of its file. A slip of
    the code is none, whatever was being handled when it was made.
    """
    for raised in raised_in(error) if error else ():
        for kind in () if raised.is_a_slip else (_ours, _no_space, _database, _system, _no_memory, _broken_file):
            if found := kind(raised):
                return found
        if raised.is_a_slip and raised.error is None:
            return None
    return None


def _ours(raised: Raised) -> ConfigError | DataError | None:
    """What we tell users, without the step of Beam that it went through."""
    if isinstance(raised.error, ConfigError):
        return raised.error
    if raised.names[0] == "schemas.errors.ConfigError":
        return ConfigError(raised.text.splitlines())
    if "schemas.errors.DataError" in raised.names:
        return DataError(without_step(raised.text))
    return None


def _no_space(raised: Raised) -> DataError | None:
    for words in _NO_SPACE:
        if words in raised.text:
            return DataError(
                f"no space left to write what comes out ({words}); free some, or choose another output, {_AGAIN}"
            )
    return None


def _database(raised: Raised) -> DataError | None:
    for words in _DATABASE:
        if words in raised.text:
            return DataError(
                f"{METADATA_FILE} in the output folder must be the database that runs write there; it cannot be used: "
                f"{words}. See that it can be written and that no other program holds it, or move it away, and run it "
                "again: stages then run anew."
            )
    return None


def _no_memory(raised: Raised) -> DataError | None:
    said = next((words for words in _NO_MEMORY if words in raised.text), None)
    if said is None and not {"MemoryError", *_tensorflows("ResourceExhaustedError")}.intersection(raised.names):
        return None
    what = printable(said or _first_line(raised.text), 200)
    return DataError(
        f"not enough memory{f' ({what})' if what else ''}; free some, or take a smaller training.batch_lists, "
        f"model.embedding_dim, model.vocabulary_size or collection, {_AGAIN}"
    )


def _system(raised: Raised) -> DataError | None:
    """What the system could not do with a file."""
    number, path = None, None
    if isinstance(raised.error, OSError):
        number, path = raised.error.errno, raised.error.filename
    if number is None:
        number, path = _told_by(raised.text)
    if number in (None, errno.ENOMEM) or not (number in _WAY_OUT or path):
        return None
    place = f"{os.fsdecode(path)}: " if isinstance(path, str | bytes) else ""
    way_out = _WAY_OUT.get(number, "see to it")
    return DataError(f"{printable(place, _LONGEST)}{os.strerror(number)}; {way_out}, {_AGAIN}")


def _told_by(text: str) -> tuple[int | None, str | None]:
    """The number and the path of what the system could not do, as Python, Beam and TensorFlow write it."""
    if found := re.search(r"\[Errno (\d+)\] [^:\n\[]+(?:: b?(?P<quote>['\"])(.+?)(?P=quote))?", text):
        return int(found[1]), found[3]
    if found := re.search(r"(?:b?(?P<quote>['\"])([^'\"\n]+)(?P=quote): )?\w*Error\((\d+), '", text):
        return int(found[3]), found[2]
    if found := re.search(rf"^\s*(\S.*?)(?:;| is) ({_STRERROR})\b", text, re.MULTILINE | re.IGNORECASE):
        return _NUMBERS[found[2].lower()], found[1]
    return None, None


def _broken_file(raised: Raised) -> DataError | None:
    """What libraries say of a file that they read; TensorFlow's INVALID_ARGUMENT, INTERNAL and others are ours."""
    line = _first_line(raised.text)
    is_damage = (
        not {"EOFError", "zlib.error", "gzip.BadGzipFile", *_tensorflows("DataLossError")}.isdisjoint(raised.names)
    ) or (_is(raised, "OutOfRangeError") and re.search(r"\b[Rr]ead\b|\bEOF\b", line))
    is_absence = _is(raised, "UnavailableError", "PermissionDeniedError") or (
        _is(raised, "NotFoundError") and re.search(r"\bfiles?\b|\bdirectory\b", line)
    )
    if is_damage:
        return DataError(
            f"a file must be as it was written; it is damaged: {line}. Delete it, or the output that it lies in, "
            "and run it again."
        )
    if is_absence:
        return DataError(f"a file must be there and be readable: {line}; see to it, {_AGAIN}")
    return None


def _is(raised: Raised, *names: str) -> bool:
    return not set(_tensorflows(*names)).isdisjoint(raised.names)


def _tensorflows(*names: str) -> tuple[str, ...]:
    """TensorFlow's classes, which need not be imported."""
    return tuple(f"tensorflow.python.framework.errors_impl.{name}" for name in names)


def _first_line(text: str) -> str:
    """The first line that says what happened."""
    lines = (line.strip() for line in text.splitlines())
    preamble = ("Graph execution error", "Detected at node", "<stack traces")
    return printable(next((line for line in lines if line and not line.startswith(preamble)), ""), _LONGEST).rstrip(".")
