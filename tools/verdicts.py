"""Writes the verdicts of the committed reports into docs/experiments/README.md, between its two marks.

.venv/bin/python -m tools.verdicts
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tools.marked import with_marked

REPORTS: Final = Path(__file__).parents[1] / "docs" / "experiments"
PAGE: Final = REPORTS / "README.md"


def with_verdicts(page: str) -> str:
    """The page with the reports' own verdicts between its marks."""
    return with_marked(page, "verdicts", _lines())


def _lines() -> Iterator[str]:
    yield "| claim | verdict | of its comparisons | report |"
    yield "| --- | --- | --- | --- |"
    for report in sorted(REPORTS.glob("*/report.md")):
        section = re.search(r"^## Verdicts\n(.*?)^## ", report.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        if section:
            table = section[1].split("\n\n")[1]
            for line in table.splitlines()[2:]:
                yield f"{line} [{report.parent.name}]({report.parent.name}/report.md) |"


if __name__ == "__main__":
    PAGE.write_text(with_verdicts(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
