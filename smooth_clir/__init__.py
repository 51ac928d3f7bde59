"""The Python interface of Smooth CLIR: a trained model that scores, ranks, searches and explains.

from smooth_clir import Ranker

ranker = Ranker.load("runs/sample")
ranker.search("molten rock that flows down a mountain", top=3)
"""

from typing import TYPE_CHECKING, Any

from smooth_clir.packages import check_packages

if TYPE_CHECKING:
    from smooth_clir.ranker import Ranker

__all__ = ["Ranker"]


def __getattr__(name: str) -> Any:
    """Imports `Ranker` at its first use, because `clir` starts from this package without TensorFlow."""
    if name != "Ranker":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    check_packages()
    from smooth_clir.ranker import Ranker

    return Ranker
