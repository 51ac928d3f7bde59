"""Shows a paper's published numbers beside ours; `smooth_clir/experiments/published/` has a file for each table."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pydantic
from pydantic import AfterValidator, model_validator

from models.evaluation.metrics import METRICS
from pipeline.settings_file import describe_fault, read_settings_file
from schemas.errors import ConfigError
from schemas.settings import OneOf, Settings
from smooth_clir.experiments.report.markdown import NOTHING, paragraph, table
from smooth_clir.experiments.report.names import baseline_name
from smooth_clir.experiments.settings import BASELINE, PUBLISHED

if TYPE_CHECKING:
    from smooth_clir.experiments.experiment import Row


class PublishedTable(Settings):
    """A table of published numbers."""

    caption: str
    """Caption of the table."""
    layout: Literal["printed", "lines", "columns"] = "printed"
    """`printed` shows the lines as they are, `lines` adds our systems to them. `columns` makes two columns of each of
    our systems and its published line; without a system of ours it shows nothing."""
    columns: tuple[str, ...]
    """Heads of the lines' names, then of the values."""
    metrics: tuple[Annotated[str, AfterValidator(OneOf(METRICS))], ...] = ()
    """Our metric for each value; `ordered_pairs` is shown as the rank loss."""
    ours: dict[str, Any] = {}
    """Settings that our systems share."""
    lines: tuple[tuple[str | float | dict[str, Any], ...], ...]
    """A name, our system unless the layout is `printed`, and the values. Our system is a mapping: settings of rows, or
    `baseline` and its name. A text is shown as it is, a number with three decimals."""
    notes: tuple[str, ...] = ()
    """Paragraphs below the table."""

    @model_validator(mode="after")
    def _lines_fit_the_columns(self) -> "PublishedTable":
        is_printed = self.layout == "printed"
        for line in self.lines:
            systems = sum(isinstance(entry, dict) for entry in line)
            if (len(line) - systems, systems) != (len(self.columns), not is_printed):
                parts = f"{len(self.columns)} entries{'' if is_printed else ' and our system'}"
                raise ValueError(f"a line must have {parts}; got {list(line)}")
        if not is_printed and len(self.metrics) != len(self.columns) - 1:
            raise ValueError(f"metrics must be {len(self.columns) - 1}, one for each value; got {len(self.metrics)}")
        return self


class Published(Settings):
    """A file of published numbers."""

    source: str
    """The paper and its table."""
    held_out: bool = False
    """Whether the numbers are of held-out domains: the grid must have `data.held_out`."""
    tables: tuple[PublishedTable, ...]
    """The tables, in order."""


def read_published(name: str, folder: Path = Path()) -> Published:
    """Reads published numbers.

    Args:
      name: the name of a file of the package, or the path of a file of your own, which ends in `.yaml`.
      folder: the folder that a relative path starts from.

    Raises:
      ConfigError: the file has faults: all of them.
    """
    path = folder / os.path.expanduser(name) if name.endswith(".yaml") else PUBLISHED / f"{name}.yaml"
    content, locations, faults = read_settings_file(str(path), Published)
    try:
        published = Published.model_validate(content)
    except pydantic.ValidationError as errors:
        faults += [describe_fault(error, locations, str(path), Published) for error in errors.errors()]
    if faults:
        raise ConfigError(faults)
    return published


def published_blocks(published: Published, rows: Sequence["Row"]) -> Iterator[str]:
    """Yields the published tables, with our systems."""
    done = [row for row in rows if row.done]
    for shown in published.tables:
        heads: Sequence[str] = shown.columns
        lines: list[Sequence[str]] = []
        for line in shown.lines:
            values = [entry for entry in line if not isinstance(entry, dict)]
            printed = [value if isinstance(value, str) else f"{value:.3f}" for value in values]
            systems = [system for entry in line if isinstance(entry, dict) for system in _systems(entry, shown, done)]
            if shown.layout == "columns":
                lines += [column for system in systems for column in (system, printed)]
            elif shown.layout == "lines":
                lines += [(*printed, *system) for system in systems or [[NOTHING] * len(heads)]]
            else:
                lines.append(printed)
        if shown.layout == "columns":
            if not lines:
                continue
            heads, *transposed = zip(heads, *lines, strict=True)
            lines = [*transposed]
        elif shown.layout == "lines":
            heads = (heads[0], *(f"published {head}" for head in heads[1:]), "ours", *heads[1:])
        yield table(shown.caption, heads, lines)
        yield from map(paragraph, shown.notes)


def _systems(chosen: Mapping[str, Any], shown: PublishedTable, done: Sequence["Row"]) -> Iterator[Sequence[str]]:
    """Yields the label and the figures of a baseline, or of each row with the chosen settings."""
    if BASELINE in chosen:
        systems = [(baseline_name(chosen[BASELINE]), row.done[0].baselines.get(chosen[BASELINE])) for row in done[:1]]
    else:
        wanted = {**shown.ours, **chosen}.items()
        rows = (row for row in done if all(_has(row.setting(key), value) for key, value in wanted))
        systems = [(row.label, {metric: row.mean(metric) for metric in shown.metrics}) for row in rows]
    for label, metrics in systems:
        if metrics:
            yield label, *(_figure(metric, metrics[metric]) for metric in shown.metrics)


def _has(value: Any, wanted: Any) -> bool:
    """Returns whether a setting has the wanted value; a mapping may have further keys."""
    if isinstance(value, Mapping) and isinstance(wanted, Mapping):
        return wanted.items() <= value.items()
    return bool(value == wanted)


def _figure(metric: str, value: float) -> str:
    return f"{100 * (1 - value):.2f} %" if metric == "ordered_pairs" else f"{value:.3f}"
