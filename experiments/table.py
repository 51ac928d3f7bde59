"""An experiment's results in lines for a person."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.cell import Cell
from models.evaluation.metrics import METRICS


def results_table(states: Sequence[Cell], metrics: Mapping[str, Mapping[str, float]]) -> str:
    """A line a cell: its settings, and its metrics on the test split or why there are none.

    Args:
      states: of all cells.
      metrics: of those that are done, by their name.
    """
    keys = list(states[0].settings)
    columns = [[key.rpartition(".")[2], *(_text(state.settings[key]) for state in states)] for key in keys]
    widths = [max(map(len, column)) for column in columns]
    settings = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in zip(*columns, strict=True)
    ]
    results = [
        "".join(f"{metrics[state.name][key]:13.4f}" for key in METRICS)
        if state.name in metrics
        else f"  {state.status}: {(state.reason or '').splitlines()[0]}"
        for state in states
    ]
    head = "".join(f"{key:>13}" for key in METRICS)
    return "\n".join(left + right for left, right in zip(settings, [head, *results], strict=True))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
