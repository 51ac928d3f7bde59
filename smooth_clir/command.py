"""Starts `clir`, unless a package of the user's hides one of the project's."""

import sys

from smooth_clir.packages import check_packages


def main() -> None:
    """Runs `clir` (see `smooth_clir.cli.main`). Exits 2 if another file has the name of one of its packages."""
    try:
        check_packages()
    except ImportError as error:
        print(f"clir: {error}", file=sys.stderr)
        sys.exit(2)
    from smooth_clir.cli.main import main as run

    run()
