"""Speeds up the imports of the large libraries, and names the extra of a missing one."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from threading import RLock
from types import ModuleType
from typing import Final

from pipeline import quiet
from schemas.errors import DataError

IN_PARTS = (
    "IPython",
    "google.cloud.bigquery",
    "google.cloud.pubsub",
    "tensorflow_hub",
    "tensorflow_model_analysis",
    "tfx.components",
)
"""Packages whose code imports all their modules, with NLTK, scikit-learn, and the clients of Kubernetes and Docker: a
third of all modules that `clir run` would import. The pipeline needs few of them."""
EXTRA_MODULES: Final = {
    "search": (
        "faiss", "fastapi", "h11", "prometheus_client", "starlette", "structlog", "tensorflow_serving", "uvicorn",
    ),
    "milvus": ("pymilvus",),
    "reports": ("matplotlib",),
    "kubeflow": ("kfp",),
    "pipeline": (
        "apache_beam", "keras_tuner", "ml_metadata", "mmh3", "pyarrow", "pyarrow_hotfix", "regex", "sentencex",
        "sklearn", "tensorboard", "tensorflow_data_validation", "tensorflow_metadata", "tensorflow_ranking",
        "tensorflow_transform", "tfx", "tfx_bsl",
    ),
}  # fmt: skip
"""The modules that the extras of pyproject.toml install."""


@contextmanager
def heavy_imports(verbose: bool = False) -> Iterator[None]:
    """Silences the large libraries unless `verbose`, and speeds up their imports within the block.

    The imports of `clir run` take 3.5 CPU seconds, 5.1 without `IN_PARTS`, and 6.3 if Python also collects garbage
    among the 450,000 objects.

    Raises:
      DataError: a package of an extra is missing.
    """
    quiet.quieten(verbose)
    finder = quiet.ChangedImports(dict.fromkeys(IN_PARTS, _postpone))
    sys.meta_path.insert(0, finder)
    gc.disable()
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "").split(".")[0]
        extra = next((extra for extra, modules in EXTRA_MODULES.items() if name in modules), None)
        if extra is None:
            raise
        raise DataError(_remedy(name, extra)) from None
    finally:
        sys.meta_path.remove(finder)
        gc.freeze()
        gc.enable()


def check_extra(extra: str) -> None:
    """Checks that the packages of an extra are installed, and imports none.

    Raises:
      DataError: a package is missing.
    """
    for name in EXTRA_MODULES[extra]:
        if find_spec(name) is None:
            raise DataError(_remedy(name, extra))


def install(extra: str) -> str:
    """Returns the command that installs an extra."""
    if sys.version_info >= (3, 12) and extra in ("pipeline", "kubeflow"):
        return "make setup"  # pip refuses tensorflow-ranking beside TensorFlow 2.21; the lock has both
    return f"pip install 'smooth-clir[{extra}]'"


def _remedy(name: str, extra: str) -> str:
    return f"The package {name} is missing; install the extra {extra}: {install(extra)}"


def _postpone(execute: quiet.Execute, module: ModuleType) -> None:
    """Executes a package's code at the first access to a name that is not one of its modules.

    `importlib.util.LazyLoader` would execute it for any name, even for `__path__`, which an import of a module reads.
    """
    lock = RLock()
    has_begun = False

    def get(name: str) -> object:  # Python calls a module's `__getattr__` for missing names (PEP 562)
        nonlocal has_begun
        if name.startswith("__") or find_spec(f"{module.__name__}.{name}"):
            raise AttributeError(name)
        with lock:  # other threads wait until the code has run
            if not has_begun:
                has_begun = True
                try:
                    execute(module)
                except BaseException:
                    has_begun = False
                    raise
        if name in vars(module):
            return vars(module)[name]
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

    vars(module)["__getattr__"] = get
