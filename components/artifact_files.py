"""Reads and writes the files of artifacts."""

import os

from tfx.dsl.io import fileio
from tfx.types import artifact_utils
from tfx.types.artifact import Artifact
from tfx.utils import path_utils

from schemas import file_system


def split_files(examples: Artifact, split: str) -> list[str]:
    """Returns the files of a split of Examples."""
    files: list[str] = fileio.glob(os.path.join(artifact_utils.get_split_uri([examples], split), "*"))
    return files


def serving_model(model: Artifact) -> str:
    """Returns the folder of the SavedModel in a Model."""
    folder: str = path_utils.serving_model_path(model.uri)
    return folder


def read_text(artifact: Artifact, name: str) -> str:
    """Returns the content of a file of an artifact."""
    with file_system.open_file(os.path.join(artifact.uri, name)) as file:
        content: str = file.read()
    return content


def read_text_if_any(artifact: Artifact, name: str) -> str | None:
    """Returns the content of a file that an artifact may lack."""
    return read_text(artifact, name) if fileio.exists(os.path.join(artifact.uri, name)) else None


def write_text(artifact: Artifact, name: str, content: str) -> None:
    """Writes a file of an artifact, in a folder below it where the name has one."""
    path = os.path.join(artifact.uri, name)
    fileio.makedirs(os.path.dirname(path))
    with file_system.open_file(path, "w") as file:
        file.write(content)
