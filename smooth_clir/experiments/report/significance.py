"""Tests of significance between the rows of an experiment, query by query."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from models.evaluation.metrics import METRICS
from models.evaluation.significance import RESOLUTION, holm, randomisation_test, standard_error
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
from smooth_clir.experiments.cell import Cell
from smooth_clir.experiments.experiment import Row
from smooth_clir.experiments.settings import BASELINE, SEED

SIGNIFICANCE: Final = 0.05


def query_metrics(cell: Cell) -> QueryMetrics:
    """Every metric of a finished cell for every query.

    Raises:
      DataError: the file is missing or damaged, or is not of the same evaluation as the metrics.
    """
    values = _read(cell.folder / PER_QUERY_FILE)
    for key, value in cell.metrics.items():
        mean = float(np.mean(values.values.get(key, np.nan)))
        if not abs(mean - value) <= 1e-9:
            raise DataError(
                f"{cell.folder}: the mean of {key} in {PER_QUERY_FILE} must be that of {METRICS_FILE}; got {mean:.6f} "
                f"and {value:.6f}. Run the cell again."
            )
    return values


def system_metric(cell: Cell, kind: str, name: str, metric: str) -> npt.NDArray[np.float64] | None:
    """A metric of another system beside a finished cell: float [queries]; None where the cell has no such system.

    Args:
      cell: the cell.
      kind: `BASELINE`, or `CHANNEL` for one of the cell's own channels alone.
      name: of the system.
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
        raise DataError(f"{path}: cannot be read ({error}); run the experiment again to complete it.") from None


class Comparison(NamedTuple):
    """A metric of two rows."""

    difference: float
    """The mean over queries of the first row minus that of the second."""
    p_value: float
    """The p-value; after Holm's correction, once all comparisons are known."""
    is_bound: bool
    """Whether the p-value lies at the test's resolution, and may be smaller."""

    @property
    def p_text(self) -> str:
        """The p-value for a reader."""
        return "≤\N{NO-BREAK SPACE}" * self.is_bound + f"{self.p_value:.4f}"


def reference_rows(rows: Sequence[Row]) -> Iterator[tuple[Row, Row]]:
    """Every row with its reference row: the first in the grid's order that has the same data."""
    first: dict[str, Row] = {}
    for row in rows:
        reference = first.setdefault(str(row.data), row)
        if reference is not row:
            yield row, reference


def compare(rows: Sequence[Row]) -> dict[tuple[str, str], Comparison]:
    """Every row against its reference row, for every metric.

    A two-sided paired randomisation test over queries. A query's value is the mean over the seeds that both rows have.

    Returns:
      (row's label, metric) to comparison; a row that shares no finished seed with its reference has none.

    Raises:
      DataError: a cell's files do not belong together, or two rows with the same data have other lists.
    """
    values = values_of(rows)
    p_values, differences = {}, {}
    for row, reference in reference_rows(rows):
        pairs = pairs_of(row, reference, values)
        for metric in METRICS if pairs else ():
            row_values, reference_values = means_over_seeds(pairs, values, metric)
            p_values[row.label, metric] = randomisation_test(row_values, reference_values, two_sided=True)
            differences[row.label, metric] = float(np.mean(row_values - reference_values))
    corrected = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    return {
        key: Comparison(differences[key], corrected[key], p_value == RESOLUTION) for key, p_value in p_values.items()
    }


def standard_errors(rows: Iterable[Row]) -> dict[tuple[str, str], float]:
    """The standard error of each row's mean over queries, a query's value being the mean over the row's seeds.

    Returns:
      (row's label, metric) to standard error; a row without a finished cell, or with fewer than two queries, has none.

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
    """The metrics of each query, by the names of the rows' finished cells.

    Raises:
      DataError: a cell's files do not belong together.
    """
    return {cell.name: query_metrics(cell) for row in rows for cell in row.done}


def pairs_of(row: Row, reference: Row, values: Mapping[str, QueryMetrics]) -> list[tuple[Cell, Cell]]:
    """Finished cells of two rows that have the same seed.

    Raises:
      DataError: they are not of the same queries, or with the same data not of the same lists.
    """
    pairs = [(cell, match) for cell in row.done for match in reference.done if _seed(cell) == _seed(match)]
    for cell, match in pairs:
        folders = f"{cell.folder} and {match.folder}"
        if row.data == reference.data and _qrels(cell) != _qrels(match):
            raise DataError(f"{folders}: {QRELS_FILE} must be the same; run the cells again.")
        if values[cell.name].query_ids != values[match.name].query_ids:
            raise DataError(f"{folders}: {PER_QUERY_FILE} must be of the same queries; run the cells again.")
    return pairs


def means_over_seeds(
    pairs: Sequence[tuple[Cell, Cell]], values: Mapping[str, QueryMetrics], metric: str
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """A metric of each query, float [queries], for the first row of the pairs and for the second."""
    first, second = (
        np.mean([values[cell.name].values[metric] for cell in cells], axis=0) for cells in zip(*pairs, strict=True)
    )
    return first, second


def _seed(cell: Cell) -> int | None:
    """The cell's seed; None where the grid has none, so that any two cells are a pair."""
    return cell.settings.get(SEED)


def _qrels(cell: Cell) -> bytes:
    return (cell.folder / QRELS_FILE).read_bytes()
