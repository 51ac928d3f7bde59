"""Tests differences between the rows of an experiment for significance, query by query."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from models.evaluation.metrics import METRICS
from models.evaluation.significance import Comparison, compare_pairs, standard_error
from schemas.errors import DataError
from schemas.evaluation import (
    BASELINES_FILE,
    CHANNELS_FILE,
    METRICS_FILE,
    PER_QUERY_FILE,
    QRELS_FILE,
    QueryMetrics,
    system_key,
)
from smooth_clir.experiments.cell import RUN_AGAIN, Cell
from smooth_clir.experiments.experiment import Row
from smooth_clir.experiments.settings import BASELINE, SEED

SIGNIFICANCE: Final = 0.05
BOUND_NOTE: Final = " ≤: no drawn sign flip gave as large a difference, and the p-value may be smaller."
QRELS_DIGEST_FILE: Final = "qrels.sha256"


def query_metrics(cell: Cell) -> QueryMetrics:
    """Reads every metric of a finished cell for every query.

    Raises:
      DataError: the file is missing or damaged, or does not belong to the cell's metrics.
    """
    values = _read(cell.folder / PER_QUERY_FILE)
    for key, value in cell.metrics.items():
        mean = float(np.mean(values.values.get(key, np.nan)))
        if not abs(mean - value) <= 1e-9:
            raise DataError(
                f"{cell.folder}: the mean of {key} must be the same in {PER_QUERY_FILE} and {METRICS_FILE}; got "
                f"{mean:.6f} and {value:.6f}. Run the cell again."
            )
    return values


def system_metric(cell: Cell, kind: str, name: str, metric: str) -> npt.NDArray[np.float64] | None:
    """Reads a metric of a baseline or channel of a finished cell: float [queries]; None if the cell lacks the system.

    Args:
      cell: the cell.
      kind: `BASELINE` or `CHANNEL`.
      name: the system's name.
      metric: a key of `METRICS`.

    Raises:
      DataError: the file is missing or damaged.
    """
    path = cell.folder / (BASELINES_FILE if kind == BASELINE else CHANNELS_FILE)
    values = _read(path).values.get(system_key(name, metric))
    return None if values is None else np.asarray(values)


def _read(path: Path) -> QueryMetrics:
    try:
        return QueryMetrics.from_tsv(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"Cannot read {path} ({error}); {RUN_AGAIN}.") from None


def reference_rows(rows: Sequence[Row]) -> Iterator[tuple[Row, Row]]:
    """Yields every row with its reference row: the first row with the same data."""
    first: dict[str, Row] = {}
    for row in rows:
        reference = first.setdefault(str(row.data), row)
        if reference is not row:
            yield row, reference


def compare(rows: Sequence[Row]) -> dict[tuple[str, str], Comparison]:
    """Compares every row with its reference row, by every metric.

    The test is a two-sided paired randomisation test over queries. A query's value is the mean over the seeds that both
    rows have.

    Returns:
      (row's label, metric) to comparison; none for a row that shares no finished seed with its reference.

    Raises:
      DataError: a cell's files do not belong together, or rows with the same data have different lists.
    """
    values = values_of(rows)
    compared = {}
    for row, reference in reference_rows(rows):
        pairs = pairs_of(row, reference, values)
        for metric in METRICS if pairs else ():
            compared[row.label, metric] = means_over_seeds(pairs, values, metric)
    return dict(zip(compared, compare_pairs(compared.values()), strict=True))


def standard_errors(rows: Iterable[Row]) -> dict[tuple[str, str], float]:
    """Returns the standard error of each row's mean over queries. A query's value is the mean over the row's seeds.

    Returns:
      (row's label, metric) to standard error; none for a row without finished cells, or with fewer than two queries.

    Raises:
      DataError: a cell's files do not belong together.
    """
    errors = {}
    for row in rows:
        cell_values = [query_metrics(cell).values for cell in row.done]
        for metric in METRICS if row.done and row.done[0].queries > 1 else ():
            errors[row.label, metric] = standard_error(np.mean([values[metric] for values in cell_values], axis=0))
    return errors


def values_of(rows: Iterable[Row]) -> dict[str, QueryMetrics]:
    """Reads the metrics of each query, by the names of the rows' finished cells.

    Raises:
      DataError: a cell's files do not belong together.
    """
    return {cell.name: query_metrics(cell) for row in rows for cell in row.done}


def pairs_of(row: Row, reference: Row, values: Mapping[str, QueryMetrics]) -> list[tuple[Cell, Cell]]:
    """Returns the pairs of finished cells of two rows with the same seed.

    Raises:
      DataError: a pair has different queries, or has the same data and different lists.
    """
    pairs = [(cell, match) for cell in row.done for match in reference.done if _seed(cell) == _seed(match)]
    for cell, match in pairs:
        folders = f"{cell.folder} and {match.folder}"
        if row.data == reference.data and qrels_digest(cell) != qrels_digest(match):
            raise DataError(f"{folders}: {QRELS_FILE} must be the same; run the cells again.")
        if values[cell.name].query_ids != values[match.name].query_ids:
            raise DataError(f"{folders}: {PER_QUERY_FILE} must have the same queries; run the cells again.")
    return pairs


def means_over_seeds(
    pairs: Sequence[tuple[Cell, Cell]], values: Mapping[str, QueryMetrics], metric: str
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Returns a metric of each query, float [queries], for the first and for the second row of the pairs."""
    first, second = (
        np.mean([values[cell.name].values[metric] for cell in cells], axis=0) for cells in zip(*pairs, strict=True)
    )
    return first, second


def _seed(cell: Cell) -> int | None:
    """Returns the cell's seed; None if the grid has no seed, so that any two cells are a pair."""
    return cell.settings.get(SEED)


def qrels_digest(cell: Cell) -> str:
    """Returns the SHA-256 of a cell's judgments, which an archive of cells has in their place.

    Raises:
      DataError: the judgments are missing.
    """
    digest, qrels = cell.folder / QRELS_DIGEST_FILE, cell.folder / QRELS_FILE
    try:
        return digest.read_text() if digest.is_file() else hashlib.sha256(qrels.read_bytes()).hexdigest()
    except OSError as error:
        raise DataError(f"Cannot read {qrels} ({error.strerror}); {RUN_AGAIN}.") from None
