"""A cell's metrics query by query, from the two TREC files that it left."""

import numpy as np
import numpy.typing as npt

from experiments.cell import Cell
from models.run_metrics import run_metrics
from schemas.errors import DataError
from schemas.evaluation_files import QRELS_FILE, RUN_FILE


def query_metrics(cell: Cell) -> dict[str, npt.NDArray[np.float64]]:
    """Every metric of a finished cell for every query, in the order of the queries' ids.

    Raises:
      DataError: the files are not those of one evaluation.
    """
    run, qrels = ((cell.folder / name).read_text(encoding="utf-8").splitlines() for name in (RUN_FILE, QRELS_FILE))
    try:
        values = run_metrics(run, qrels, cell.config["data"]["top_grade"])
    except ValueError:
        raise DataError(
            f"{cell.folder}: {RUN_FILE} and {QRELS_FILE} must hold the same lists; run the cell again."
        ) from None
    for key, value in cell.metrics.items():
        mean = float(values[key].mean())
        if abs(mean - value) > 1e-6:
            raise DataError(
                f"{cell.folder}: {key} of run.trec must be that of metrics.json; got {mean:.6f} and {value:.6f}. "
                "Run the cell again."
            )
    return values
