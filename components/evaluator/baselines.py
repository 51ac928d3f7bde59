"""The runs of other systems that an evaluation stands beside, by their names. Never imports TFX."""

from collections.abc import Iterable
from io import StringIO

import tensorflow as tf

from schemas.errors import DataError
from schemas.evaluation_report import RANDOM_ORDER
from schemas.trec import parse_run


def read_baselines(paths: Iterable[str]) -> dict[str, dict[str, dict[str, float]]]:
    """Reads run files; a run's name is its tag.

    Args:
      paths: of the files.

    Returns:
      name to the run's scores (query_id to doc_id to score), in the order of the names.

    Raises:
      DataError: a file holds no run, or several, or two runs have one name.
    """
    runs = {}
    path_of: dict[str, str] = {}
    for path in paths:
        with tf.io.gfile.GFile(path) as file:
            # At once: line by line takes ten times as long.
            name, runs[path] = parse_run(StringIO(file.read()), path)
        if name == RANDOM_ORDER:
            raise DataError(f"{path}: a baseline's tag must not be {name}, which names random order.")
        if name in path_of:
            raise DataError(f"{path}: every baseline must have a tag of its own; {path_of[name]} has {name}, too.")
        path_of[name] = path
    return {name: runs[path] for name, path in sorted(path_of.items())}
