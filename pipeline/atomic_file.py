"""A text file that is there whole, or as it was before."""

import os
from pathlib import Path


def write_atomically(path: Path, text: str) -> None:
    """Writes a file under another name, and renames it: a kill at any moment leaves the old content or the new.

    Raises:
      OSError: it cannot be written; what was written of it is removed.
    """
    partial = path.with_name(f"{path.name}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise
