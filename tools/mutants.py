"""Measures what the tests find: makes a fixed list of faults in the product, and counts those that some test notices.

    python -m tools.mutants draw > tools/mutants.jsonl                    # the list, by its seed
    python -m tools.mutants trace build/mutants "not long"                # which test runs which line: once a suite
    python -m tools.mutants kill build/mutants > build/mutants/kills.jsonl # some hours on two cores; can be repeated

A mutant is one small change of one line, such as `<` for `<=`. It is killed if a test fails. Only tests that run the
changed line are asked: those of the module's own test file first, then the quickest. The product is changed in a copy.
"""

import ast
import contextlib
import json
import math
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[1]
LIST: Final = Path(__file__).with_suffix(".jsonl")
ROOMS: Final = ("models", "components", "pipeline", "serving", "schemas", "wikipedia")
SEED: Final = 59
COUNT: Final = 330
WORKERS: Final = 2
TEST_SECONDS: Final = 30.0
"""Tests are asked until they would take so long, by their times while tracing."""
RUNS: Final = "tests/e2e/"
RUN_SECONDS: Final = 30.0
"""A test of the folder `RUNS` counts for so long at least: the first that is asked makes the run that it needs."""
LIMIT: Final = 180.0
"""Seconds after which a mutant's tests are ended: it hangs, or its tests take long."""
MEMORY: Final = 8 << 30
"""Bytes that a mutant's tests may take: one that loops may fill the machine before its time is over."""

COMPARED: Final[Mapping[type[ast.cmpop], str]] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
COMPUTED: Final[Mapping[type[ast.operator], str]] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "*", ast.BitOr: "&",
    ast.BitAnd: "|", ast.Pow: "*",
}  # fmt: skip
LIBRARIES: Final = ("tensorflow", "tensorflow_text", "tensorflow_transform", "tfx.v1", "apache_beam", "pydantic")
"""Libraries that are imported before each mutant's process is forked. None of them imports the project."""
CALLED: Final = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list", "reversed": "list"}
_NO_TESTS: Final = 99
"""The exit code of a process that could not start its tests."""
FAILED: Final = r"^(?:FAILED|ERROR) (tests/.*?)(?: - .*)?$"
"""A line of pytest's about a test that failed."""


class Mutant(NamedTuple):
    """One change: at (line, column), counted from 1 and 0, of a file the text `old` becomes `new`."""

    path: str
    line: int
    column: int
    old: str
    new: str

    def apply(self, code: str) -> str:
        """The changed code.

        Raises:
          ValueError: the old text is not there: the code is another than the list's.
        """
        lines = code.splitlines(keepends=True)
        start = sum(map(len, lines[: self.line - 1])) + self.column
        if not code.startswith(self.old, start):
            raise ValueError(f"{self.path}:{self.line}: expected {self.old!r}; draw the list again.")
        return code[:start] + self.new + code[start + len(self.old) :]


def mutants_of(path: str, code: str) -> Iterator[Mutant]:
    """Yields every mutant of a file. Texts, docstrings, types and imports have none."""
    lines = [0]
    for line in code.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    of_bytes = [line.encode() for line in code.splitlines(keepends=True)]

    def offset(line: int, column: int) -> int:
        return lines[line - 1] + len(of_bytes[line - 1][:column].decode())

    def text(node: ast.AST) -> str:
        return code[offset(node.lineno, node.col_offset) : offset(node.end_lineno, node.end_col_offset)]  # type: ignore[attr-defined]

    def mutant(node: ast.AST, new: str) -> Mutant:
        line: int = node.lineno  # type: ignore[attr-defined]
        return Mutant(path, line, offset(line, node.col_offset) - lines[line - 1], text(node), new)  # type: ignore[attr-defined]

    def between(left: ast.AST, right: ast.AST, old: str, new: str) -> Iterator[Mutant]:
        start = offset(left.end_lineno, left.end_col_offset)  # type: ignore[attr-defined]
        gap = code[start : offset(right.lineno, right.col_offset)]  # type: ignore[attr-defined]
        if gap.strip() == old:
            where = start + gap.index(old)
            line = code.count("\n", 0, where) + 1
            yield Mutant(path, line, where - lines[line - 1], old, new)

    for node in _statements_and_values(ast.parse(code)):
        match node:
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                yield from between(left, right, _sign(operator), COMPARED[type(operator)])
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in COMPUTED:
                yield from between(left, right, _sign(operator), COMPUTED[type(operator)])
            case ast.BoolOp(op=operator, values=[left, right, *_]):
                old, new = ("and", "or") if isinstance(operator, ast.And) else ("or", "and")
                yield from between(left, right, old, new)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield mutant(node, f"({text(operand)})")
            case ast.Constant(value=bool(value)):
                yield mutant(node, str(not value))
            case ast.Constant(value=int(value)):
                yield mutant(node, str(value + 1))
            case ast.Constant(value=float(value)):
                yield mutant(node, repr(2 * value + 0.5))
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                yield mutant(test, f"(not ({text(test)}))")
            case ast.comprehension(ifs=[test, *_]):
                yield mutant(test, "True")
            case ast.Return(value=ast.expr()):
                yield mutant(node, "return None")
            case ast.Expr(value=ast.Call()) | ast.Raise() | ast.AugAssign():
                yield mutant(node, "pass")
            case ast.Expr(value=ast.Yield(value=ast.expr())):
                yield mutant(node, "yield None")
            case ast.Break() | ast.Continue():
                yield mutant(node, "continue" if isinstance(node, ast.Break) else "break")
            case ast.Call(func=ast.Name(id=name) as function) if name in CALLED:
                yield mutant(function, CALLED[name])


def _statements_and_values(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a tree but for types, defaults of types, and decorators."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list") or isinstance(node, ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child
                yield from _statements_and_values(child)


def _sign(operator: ast.AST) -> str:
    """An operator as Python writes it."""
    if isinstance(operator, ast.cmpop):
        return (
            ast.unparse(ast.Compare(ast.Name("a"), [operator], [ast.Name("b")])).removeprefix("a ").removesuffix(" b")
        )
    return ast.unparse(ast.BinOp(ast.Name("a"), operator, ast.Name("b"))).removeprefix("a ").removesuffix(" b")  # type: ignore[arg-type]


def draw(seed: int, count: int) -> list[Mutant]:
    """Draws mutants: a room by its lines, then a line that has mutants, then one of them; none twice."""
    rng = random.Random(seed)
    sites: dict[str, list[list[Mutant]]] = {}
    weights = []
    for room in ROOMS:
        lines: dict[tuple[str, int], list[Mutant]] = defaultdict(list)
        size = 0
        for path in sorted((ROOT / room).rglob("*.py")):
            code = path.read_text(encoding="utf-8")
            size += code.count("\n")
            for mutant in mutants_of(str(path.relative_to(ROOT)), code):
                lines[mutant.path, mutant.line].append(mutant)
        sites[room] = list(lines.values())
        weights.append(size)
    drawn: set[Mutant] = set()
    while len(drawn) < count:
        (room,) = rng.choices(ROOMS, weights)
        drawn.add(rng.choice(rng.choice(sites[room])))
    return sorted(drawn)


def read_list() -> list[Mutant]:
    """The drawn list."""
    return [Mutant(*json.loads(row)) for row in LIST.read_text(encoding="utf-8").splitlines()]


def write_rows(rows: Iterable[Sequence[object]]) -> None:
    """Writes rows to stdout."""
    sys.stdout.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def trace(folder: Path, marks: str) -> None:
    """Runs tests and records which of them run which line, and how long each takes."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = f"[run]\nsource={','.join(ROOMS)}\ncore=ctrace\ndata_file={folder / 'lines'}\n"
    (folder / "coveragerc").write_text(settings)
    command = [sys.executable, "-m", "pytest", f"-n{WORKERS}", "--dist=loadfile", "--no-loadscope-reorder", "-m", marks]
    command += ["-vv", "--durations=0", "--durations-min=0", "--cov", f"--cov-config={folder / 'coveragerc'}"]
    command += ["--cov-context=test", "--cov-report="]
    with (folder / "log").open("w", encoding="utf-8") as log:
        subprocess.run(command, cwd=ROOT, stdout=log, check=False)


class Traced:
    """Which tests run which line.

    Args:
      folder: that `trace` wrote.
    """

    def __init__(self, folder: Path) -> None:
        self._lines = sqlite3.connect(folder / "lines")
        log = (folder / "log").read_text()
        failed = re.findall(FAILED, log, re.MULTILINE)
        self._seconds: dict[str, float] = defaultdict(float)
        for row in re.finditer(r"^([\d.]+)s \w+ +(tests/.+)$", log, re.MULTILINE):
            if row[2] not in failed:
                self._seconds[row[2]] += float(row[1])
        for test, seconds in self._seconds.items():
            if test.startswith(RUNS):
                self._seconds[test] = max(seconds, RUN_SECONDS)

    def tests(self, mutant: Mutant) -> list[str]:
        """The tests that run a mutant's line, the likeliest first, as far as their time goes."""
        # A line that runs once, at the import, has no tests of its own: all tests of the module may show it.
        contexts = self._contexts(mutant.path, mutant.line) or self._contexts(mutant.path, None)
        tests_by_phase = defaultdict(set)
        for context in contexts:
            test, _, phase = context.rpartition("|")
            tests_by_phase[phase].add(test)
        # A fixture is traced where it is first made; all other tests of the file may use it.
        files = {test.partition("::")[0] for test in tests_by_phase["setup"]}
        tests = {test for test in self._seconds if test in tests_by_phase["run"] or test.partition("::")[0] in files}
        own = f"test_{Path(mutant.path).name}"
        key = lambda test: (Path(test.partition("::")[0]).name != own, self._seconds[test], test)  # noqa: E731
        chosen: list[str] = []
        seconds = 0.0
        for test in sorted(tests, key=key):
            seconds += self._seconds[test]
            if seconds > TEST_SECONDS and chosen:
                break
            chosen.append(test)
        return chosen

    def _contexts(self, path: str, line: int | None) -> set[str]:
        """The tests, and their phases, that run a line, or any line of a file."""
        rows = self._lines.execute(
            "select context.context, numbits from line_bits join file on file.id = file_id "
            "join context on context.id = context_id where file.path like ? and context.context != ''",
            (f"%/{path}",),
        )
        return {
            context
            for context, bits in rows
            if line is None or (line // 8 < len(bits) and bits[line // 8] >> line % 8 & 1)
        }


class Outcome(NamedTuple):
    """The fate of a mutant.

    Attributes:
      how: `killed`, `survived`, `hangs` (its tests did not end, perhaps for being slow), or `untested`, which no test
        runs.
      by: the test that failed first.
    """

    mutant: Mutant
    how: str
    by: str
    tests: int
    seconds: float


def kill(folder: Path) -> None:
    """Asks each mutant's tests, and writes a row per mutant; rows that stand in the folder are not asked again."""
    done = folder / "outcomes.jsonl"
    before = {tuple(json.loads(row)[0]) for row in done.read_text().splitlines()} if done.exists() else set()
    traced = Traced(folder)
    todo = [(mutant, traced.tests(mutant)) for mutant in read_list() if mutant not in before]
    context = multiprocessing.get_context("spawn")
    # A test may start processes of its own, which those of a `multiprocessing.Pool` must not.
    with ProcessPoolExecutor(WORKERS, context, _enter_copy, (str(folder), context.Value("i", 0))) as pool:
        for number, asked in enumerate(as_completed([pool.submit(_ask, task) for task in todo]), 1):
            outcome = asked.result()
            with done.open("a", encoding="utf-8") as file:
                file.write(json.dumps(outcome) + "\n")
            mutant = outcome.mutant
            print(f"[{number}/{len(todo)}] {mutant.path}:{mutant.line} {outcome.how} {outcome.by}", file=sys.stderr)
        rows = sorted(json.loads(row) for row in done.read_text().splitlines())
        killers = sorted({by for _, _, by, *_ in rows if by})
        unchanged = Mutant("models/__init__.py", 1, 0, "", "")
        if (control := pool.submit(_ask, (unchanged, killers), math.inf).result()).how != "survived":
            sys.exit(f"{control.by} fails without a mutant, too: take its rows out of {done}, and repeat.")
    write_rows((*mutant, how, by, tests) for mutant, how, by, tests, _ in rows)


def _enter_copy(folder: str, number: "multiprocessing.sharedctypes.Synchronized[int]") -> None:
    """Makes a copy of the tree and goes there, and imports the libraries, so that each mutant's process has them."""
    with number.get_lock():
        number.value += 1
        copy = Path(folder, f"copy-{number.value}")
    shutil.rmtree(copy, ignore_errors=True)
    names = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    for name in subprocess.check_output(names, cwd=ROOT, text=True).split("\0"):
        if name and (ROOT / name).exists():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    (copy / ".venv").symlink_to(Path(sys.prefix))
    os.chdir(copy)
    os.environ["PYTHONPATH"] = str(copy)  # the commands that tests start are of the copy
    sys.path[:] = [str(copy), *(path for path in sys.path if Path(path).resolve() != ROOT)]
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    for library in LIBRARIES:
        __import__(library)


def _ask(task: tuple[Mutant, list[str]], limit: float = LIMIT) -> Outcome:
    """Runs a mutant's tests in a process of its own."""
    mutant, tests = task
    if not tests:
        return Outcome(mutant, "untested", "", 0, 0.0)
    path, start = Path(mutant.path), time.monotonic()
    code = path.read_bytes()
    try:
        path.write_text(mutant.apply(code.decode()), encoding="utf-8")
        _forget_compiled(path)
        log = Path("mutant.log")
        child = os.fork()
        if child == 0:
            try:
                _run_tests(tests, log)
            finally:
                os._exit(_NO_TESTS)  # it must never go on as the process that forked it
        ended = False
        while not ended and time.monotonic() - start < limit:
            time.sleep(0.1)
            ended, status = map(int, os.waitpid(child, os.WNOHANG))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # with what the tests started
        if not ended:
            os.waitpid(child, 0)
            return Outcome(mutant, "hangs", "", len(tests), time.monotonic() - start)
        if os.waitstatus_to_exitcode(status) == _NO_TESTS:
            raise RuntimeError(f"the tests of {mutant.path}:{mutant.line} could not start; see {log.absolute()}")
        failed = re.search(FAILED, log.read_text(errors="replace"), re.MULTILINE)
        how = "survived" if status == 0 else "killed"
        return Outcome(mutant, how, failed[1] if failed else "", len(tests), time.monotonic() - start)
    finally:
        path.write_bytes(code)
        _forget_compiled(path)


def _run_tests(tests: list[str], log: Path) -> None:
    """Runs tests up to the first that fails, and ends the process."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    import pytest

    class LikeliestFirst:
        """Asks the likeliest tests first, whatever the order of the suite, and any example that fails is enough."""

        @pytest.hookimpl(tryfirst=True)
        def pytest_configure(self) -> None:
            from hypothesis import Phase, settings

            phases = [Phase.explicit, Phase.generate]  # a search for a smaller example takes minutes
            settings.register_profile("mutants", settings.get_profile("clir"), phases=phases)

        @pytest.hookimpl(trylast=True)
        def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
            # A file that a mutant kept from being imported stands among the tests that killed one.
            order = {test: place for place, test in enumerate(tests)}
            items.sort(key=lambda item: order.get(item.nodeid, len(tests)))

    options = ["-x", "-rfE", "--tb=line", "-p", "no:cacheprovider", "--hypothesis-profile=mutants"]
    os._exit(int(pytest.main([*options, *tests], plugins=[LikeliestFirst()])))


def _forget_compiled(path: Path) -> None:
    """Removes the compiled file: a change within a second that keeps the size would not be seen."""
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
        compiled.unlink()


def main() -> None:
    """See the module's docstring."""
    match sys.argv[1:]:
        case ["draw"]:
            write_rows(draw(SEED, COUNT))
        case ["trace", folder, marks]:
            trace(Path(folder).absolute(), marks)
        case ["kill", folder]:
            kill(Path(folder).absolute())
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
