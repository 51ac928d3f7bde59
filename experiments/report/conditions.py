"""What each row of an experiment was trained with."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from experiments.cell import Cell
from experiments.experiment import Row
from experiments.report.names import setting_name, value_name
from experiments.report.page import NOTHING, Block, Entry, Line, Table, Text
from experiments.settings import SEED

_SETTINGS: Final = (
    *("preset", "loss.name", "model.encoder", "model.similarity", "model.epsilon", "model.embedding_dim"),
    *("lexicon.kind", "training.learning_rate"),
)
"""Conditions that are settings."""
_OTHERS: Final[Mapping[str, Callable[[Cell], Any]]] = {
    "thresholds": lambda cell: cell.thresholds and [float(f"{one:.3g}") for one in cell.thresholds],
    "initial vectors": lambda cell: _vectors(cell),
    "epochs": lambda cell: len(cell.training.history) if cell.training else None,
    "NR documents": lambda cell: cell.setting("data.used_negatives") or cell.setting("data.negatives"),
    "train pairs": lambda cell: f"{cell.training.train_pairs:,}" if cell.training else None,
    "test queries": lambda cell: f"{cell.queries:,}",
}
_NAMED: Final = (
    *("loss.theta", "embeddings.query", "embeddings.document", "embeddings.train", "training.epochs"),
    *("data.used_negatives", "data.negatives"),
)
"""The settings behind those."""
_NO_CONDITIONS: Final = ("output", SEED)


def conditions(rows: Sequence[Row]) -> Iterator[Block]:
    """A column for each condition, and any other setting, in which the rows differ, and a sentence with the other
    conditions; nothing before a cell is done."""
    done = [row for row in rows if row.done]
    if not done:
        return
    keys = {key for row in done for cell in row.done for key in _keys(cell)}
    more = sorted(keys.difference(_SETTINGS, _NAMED, _NO_CONDITIONS))
    of_settings = {setting_name(key): partial(Cell.setting, key=key) for key in (*_SETTINGS, *more)}
    of_cells: dict[str, Callable[[Cell], Any]] = {**of_settings, **_OTHERS}
    values = {name: [_values(row, of_cell) for row in done] for name, of_cell in of_cells.items()}
    differing = [name for name, of_rows in values.items() if len({*of_rows}) > 1]
    if differing:
        lines = (
            Line((Entry(row.label), *(Entry(values[name][place]) for name in differing)))
            for place, row in enumerate(done)
        )
        yield Table("What the rows were trained with, where they differ", ("Row", *differing), tuple(lines))
    named = (*map(setting_name, _SETTINGS), *_OTHERS)
    shared = "; ".join(f"{name}: {values[name][0]}" for name in named if name not in differing)
    if shared:
        yield Text(f"{'All rows have' if len(done) > 1 else f'{done[0].label} has'} {shared}.")


def _keys(cell: Cell) -> Iterator[str]:
    """The dotted settings of a cell's configuration."""
    for section, content in cell.config.items():
        yield from (f"{section}.{name}" for name in content) if isinstance(content, Mapping) else (section,)


def _values(row: Row, of_cell: Callable[[Cell], Any]) -> str:
    """A condition of a row's finished cells; more than one value where the seeds differ in it."""
    values = (of_cell(cell) for cell in row.done)
    return " or ".join(dict.fromkeys(NOTHING if value is None else value_name(value) for value in values))


def _vectors(cell: Cell) -> str:
    given = [side for side in ("query", "document") if cell.setting(f"embeddings.{side}")]
    trained = "trained further" if cell.setting("embeddings.train") else "frozen"
    return f"pre-trained ({' and '.join(given)}; {trained})" if given else "random"
