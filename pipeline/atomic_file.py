"""A text file that is there whole, or as it was before."""

import os
from pathlib import Path


def write_atomically(path: Path, text: str) -> None:
    """Writes a file under another name, and renames it: a kill at any moment leaves the old content or the new."""
    partial = path.with_name(f"{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)
