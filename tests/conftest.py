"""The ground of every test: a quiet TensorFlow where one needs it, and a Hypothesis that draws the same each time."""

import ctypes
import gc
import os
import re
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import xdist
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling, Scheduling

from tests.bad_input.collection import CONFIG
from tests.cli.command import Clir

if TYPE_CHECKING:
    import tensorflow as tf

# Before anything imports TensorFlow.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

settings.register_profile("clir", derandomize=True, deadline=None, max_examples=15)
settings.load_profile("clir")


SHARED = ("sample_run", "search_run", "demo_output", "experiment_of", "searchable", "stand_in")
"""The fixtures that several files share and that take long: runs of the whole pipeline, experiments, and models that
search and are served. A file belongs to the first of them that it has."""
LAYERS = ("long", "runs", "stages", "tensors")
"""The marks of the layers that need TensorFlow, the longest tests first. Tests without a mark do without it."""
_LONG_FILES: set[Path] = set()
"""The files with tests of these marks."""


@cache
def import_tensorflow() -> None:
    """Imports TensorFlow with two devices, for tests with two replicas; it allows them only before its first op.

    Graphs are run as they are traced: to optimize one takes longer than the few calls of it here, half of the time of
    its first call. Commands in processes of their own optimize theirs.
    """
    import tensorflow as tf

    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
    )


@cache
def file_marks(path: Path) -> frozenset[str]:
    """The marks that a file gives all its tests (`pytestmark`)."""
    text = path.read_text(encoding="utf-8") if path.suffix == ".py" else ""
    marks = re.search(r"^pytestmark = (\[[^]]*\]|.*)", text, re.MULTILINE)
    return frozenset(re.findall(r"pytest\.mark\.(\w+)", marks[1])) if marks else frozenset()


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Leaves what the imports made out of all later collections of garbage."""
    if session.config.getoption("dist", "no") != "no" and not xdist.is_xdist_worker(session):  # it imports no test
        return (yield)
    gc.disable()
    collected = yield
    gc.collect()
    gc.freeze()
    gc.enable()
    return collected


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Does not import a file if `-m` excludes all its tests: some import TFX, which takes seconds.

    Only an expression of the form `... and not MARK` counts.
    """
    excluded = {f"not {mark}" for mark in file_marks(collection_path)}
    return True if excluded & {*config.option.markexpr.split(" and ")} else None


@pytest.hookimpl(tryfirst=True)
def pytest_make_collect_report(collector: pytest.Collector) -> None:
    """Imports TensorFlow before the first file that needs it."""
    if isinstance(collector, pytest.Module) and file_marks(collector.path) & {*LAYERS}:
        import_tensorflow()


def pytest_make_parametrize_id(val: object) -> str | None:
    """Names gzipped bytes so: the time stands in them, and all processes must give a test the same name."""
    return "gzip" if isinstance(val, bytes) and val.startswith(b"\x1f\x8b") else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the files with long tests first, so that at the end no process waits long for another."""
    ranks: dict[Path, int] = {}
    for item in items:
        marks = [rank for rank, layer in enumerate(LAYERS) if item.get_closest_marker(layer)]
        ranks[item.path] = min([ranks.get(item.path, len(LAYERS)), *marks])
    items.sort(key=lambda item: ranks[item.path])
    _LONG_FILES.update(path for path, rank in ranks.items() if rank < LAYERS.index("tensors"))
    if any(rank < len(LAYERS) for rank in ranks.values()):
        import_tensorflow()


class FilesThatShare(LoadFileScheduling):
    """Gives a process whole files, and one process all files that share a fixture."""

    def _split_scope(self, nodeid: str) -> str:
        return _share(Path(super()._split_scope(nodeid)))


@cache
def _share(file: Path) -> str:
    """The fixture that a file's tests share with other files, or the file."""
    text = (Path(__file__).parents[1] / file).read_text(encoding="utf-8")
    return next((fixture for fixture in SHARED if f"{fixture}:" in text), str(file))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Scheduling | None:
    """How `--dist loadfile` works here."""
    return FilesThatShare(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.fixture(scope="module", autouse=True)
def memory_given_back(request: pytest.FixtureRequest) -> Iterator[None]:
    """Gives the memory of a file's models back to the system: a process would end with several gigabytes of it."""
    yield
    if request.path not in _LONG_FILES:
        return
    gc.collect()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):  # glibc's
        trim(0)


@pytest.fixture(scope="session")
def two_replicas() -> "tf.distribute.Strategy":
    """A strategy that mirrors its variables on two devices; a second one's collective ops would clash with its."""
    import tensorflow as tf

    return tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    """A configuration of seven lines beside its files: one query, judged for two documents."""
    (tmp_path / "wiki.queries").write_text("q1\tWolf\tlives in packs\n")
    (tmp_path / "wiki.documents").write_text("d1\tLoup\tvit en meute\nd2\tChien\tgarde les maisons\n")
    (tmp_path / "en2fr.rel").write_text("q1\td1\t2\nq1\td2\t1\n")
    (tmp_path / "run.yaml").write_text(CONFIG)
    return tmp_path / "run.yaml"


@pytest.fixture
def clir(monkeypatch: pytest.MonkeyPatch) -> Clir:
    """Runs `clir` in this process."""
    return Clir(monkeypatch)
