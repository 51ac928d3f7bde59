"""Checks that no file or folder of the user's hides the project's packages, whose names are common."""

from importlib.util import find_spec
from pathlib import Path
from typing import Final

PACKAGES: Final = ("schemas", "models", "components", "pipeline")
"""The project's packages besides `smooth_clir`."""


def check_packages() -> None:
    """Checks that Python imports the project's packages.

    Raises:
      ImportError: another file or folder has the name of a package.
    """
    home = Path(__file__).resolve().parents[1]
    for name in PACKAGES:
        path = _path_of(name)
        if path is None or home not in path.parents:
            raise ImportError(
                f"the package {name} must be {home / name}; Python finds {path or 'none'} first. Rename that file or "
                "folder, or remove its folder from PYTHONPATH or sys.path."
            )


def _path_of(name: str) -> Path | None:
    """Returns the file that Python would import for a package, or the folder of a package without `__init__.py`."""
    spec = find_spec(name)
    if spec is None:
        return None
    paths = [spec.origin] if spec.origin else [*(spec.submodule_search_locations or ())]
    return Path(paths[0]).resolve() if paths else None
