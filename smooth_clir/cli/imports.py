"""Imports the large libraries, in the commands that need them."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from threading import RLock
from types import ModuleType

from pipeline import quiet

IN_PARTS = (
    "IPython",
    "google.cloud.bigquery",
    "google.cloud.pubsub",
    "tensorflow_hub",
    "tensorflow_model_analysis",
    "tfx.components",
    "tqdm.notebook",
)
"""Packages whose own code imports much that no command uses; other libraries import them for a part, or for nothing.

These are all of TFX's components (with the clients of Kubernetes and Docker) for the few that the pipeline has,
TensorFlow Model Analysis (with NLTK and scikit-learn) for one message's class, notebooks, TensorFlow Hub, and Google's
services: a third of all modules that `clir run` would import.
"""


@contextmanager
def heavy_imports(verbose: bool = False) -> Iterator[None]:
    """Silences the large libraries unless `verbose`, and speeds up their imports within the block.

    The imports make 450,000 objects that stay. Looking among them for garbage, again and again, would take three
    seconds of twelve. And of `IN_PARTS` only the requested modules are imported.
    """
    quiet.quieten(verbose)
    finder = _PartsFinder()
    sys.meta_path.insert(0, finder)
    gc.disable()
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        gc.freeze()
        gc.enable()


class _PartsFinder(MetaPathFinder):
    """Finds the packages of `IN_PARTS`, for `_PartsLoader`."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Finds a package as Python's own finder does, with the other loader."""
        spec = PathFinder.find_spec(name, path) if name in IN_PARTS else None  # type: ignore[arg-type]
        if spec and spec.loader:
            spec.loader = _PartsLoader(spec.loader)
        return spec


class _PartsLoader(Loader):
    """Runs a package's own code at the first access to a name that is not one of its modules.

    `importlib.util.LazyLoader` would run the code for any attribute at all, and `inspect` asks every module for its
    file.
    """

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._lock = RLock()
        self._has_begun = False

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Creates the module as the package's own loader does."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Postpones the package's code."""

        def get(name: str) -> object:  # Python calls a module's `__getattr__` for missing names (PEP 562)
            if name.startswith("__") or (hasattr(module, "__path__") and find_spec(f"{module.__name__}.{name}")):
                raise AttributeError(name)
            with self._lock:  # another thread waits until all of the code has run
                if not self._has_begun:
                    self._has_begun = True
                    try:
                        self._loader.exec_module(module)
                    except BaseException:
                        self._has_begun = False
                        raise
            if name in vars(module):
                return vars(module)[name]
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

        vars(module)["__getattr__"] = get
