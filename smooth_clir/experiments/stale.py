"""Compares the code, settings, data and libraries of a report with the present ones."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from pipeline.identity import code_read_once
from pipeline.input_files import digests_here
from schemas.errors import ConfigError, DataError
from schemas.provenance import PROVENANCE_FILE, ReportProvenance
from smooth_clir.experiments.grid import load_grid

_PROJECT: Final = Path(__file__).parents[2]
REPORTS: Final = _PROJECT / "docs" / "experiments"
"""The published reports, a folder each."""
FILES: Final = _PROJECT / "configs" / "experiments"
"""The experiment files of these reports, each with the name of its report's folder."""


class Compared(NamedTuple):
    """The differences of a report from the present project."""

    report: str
    """The name of its folder."""
    changes: list[str]
    """The changes since the report was measured."""
    data_not_here: list[str]
    """The dotted settings of the inputs that were not compared, because their files are missing."""


def published_reports() -> list[Path]:
    return sorted(report.parent for report in REPORTS.glob("*/report.md"))


def compare_report(folder: Path, files: Path = FILES) -> Compared:
    """Compares a report with its experiment file, and with the present code, data and libraries.

    Args:
      folder: the report's folder.
      files: the folder of the experiment files.

    Raises:
      DataError: the folder does not exist, or its record is damaged.
    """
    if not folder.is_dir():
        raise DataError(f"{folder} must be the folder of a report; it does not exist.")
    name, file = folder.resolve().name, files / f"{folder.resolve().name}.yaml"
    if not (folder / PROVENANCE_FILE).is_file():
        return Compared(name, ["no record of its code"], [])
    measured = ReportProvenance.read(folder / PROVENANCE_FILE, "run the experiment again")
    if not file.is_file():
        return Compared(name, [f"no experiment file {file.name} in {files}"], [])
    try:
        grid = load_grid(str(file), has_files=False)
    except ConfigError as error:
        return Compared(name, [f"settings: {fault}" for fault in error.faults], [])
    configs = {cell.name: cell.config for cell in grid.cells if cell.config}
    if [*configs] != measured.cells:
        return Compared(name, ["settings: other cells"], [])
    from pipeline.provenance import provenance  # TFX, which takes seconds

    data = digests_here(configs[measured.cells[0]])
    with code_read_once():
        current = ReportProvenance.from_cells({name: provenance(config) for name, config in configs.items()})
    changes = [*_changes(measured, current), *_data_changes(measured.data, data)]
    return Compared(name, changes, [setting for setting, digest in data.items() if digest is None])


def _changes(measured: ReportProvenance, current: ReportProvenance) -> Iterator[str]:
    """Yields the changes of code, settings and libraries."""
    for kind in ("code", "settings"):
        if stages := _differing(getattr(measured, kind), getattr(current, kind)):
            yield f"{kind} of {', '.join(stages)}"
    before, after = measured.libraries, current.libraries
    for library in _differing(before, after):
        yield f"{library}: {before.get(library, 'none')} then, {after.get(library, 'none')} now"


def _differing(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    return [key for key in {**before, **after} if before.get(key) != after.get(key)]


def _data_changes(before: Mapping[str, str], after: Mapping[str, str | None]) -> Iterator[str]:
    """Yields the inputs that were changed, added or removed; inputs whose files are missing are not compared."""
    changed = [name for name in {**before, **after} if name not in after or after[name] not in (None, before.get(name))]
    if changed:
        yield f"data: {', '.join(changed)}"
