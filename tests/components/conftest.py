"""Artifacts for executors. TFX is imported on use: tests without a mark collect in a moment."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def make_artifact() -> Callable[..., Any]:
    """Makes an artifact of one of TFX's standard types, with a new folder of its own."""
    from tfx.types import artifact_utils, standard_artifacts

    def make(type_name: str, parent: Path, splits: Sequence[str] = ()) -> Any:
        artifact = getattr(standard_artifacts, type_name)()
        artifact.uri = str(parent / type_name)
        for folder in [f"Split-{split}" for split in splits] or [""]:
            (parent / type_name / folder).mkdir(parents=True)
        if splits:
            artifact.split_names = artifact_utils.encode_split_names(list(splits))
        return artifact

    return make
