"""Distinguishes a user's errors and Ctrl-C from our bugs.

Runners wrap the exceptions of a stage, or keep only their messages. So an exception is first taken apart into the
exceptions behind it (`raised_in`); then each is recognised by its class or its message.
"""

import builtins
import errno
import os
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from pipeline.layout import METADATA_FILE
from schemas.errors import ConfigError, DataError
from schemas.wording import first_line, printable

_SLIPS = {
    kind.__name__
    for kind in (ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError, TypeError)
} | {"RecursionError", "NotImplementedError", "SyntaxError", "ValueError"}
_ENDS = "(?:[Ee]rror|Exception|Interrupt|Exit|BadGzipFile)"
"""The endings of the exception names that matter here."""
_TRACEBACK = "Traceback (most recent call last):\n"


class Raised(NamedTuple):
    """An exception, or its message if a runner kept only that.

    Example:
      >>> [*raised_in(RuntimeError("OSError: [Errno 13] Permission denied: '/x' [while running 'Write']"))][1]
      Raised(names=('OSError', 'Exception', 'BaseException'), text="[Errno 13] Permission denied: '/x'", error=None)
    """

    names: tuple[str, ...]
    """The names of its class and base classes, with their modules unless built in."""
    text: str
    """Its message."""
    error: BaseException | None
    """The exception; None if only its message was kept."""

    @property
    def is_a_slip(self) -> bool:
        """Whether only faulty code raises its class."""
        return not _SLIPS.isdisjoint(self.names)


def raised_in(error: BaseException) -> Iterator[Raised]:
    """Yields an exception, the exceptions that its message names, and those behind it, the last raised first.

    An exception that was being handled when a slip was raised is not its cause, except with `raise ... from`.
    """
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        raised = Raised(_names(type(current)), str(current), current)
        yield from _with_words(raised)
        may_follow = not (raised.is_a_slip or current.__suppress_context__)
        current = current.__cause__ or (current.__context__ if may_follow else None)


def _with_words(raised: Raised) -> Iterator[Raised]:
    """Yields an exception, without its message if the message names others, and then the others."""
    words = [] if raised.is_a_slip else list(_in_words(raised.text))
    yield raised._replace(text="") if words else raised
    yield from words


def _in_words(text: str) -> Iterator[Raised]:
    """Yields the exceptions that a text names at its start or at the end of a traceback, the last first."""
    for part in reversed(text.split(_TRACEBACK)):
        message = without_step(re.split(r"\n\n(?:During handling|The above exception)", part)[0])
        # The first line of a traceback that is not indented; later lines belong to its message.
        match = re.search(rf"^([A-Za-z_][\w.]*{_ENDS})(?:: (.*))?\Z", message, re.MULTILINE | re.DOTALL)
        if match:
            kind = getattr(builtins, match[1], None)
            names = _names(kind) if isinstance(kind, type) else (match[1],)
            yield from _with_words(Raised(names, match[2] or "", None))


def without_step(text: str) -> str:
    """Returns a message without the steps of Beam that it went through."""
    return re.sub(r"(?: \[while running '[^\n]*'\])+\s*\Z", "", text).rstrip()


def _names(kind: type) -> tuple[str, ...]:
    bases = (base for base in kind.__mro__ if base is not object)
    return tuple(f"{base.__module__}.{base.__name__}".removeprefix("builtins.") for base in bases)


_NO_SPACE: Final = (*map(os.strerror, (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)), "database or disk is full")
"""The messages of the system and SQLite for a full disk, a quota or a limit; Beam and TensorFlow keep only these."""

_DATABASE: Final = (
    "database disk image is malformed",
    "file is not a database",
    "unsupported file format",
    "unable to open database file",
    "attempt to write a readonly database",
    "database is locked",
    "disk I/O error",
)
"""SQLite's messages for a fault of the file, not of the query; ML Metadata raises a bare RuntimeError for them."""

_NO_MEMORY: Final = (os.strerror(errno.ENOMEM), "std::bad_alloc", "can't start new thread")

_WAYS_OUT: Final = {
    "give this user access, or choose another": ("EACCES", "EPERM"),
    "choose another, on a disk that can be written": ("EROFS", "EOPNOTSUPP", "ENOLCK"),
    "put it back": ("ENOENT", "ENXIO", "ENODEV"),
    "move away the file or folder in its place": ("EEXIST", "EISDIR", "ENOTDIR", "ENOTEMPTY"),
    "choose a shorter path": ("ENAMETOOLONG",),
    "allow more open files (ulimit -n)": ("EMFILE", "ENFILE"),
    "check the disk and its network": ("EIO", "ESTALE", "EREMOTEIO", "ETIMEDOUT"),
    "close the program that uses it": ("EBUSY", "ETXTBSY", "EAGAIN", "ELOOP", "EMLINK"),
}
"""Remedies for failures of the system whose cause is outside of the program."""

_WAY_OUT: Final = {getattr(errno, name): way for way, names in _WAYS_OUT.items() for name in names}
_NUMBERS: Final = {os.strerror(number).lower(): number for number in _WAY_OUT}
_STRERROR: Final = "|".join(re.escape(words) for words in _NUMBERS)
_LONGEST: Final = 1000


def users_error(error: BaseException | None, has_stages: bool) -> ConfigError | DataError | None:
    """Returns the user's error behind an exception, or None.

    A user's error is a ConfigError or a DataError, or a library's error about the data, the disk or the memory,
    recognised by the system's message, TensorFlow's code, or SQLite's message about its file. A slip of the code is
    never a user's error.

    Args:
      error: the exception.
      has_stages: whether the command runs stages; only then the remedies mention stages and training.
    """
    for raised in raised_in(error) if error else ():
        for recognise in () if raised.is_a_slip else _RECOGNISERS:
            if fault := recognise(raised, has_stages):
                return fault
        if raised.is_a_slip and raised.error is None:
            return None
    return None


def _again(has_stages: bool) -> str:
    """Returns the end of a remedy."""
    return "and run it again" + (": finished stages stay in the cache." if has_stages else ".")


def is_interruption(error: BaseException) -> bool:
    """Returns whether a KeyboardInterrupt is behind an exception, or in the message that a runner kept.

    Python raises it in the main thread, which may be in a step of Beam; the runner then raises a RuntimeError.
    """
    named = re.compile(r"^(?:\w+: )*KeyboardInterrupt\b", re.MULTILINE)
    return any("KeyboardInterrupt" in raised.names or named.search(raised.text) for raised in raised_in(error))


def _own_error(raised: Raised, has_stages: bool) -> ConfigError | DataError | None:
    """Recognises our errors for users; removes the steps of Beam that they went through."""
    if isinstance(raised.error, ConfigError):
        return raised.error
    if raised.names[0] == "schemas.errors.ConfigError":
        return ConfigError(raised.text.splitlines())
    if "schemas.errors.DataError" in raised.names:
        return DataError(without_step(raised.text))
    return None


def _no_space(raised: Raised, has_stages: bool) -> DataError | None:
    for words in _NO_SPACE:
        if words in raised.text:
            return DataError(
                f"no space left to write the output ({words}); free space, or choose another output or TMPDIR, "
                + _again(has_stages)
            )
    return None


def _no_temporary_folder(raised: Raised, has_stages: bool) -> DataError | None:
    if "No usable temporary directory" not in raised.text:
        return None
    return DataError("no temporary folder can be written; set TMPDIR to one, or mount a tmpfs at /tmp in a container.")


def _database(raised: Raised, has_stages: bool) -> DataError | None:
    for words in _DATABASE:
        if words in raised.text:
            return DataError(
                f"{METADATA_FILE} in the output folder cannot be used: {words}. Make it writable and close other "
                "programs that use it, or move it away; then run again: all stages run again."
            )
    return None


def _no_memory(raised: Raised, has_stages: bool) -> DataError | None:
    words = next((words for words in _NO_MEMORY if words in raised.text), None)
    if words is None and not {"MemoryError", *_tensorflows("ResourceExhaustedError")}.intersection(raised.names):
        return None
    detail = printable(words or first_line(raised.text), 200)
    smaller = "training.batch_lists, channels.towers.embedding_dim, data.vocabulary_size or " if has_stages else ""
    return DataError(
        f"not enough memory{f' ({detail})' if detail else ''}; free memory, or choose a smaller {smaller}collection, "
        + _again(has_stages)
    )


def _system(raised: Raised, has_stages: bool) -> DataError | None:
    """Recognises a failure of the system with a file."""
    number, path = None, None
    if isinstance(raised.error, OSError):
        number, path = raised.error.errno, raised.error.filename
    if number is None:
        number, path = _system_fault(raised.text)
    if number in (None, errno.ENOMEM) or not (number in _WAY_OUT or path):
        return None
    prefix = f"{os.fsdecode(path)}: " if isinstance(path, str | bytes) else ""
    way_out = _WAY_OUT.get(number, "correct the cause")
    return DataError(f"{printable(prefix, _LONGEST)}{os.strerror(number)}; {way_out}, {_again(has_stages)}")


def _system_fault(text: str) -> tuple[int | None, str | None]:
    """Returns the error number and the path in a message of Python, Beam or TensorFlow."""
    if match := re.search(r"\[Errno (\d+)\] [^:\n\[]+(?:: b?(?P<quote>['\"])(.+?)(?P=quote))?", text):
        return int(match[1]), match[3]
    if match := re.search(r"(?:b?(?P<quote>['\"])([^'\"\n]+)(?P=quote): \w*)?Error\((\d+), '", text):
        return int(match[3]), match[2]
    if match := re.search(rf"^\s*(\S.*?)(?:;| is) ({_STRERROR})\b", text, re.MULTILINE | re.IGNORECASE):
        return _NUMBERS[match[2].lower()], match[1]
    return None, None


def _broken_file(raised: Raised, has_stages: bool) -> DataError | None:
    """Recognises a library's error about a file; TensorFlow's INVALID_ARGUMENT, INTERNAL and others are our bugs."""
    line = printable(first_line(raised.text), _LONGEST)
    is_damage = (
        not {"EOFError", "zlib.error", "gzip.BadGzipFile", *_tensorflows("DataLossError")}.isdisjoint(raised.names)
    ) or (_is(raised, "OutOfRangeError") and re.search(r"\b[Rr]ead\b|\bEOF\b", line))
    is_absence = _is(raised, "UnavailableError", "PermissionDeniedError") or (
        _is(raised, "NotFoundError") and re.search(r"\bfiles?\b|\bdirectory\b", line)
    )
    if is_damage:
        return DataError(f"A file is damaged: {line}. Delete it, or the output that it is in, and run again.")
    if is_absence:
        return DataError(f"A file cannot be read: {line}; correct the cause, {_again(has_stages)}")
    return None


def _is(raised: Raised, *names: str) -> bool:
    return not set(_tensorflows(*names)).isdisjoint(raised.names)


def _tensorflows(*names: str) -> tuple[str, ...]:
    """Returns the full names of TensorFlow's error classes, without importing TensorFlow."""
    return tuple(f"tensorflow.python.framework.errors_impl.{name}" for name in names)


_RECOGNISERS: Final = (_own_error, _no_space, _no_temporary_folder, _database, _system, _no_memory, _broken_file)
