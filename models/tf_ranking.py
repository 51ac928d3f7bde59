"""The parts of TensorFlow Ranking that this project uses: the metrics of ranked lists, and three losses.

TF-Ranking's last release, 0.5.5, imports estimators, which TensorFlow 2.16 dropped. Its metrics and losses do not need
them, and are imported without the rest of the library, which is also faster. The metrics are a private module, because
the public ones return only means; a test compares their values to trec_eval's. If a release moves these modules, change
the two names below, or import the package if it no longer needs estimators.
"""

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Final

_PACKAGES: Final = ("tensorflow_ranking", "tensorflow_ranking.python", "tensorflow_ranking.python.keras")


def _imported(*names: str) -> list[ModuleType]:
    """Imports modules without running their packages."""
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
