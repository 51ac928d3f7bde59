"""A cell's metrics query by query, from the two TREC files that it left."""

import numpy as np
import numpy.typing as npt

from experiments.cell import Cell
from models.metrics import per_query_metrics
from schemas.errors import DataError
from schemas.trec import parse_qrels, parse_run


def query_metrics(cell: Cell) -> dict[str, npt.NDArray[np.float64]]:
    """Every metric of a finished cell for every query, in the order of the queries' ids.

    Raises:
      DataError: the files are not those of one evaluation.
    """
    run = parse_run((cell.folder / "run.trec").read_text(encoding="utf-8").splitlines())
    qrels = parse_qrels((cell.folder / "qrels.trec").read_text(encoding="utf-8").splitlines())
    if {query_id: set(ranked) for query_id, ranked in run.items()} != {
        query_id: set(judged) for query_id, judged in qrels.items()
    }:
        raise DataError(f"{cell.folder}: run.trec and qrels.trec must hold the same lists; run the cell again.")
    # A run file's lines stand in ranked order.
    ranked = [np.array([qrels[query_id][doc_id] for doc_id in run[query_id]]) for query_id in sorted(run)]
    values = per_query_metrics(ranked, cell.config["data"]["top_grade"])
    for key, value in cell.metrics["metrics"].items():
        mean = float(values[key].mean())
        if abs(mean - value) > 1e-6:
            raise DataError(
                f"{cell.folder}: {key} of run.trec must be that of metrics.json; got {mean:.6f} and {value:.6f}. "
                "Run the cell again."
            )
    return values
