"""cli/users_error.py: what is the user's, by its kind, and what stays a bug of ours."""

import errno
import gzip
import os
import traceback
import zlib
from collections.abc import Callable

import pytest

from schemas.errors import ConfigError, DataError
from smooth_clir.cli.users_error import users_error


def caught(act: Callable[[], object]) -> Exception:
    """The exception that a function raises, with its traceback."""
    try:
        act()
    except Exception as error:
        return error
    raise AssertionError("it raises nothing")


def raised(error: Exception) -> Exception:
    """An exception with a traceback."""
    try:
        raise error
    except Exception as same:
        return same


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


PASSED_ON = pytest.mark.parametrize(
    "passed_on",
    [lambda error: error, wrapped, handled, in_words, annotated],
    ids="itself cause context text step".split(),
)


@PASSED_ON
@pytest.mark.parametrize(
    ("act", "start", "remedy"),
    [
        (lambda: open("/no/such/file"), "/no/such/file: No such file or directory", "put it back"),
        (lambda: open(b"/no/such/file"), "/no/such/file: No such file or directory", "put it back"),
        (lambda: open("/proc/new", "w"), "/proc/new: No such file or directory", "put it back"),
        (lambda: open("/proc"), "/proc: Is a directory", "move away"),
        (lambda: os.mkdir("/proc"), "/proc: File exists", "move away"),
        (lambda: open("/dev/null/x"), "/dev/null/x: Not a directory", "move away"),
        (lambda: open(300 * "x"), f"{300 * 'x'}: File name too long", "shorter path"),
        (PermissionError(errno.EACCES, "Permission denied", "/x/y"), "/x/y: Permission denied", "access"),
        (OSError(errno.EROFS, "Read-only file system", "/x"), "/x: Read-only file system", "another"),
        (OSError(errno.EMFILE, "Too many open files", "/x"), "/x: Too many open files", "ulimit -n"),
        (OSError(errno.EIO, "Input/output error"), "Input/output error", "disk"),
        (OSError(errno.EINVAL, "Invalid argument", "/fat/a:b"), "/fat/a:b: Invalid argument", "correct"),
        (FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']"), "no temporary", "TMPDIR"),
        (MemoryError(), "not enough memory", ""),
        (MemoryError("Unable to allocate 8 TiB"), "not enough memory", ""),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "not enough memory", ""),
        (EOFError("Compressed file ended"), "A file is damaged", ""),
        (zlib.error("Error -3"), "A file is damaged", ""),
        (gzip.BadGzipFile("not gzipped"), "A file is damaged", ""),
        (DataError("bad data\n  line 2"), "bad data\n  line 2", ""),
        (DataError(""), "", ""),
    ],
)
def test_an_error_of_the_user_s_is_reported_with_its_path_and_a_remedy_however_it_is_passed_on(
    act: Callable[[], object] | Exception, start: str, remedy: str, passed_on: Callable[[BaseException], Exception]
) -> None:
    fault = users_error(passed_on(raised(act) if isinstance(act, Exception) else caught(act)), True)
    assert isinstance(fault, DataError)
    assert str(fault).startswith(start) and remedy in str(fault)


@PASSED_ON
def test_each_fault_of_a_configuration_keeps_its_line(passed_on: Callable[[BaseException], Exception]) -> None:
    fault = users_error(passed_on(raised(ConfigError(["one", "two"]))), True)
    assert isinstance(fault, ConfigError)
    assert fault.faults == ("one", "two")


def test_the_step_of_beam_is_no_part_of_the_text() -> None:
    error = DataError("bad data [while running 'ReadQueries/ParDo'] [while running 'Outer']")
    assert str(users_error(error, True)) == "bad data"


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
def test_a_broken_database_is_named(words: str) -> None:
    assert str(users_error(wrapped(RuntimeError(words)), True)).startswith("metadata.sqlite")


@PASSED_ON
@pytest.mark.parametrize(
    "error",
    [
        ImportError("no such name"),
        ModuleNotFoundError("No module named 'x'"),
        KeyError("OSError: [Errno 2] No such file or directory: '/x'"),
        AssertionError("database is locked"),
        ValueError("[Errno 2] No such file or directory: '/x'"),
        RuntimeError("x"),
        RecursionError("x"),
        OSError("something without a number or a file"),
        OSError(errno.EBADF, "Bad file descriptor"),
    ],
    ids=repr,
)
def test_a_slip_of_ours_stays_one(error: Exception, passed_on: Callable[[BaseException], Exception]) -> None:
    assert users_error(passed_on(error), True) is None


def test_a_slip_stays_one_whatever_was_handled_and_a_library_s_error_has_its_cause() -> None:
    def slip() -> None:
        try:
            open("/no/such/file")
        except OSError:
            {}["x"]

    def library() -> None:
        try:
            open("/no/such/file")
        except OSError as error:
            raise ValueError("cannot read") from error

    assert users_error(caught(slip), True) is users_error(in_words(caught(slip)), True) is None
    assert str(users_error(caught(library), True)).startswith("/no/such/file: No such file")


def test_an_exception_that_stands_behind_itself_ends() -> None:
    first, second = RuntimeError("one"), RuntimeError("other")
    first.__context__, second.__context__ = second, first
    assert users_error(first, True) is None


@pytest.mark.tensors
@pytest.mark.parametrize(
    ("name", "text", "start"),
    [
        ("NotFoundError", "/x/y; No such file or directory", "/x/y: No such file or directory; put it back"),
        ("FailedPreconditionError", "/x; Is a directory", "/x: Is a directory; move away"),
        ("FailedPreconditionError", "/x is not a directory", "/x: Not a directory; move away"),
        ("PermissionDeniedError", "/x; Permission denied", "/x: Permission denied; give"),
        ("ResourceExhaustedError", "/x; Too many open files", "/x: Too many open files; allow"),
        ("ResourceExhaustedError", "/x; No space left on device", "no space left"),
        (
            "ResourceExhaustedError",
            "Graph execution error:\n\nOOM when allocating tensor [9]",
            "not enough memory (OOM",
        ),
        ("ResourceExhaustedError", "Out of memory while", "not enough memory (Out of memory"),
        ("NotFoundError", "Could not find directory /x", "A file cannot be read"),
        ("DataLossError", "truncated record at 12", "A file is damaged"),
        ("OutOfRangeError", "Read less bytes than requested", "A file is damaged"),
        ("UnavailableError", "socket closed", "A file cannot be read"),
        ("OutOfRangeError", "End of sequence", None),
        ("InvalidArgumentError", "Incompatible shapes: [2] vs. [3]", None),
        ("InternalError", "failed to run", None),
        ("NotFoundError", "Op type not registered 'X' in binary running on host", None),
        ("CancelledError", "step cancelled", None),
    ],
)
def test_an_error_of_tensorflow_is_reported_by_its_code(name: str, text: str, start: str | None) -> None:
    import tensorflow as tf

    error = getattr(tf.errors, name)(None, None, text)
    for passed_on in (error, wrapped(error), in_words(error)):
        fault = users_error(passed_on, True)
        assert fault is None if start is None else str(fault).startswith(start)
