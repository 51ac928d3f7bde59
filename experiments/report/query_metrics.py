"""A cell's metrics query by query, as its evaluation left them."""

import numpy as np

from experiments.cell import Cell
from schemas.errors import DataError
from schemas.evaluation_files import METRICS_FILE, PER_QUERY_FILE
from schemas.query_metrics import QueryMetrics


def query_metrics(cell: Cell) -> QueryMetrics:
    """Every metric of a finished cell for every query.

    Raises:
      DataError: the file is missing or damaged, or is not of the same evaluation as the metrics.
    """
    path = cell.folder / PER_QUERY_FILE
    try:
        found = QueryMetrics.from_tsv(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(
            f"{path}: there is no such file, which earlier versions did not write; run the experiment again to make it."
        ) from None
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read ({error}); run the experiment again to complete it.") from None
    for key, value in cell.metrics.items():
        mean = float(np.mean(found.values.get(key, np.nan)))
        if not abs(mean - value) <= 1e-9:
            raise DataError(
                f"{cell.folder}: the mean of {key} in {PER_QUERY_FILE} must be that of {METRICS_FILE}; got {mean:.6f} "
                f"and {value:.6f}. Run the cell again."
            )
    return found
