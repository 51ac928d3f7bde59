"""The parts of TensorFlow Ranking that this project takes: the metrics of ranked lists, and three losses.

TF-Ranking has had no release since 0.5.5, which imports estimators that TensorFlow has dropped with 2.16. Its metrics
and losses do without them, and are imported without the rest of the library, which also takes less time. The metrics
are a private module, since the public ones return only means; a test compares their values to trec_eval's. If a
release moves these modules, change the two names below, or import the package where it no longer needs estimators.
"""

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Final

_PACKAGES: Final = ("tensorflow_ranking", "tensorflow_ranking.python", "tensorflow_ranking.python.keras")


def _imported(*names: str) -> list[ModuleType]:
    """Imports modules without running the packages that they lie in, unless these are imported already."""
    empty = [name for name in _PACKAGES if name not in sys.modules]
    try:
        for name in empty:
            spec = find_spec(name)
            if spec is None:
                raise ImportError(f"{name} is not installed")
            sys.modules[name] = module_from_spec(spec)
        return [import_module(name) for name in names]
    finally:
        for name in empty:
            sys.modules.pop(name, None)


metrics_impl, losses = _imported("tensorflow_ranking.python.metrics_impl", "tensorflow_ranking.python.keras.losses")
