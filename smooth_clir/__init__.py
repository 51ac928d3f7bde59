"""The Python interface of Smooth CLIR: a trained model that scores, ranks, searches and explains.

from smooth_clir import Ranker

ranker = Ranker.load("runs/sample")
ranker.search("molten rock that flows down a mountain", top=3)
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Final

PACKAGES: Final = ("schemas", "wikipedia", "models", "components", "pipeline", "serving", "experiments", "cli")
"""The project's other packages, which are imported by these plain names."""


def check_packages() -> None:
    """Refuses modules of the user's that Python would import in place of the project's packages.

    Raises:
      ImportError: another file has the name of a package.
    """
    home = Path(__file__).resolve().parents[1]
    for name in PACKAGES:
        spec = find_spec(name)
        origin = Path(spec.origin).resolve() if spec and spec.origin else None
        if origin is None or home not in origin.parents:
            raise ImportError(
                f"the package {name} must be the one beside {home / 'smooth_clir'}; Python found "
                f"{origin or 'none'} first. Rename that file or folder, or take its folder from sys.path."
            )


check_packages()

from smooth_clir.ranker import Ranker  # noqa: E402  (the check comes first, or its error would be another)

__all__ = ["Ranker"]
