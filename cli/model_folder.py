"""Finds an exported model in the folders that a run writes."""

import os
from pathlib import Path

from pipeline.layout import SERVING
from schemas.errors import DataError
from schemas.served_versions import newest_version


def find_model(path: str) -> str:
    """The newest exported model under a folder.

    Args:
      path: a run's output folder, its serving folder, or one version in it.

    Raises:
      DataError: there is no such folder, or no model in it.
    """
    folder = Path(path)
    if not os.path.isdir(folder):  # unlike Path's, it takes a name that is too long
        raise DataError(f"{path} must be a folder with an exported model, but there is no such folder.")
    for serving in (folder, folder / SERVING):
        if (serving / "saved_model.pb").is_file():
            return str(serving)
        if serving.is_dir():
            names = [entry.name for entry in serving.iterdir() if (entry / "saved_model.pb").is_file()]
            if version := newest_version(names):
                return str(serving / version)
    raise DataError(f"no exported model under {path}; run `clir run` first, and see why the gate refused its model.")
