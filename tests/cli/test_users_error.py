"""cli/users_error.py: what is the user's, by its kind, and what stays a bug of ours."""

import errno
import gzip
import os
import traceback
import zlib
from collections.abc import Callable

import pytest

from cli.users_error import users_error
from schemas.errors import ConfigError, DataError

AGAIN = "and run it again: finished stages stay in the cache."


def caught(act: Callable[[], object]) -> Exception:
    """The exception that a function raises, with its traceback."""
    try:
        act()
    except Exception as error:
        return error
    raise AssertionError("it raises nothing")


def raising(error: BaseException) -> Callable[[], object]:
    def act() -> object:
        raise error

    return act


def wrapped(error: BaseException) -> Exception:
    """As a runner wraps an error."""
    outer = RuntimeError("stage failed")
    outer.__cause__ = error
    return outer


def handled(error: BaseException) -> Exception:
    """As an error that is raised while another is handled."""
    outer = RuntimeError("stage failed")
    outer.__context__ = error
    return outer


def in_words(error: BaseException) -> Exception:
    """As Beam passes on an error: the text of its traceback, with the step."""
    text = "".join(traceback.format_exception(error))
    return RuntimeError(
        f"{text}\nDuring handling of the above exception, another exception occurred:\n\n"
        'Traceback (most recent call last):\n  File "common.py", line 1\n    raise new\n'
        f"RuntimeError: {annotated(error)}"
    )


def annotated(error: BaseException) -> Exception:
    """As Beam passes on an error of the first step."""
    (line,) = traceback.format_exception_only(error)
    return RuntimeError(f"{line.strip()} [while running 'MakeExamples']")


AS_IT_IS = pytest.mark.parametrize(
    "passed_on",
    [lambda error: error, wrapped, handled, in_words, annotated],
    ids="itself cause context text step".split(),
)


@AS_IT_IS
@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda: open("/no/such/file"), f"/no/such/file: No such file or directory; put it back, {AGAIN}"),
        (lambda: open(b"/no/such/file"), f"/no/such/file: No such file or directory; put it back, {AGAIN}"),
        (lambda: open("/proc/new", "w"), f"/proc/new: No such file or directory; put it back, {AGAIN}"),
        (lambda: open("/proc"), f"/proc: Is a directory; move away the file or folder in its place, {AGAIN}"),
        (lambda: os.mkdir("/proc"), f"/proc: File exists; move away the file or folder in its place, {AGAIN}"),
        (
            lambda: open("/dev/null/x"),
            f"/dev/null/x: Not a directory; move away the file or folder in its place, {AGAIN}",
        ),
        (lambda: open(300 * "x"), f"{300 * 'x'}: File name too long; choose a shorter path, {AGAIN}"),
        (
            raising(PermissionError(errno.EACCES, "Permission denied", "/x/y")),
            f"/x/y: Permission denied; give this user access, or choose another, {AGAIN}",
        ),
        (
            raising(OSError(errno.EROFS, "Read-only file system", "/x")),
            f"/x: Read-only file system; choose another, on a disk that can be written, {AGAIN}",
        ),
        (
            raising(OSError(errno.EMFILE, "Too many open files", "/x")),
            f"/x: Too many open files; allow more open files (ulimit -n), {AGAIN}",
        ),
        (
            raising(OSError(errno.EIO, "Input/output error")),
            f"Input/output error; check the disk and its network, {AGAIN}",
        ),
        (
            raising(OSError(errno.EINVAL, "Invalid argument", "/fat/a:b")),
            f"/fat/a:b: Invalid argument; correct the cause, {AGAIN}",
        ),
    ],
    ids="missing bytes unmade folder exists under long permission read-only handles disk named".split(),
)
def test_what_the_system_cannot_do_is_reported_with_the_path(
    act: Callable[[], object], sentence: str, passed_on: Callable[[BaseException], Exception]
) -> None:
    found = users_error(passed_on(caught(act)))
    assert isinstance(found, DataError)
    assert str(found) == sentence


@AS_IT_IS
@pytest.mark.parametrize("error", [DataError("bad data\n  line 2"), DataError("")])
def test_an_error_for_users_keeps_its_text(error: Exception, passed_on: Callable[[BaseException], Exception]) -> None:
    found = users_error(passed_on(caught(raising(error))))
    assert isinstance(found, DataError)
    assert str(found) == str(error)


@AS_IT_IS
def test_each_fault_of_a_configuration_keeps_its_line(passed_on: Callable[[BaseException], Exception]) -> None:
    found = users_error(passed_on(caught(raising(ConfigError(["one", "two"])))))
    assert isinstance(found, ConfigError)
    assert found.faults == ("one", "two")


def test_the_step_of_beam_is_no_part_of_the_text() -> None:
    error = DataError("bad data [while running 'ReadQueries/ParDo'] [while running 'Outer']")
    assert str(users_error(error)) == "bad data"


@AS_IT_IS
@pytest.mark.parametrize(
    "error", [MemoryError(), MemoryError("Unable to allocate 8 TiB"), OSError(errno.ENOMEM, "Cannot allocate memory")]
)
def test_too_little_memory_is_a_sentence(error: Exception, passed_on: Callable[[BaseException], Exception]) -> None:
    assert str(users_error(passed_on(error))).startswith("not enough memory")


@pytest.mark.parametrize(
    "words",
    [
        "Error when executing query: database disk image is malformed query: SELECT 1;",
        "Error when executing query: attempt to write a readonly database query: COMMIT;",
        "Error when executing query: file is not a database query:  CREATE TABLE",
        "Error when executing query: database is locked query: BEGIN;",
        "Cannot connect sqlite3 database: unable to open database file",
        "Error when executing query: disk I/O error query: BEGIN;",
    ],
)
def test_a_broken_database_is_named_with_a_way_on(words: str) -> None:
    reported = str(users_error(wrapped(RuntimeError(words))))
    assert reported.startswith("metadata.sqlite in the output folder must be the database")
    assert reported.endswith("or move it away, and run it again: all stages then run again.")


@pytest.mark.parametrize(
    "error", [EOFError("Compressed file ended"), zlib.error("Error -3"), gzip.BadGzipFile("not gzipped")]
)
def test_a_damaged_file_is_a_sentence(error: Exception) -> None:
    assert str(users_error(in_words(error))).startswith("a file must be as it was written; it is damaged: ")


@AS_IT_IS
@pytest.mark.parametrize(
    "error",
    [
        ImportError("no such name"),
        ModuleNotFoundError("No module named 'x'"),
        TypeError("x"),
        KeyError("OSError: [Errno 2] No such file or directory: '/x'"),
        AttributeError("x"),
        AssertionError("database is locked"),
        ValueError("[Errno 2] No such file or directory: '/x'"),
        ZeroDivisionError("x"),
        IndexError("x"),
        RuntimeError("x"),
        RecursionError("x"),
        OSError("something without a number or a file"),
        OSError(errno.EBADF, "Bad file descriptor"),
    ],
    ids=repr,
)
def test_a_slip_of_ours_stays_one(error: Exception, passed_on: Callable[[BaseException], Exception]) -> None:
    assert users_error(passed_on(error)) is None


def test_a_slip_stays_one_whatever_was_handled_when_it_was_made() -> None:
    def act() -> None:
        try:
            open("/no/such/file")
        except OSError:
            {}["x"]

    assert users_error(caught(act)) is None
    assert users_error(in_words(caught(act))) is None


def test_what_a_library_makes_of_an_error_of_the_system_is_reported_by_that() -> None:
    def act() -> None:
        try:
            open("/no/such/file")
        except OSError as error:
            raise ValueError("cannot read") from error

    assert str(users_error(caught(act))).startswith("/no/such/file: No such file")


def test_an_exception_that_stands_behind_itself_ends() -> None:
    one, other = RuntimeError("one"), RuntimeError("other")
    one.__context__, other.__context__ = other, one
    assert users_error(one) is None


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("NotFoundError", "/x/y; No such file or directory", "/x/y: No such file or directory; put it back"),
        (
            "FailedPreconditionError",
            "/x; Is a directory",
            "/x: Is a directory; move away the file or folder in its place",
        ),
        (
            "FailedPreconditionError",
            "/x is not a directory",
            "/x: Not a directory; move away the file or folder in its place",
        ),
        ("PermissionDeniedError", "/x; Permission denied", "/x: Permission denied; give this user access"),
        ("ResourceExhaustedError", "/x; Too many open files", "/x: Too many open files; allow more open files"),
        ("ResourceExhaustedError", "/x; No space left on device", "no space left to write the output"),
        (
            "ResourceExhaustedError",
            "Graph execution error:\n\nDetected at node a\nOOM when allocating tensor with shape[9]",
            "not enough memory (OOM when allocating)",
        ),
        ("ResourceExhaustedError", "Out of memory while", "not enough memory (Out of memory while)"),
        ("NotFoundError", "Could not find directory /x", "a file must be there and be readable: Could not find dir"),
        (
            "DataLossError",
            "truncated record at 12",
            "a file must be as it was written; it is damaged: truncated record",
        ),
        ("OutOfRangeError", "Read less bytes than requested", "a file must be as it was written; it is damaged: Read"),
        ("UnavailableError", "socket closed", "a file must be there and be readable: socket closed; correct the cause"),
        ("OutOfRangeError", "End of sequence", None),
        ("InvalidArgumentError", "Incompatible shapes: [2] vs. [3]", None),
        ("InternalError", "failed to run", None),
        ("NotFoundError", "Op type not registered 'X' in binary running on host", None),
        ("CancelledError", "step cancelled", None),
    ],
)
def test_an_error_of_tensorflow_is_reported_by_its_code(name: str, text: str, sentence: str | None) -> None:
    import tensorflow as tf

    error = getattr(tf.errors, name)(None, None, text)
    for one in (error, wrapped(error), in_words(error)):
        found = users_error(one)
        assert found is None if sentence is None else str(found).startswith(sentence)
