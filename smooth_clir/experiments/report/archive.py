"""The cells beside their report, compressed: the metrics of each query, from which verdicts follow without a run."""

import copy
import io
import json
import lzma
import os
import re
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import yaml

from pipeline.config import RunConfig
from pipeline.layout import CELL_FILE, CELLS, CONFIG_FILE, EXPERIMENT_FILE
from schemas.errors import DataError
from schemas.evaluation import BASELINES_FILE, CHANNELS_FILE, METRICS_FILE, PER_QUERY_FILE
from schemas.search_report import SEARCH_FILE
from schemas.settings import path_settings
from smooth_clir.experiments.cell import RUN_AGAIN, Cell
from smooth_clir.experiments.experiment import Experiment, read_experiment
from smooth_clir.experiments.report.significance import QRELS_DIGEST_FILE, qrels_digest

_QUERY_FILES: Final = (PER_QUERY_FILE, BASELINES_FILE, CHANNELS_FILE)
"""The files with metrics of each query. They keep all digits: rounded ones could turn a verdict."""
_VALUE: Final = re.compile(rb"(?<=\t)\d+\.\d+(?:e-\d+)?(?=[\t\n])")
_SINGLE_VALUE: Final = re.compile(rb"(?<=\t)(\d+(?:\.\d+)?(?:e-\d+)?)f(?=[\t\n])")


def archive(experiment: Experiment) -> bytes:
    """An archive that `unpacked` reads: the same bytes for the same experiment. It names no folder of the machine.

    Raises:
      DataError: a file of a finished cell is missing.
    """
    content = io.BytesIO()
    first: dict[bytes, str] = {}
    preset: Any = 9 | lzma.PRESET_EXTREME  # typeshed knows no flag of a preset
    with tarfile.open(fileobj=content, mode="w:xz", preset=preset) as archived:
        # Files of one kind lie together, and equal ones, such as the baselines of the seeds, are kept once.
        for name, data in sorted(_files(experiment), key=lambda file: (os.path.basename(file[0]), file[0])):
            member = tarfile.TarInfo(name)
            if data in first:
                member.type, member.linkname = tarfile.LNKTYPE, first[data]
                archived.addfile(member)
            else:
                first[data], member.size = name, len(data)
                archived.addfile(member, io.BytesIO(data))
    return content.getvalue()


def _files(experiment: Experiment) -> Iterator[tuple[str, bytes]]:
    yield EXPERIMENT_FILE, experiment.to_json().encode()
    for cell in experiment.cells:
        folder = f"{CELLS}/{cell.name}"
        yield f"{folder}/{CELL_FILE}", json.dumps(cell.content()).encode()
        if cell.status == "done" and cell.evaluation:
            yield f"{folder}/{METRICS_FILE}", cell.evaluation.to_json().encode()
            yield f"{folder}/{CONFIG_FILE}", yaml.safe_dump(_without_folders(cell), sort_keys=False).encode()
            for name in _QUERY_FILES:
                yield f"{folder}/{name}", _VALUE.sub(_to_short, _content(cell.folder / name))
            yield f"{folder}/{QRELS_DIGEST_FILE}", qrels_digest(cell).encode()
            if cell.search:
                yield f"{folder}/{SEARCH_FILE}", _content(cell.folder / SEARCH_FILE)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); {RUN_AGAIN}.") from None


def _to_short(value: re.Match[bytes]) -> bytes:
    """Returns a number of single precision in its own digits, marked as in C: 0.4f for 0.4000000059604645."""
    single = np.float32(value[0])
    short = f"{single!s}f".encode()
    return short if float(single) == float(value[0]) and len(short) < len(value[0]) else value[0]


def _to_full(value: re.Match[bytes]) -> bytes:
    """The reverse of `_to_short`."""
    return repr(float(np.float32(value[1]))).encode()


def _without_folders(cell: Cell) -> dict[str, Any]:
    """The cell's configuration with the names of files alone."""
    content = copy.deepcopy({key: value for key, value in cell.config.items() if key not in ("kubeflow", "beam")})
    for path in path_settings(RunConfig, content):
        path.section[path.keys[-1]] = os.path.basename(path.path)
    return content


@contextmanager
def unpacked(path: Path) -> Iterator[Experiment]:
    """The experiment of an archive, without trainings and provenance; its files are there within the context.

    Raises:
      DataError: the archive is missing or damaged.
    """
    with TemporaryDirectory() as folder:
        try:
            with tarfile.open(path) as archived:
                archived.extractall(folder, filter="data")
        except (OSError, EOFError, tarfile.TarError) as error:
            raise DataError(f"{path}: cannot be read ({error}); {RUN_AGAIN}.") from None
        for values in Path(folder).glob(f"{CELLS}/*/per_query*.tsv"):
            values.write_bytes(_SINGLE_VALUE.sub(_to_full, values.read_bytes()))
        yield read_experiment(Path(folder))
