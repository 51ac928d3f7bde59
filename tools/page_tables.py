"""Writes the generated tables of the documentation's pages, each between two marks.

docs/performance.md shows the costs of `clir run --estimate`, docs/experiments/README.md the reports' own verdicts.

.venv/bin/python -m tools.page_tables
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pipeline.estimate.estimate_run import COSTS, ONCE, STAGES_OF_PART, WITH_LEXICON

DOCS: Final = Path(__file__).parents[1] / "docs"
REPORTS: Final = DOCS / "experiments"
PAGES: Final = {"costs": DOCS / "performance.md", "verdicts": REPORTS / "README.md"}
"""The page of each table."""


def with_table(page: str, name: str) -> str:
    """The page with a table between the comments `name` and `/name`."""
    lines = {"costs": _costs, "verdicts": _verdicts}[name]()
    marked = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)
    return marked.sub(lambda _: "".join(f"{line}\n" for line in lines), page)


def _costs() -> Iterator[str]:
    yield "| part | stages | costs |"
    yield "| --- | --- | --- |"
    for part, costs in COSTS.items():
        unit = 1e6 if part not in ("start", *STAGES_OF_PART) else 1
        terms = (_term(coefficient / unit, "MB" if unit > 1 else "s", name) for name, coefficient in costs.items())
        yield f"| {part} | {', '.join(STAGES_OF_PART.get(part, ()))} | {' + '.join(terms)} |"


def _term(coefficient: float, unit: str, name: str) -> str:
    number = f"{coefficient:,.0f}" if coefficient >= 1000 else f"{coefficient:.3g}"
    return f"{number} {unit}" + {ONCE: "", WITH_LEXICON: f" {WITH_LEXICON}"}.get(name, f" per {name}")


def _verdicts() -> Iterator[str]:
    yield "| claim | verdict | of its comparisons | report |"
    yield "| --- | --- | --- | --- |"
    for report in sorted(REPORTS.glob("*/report.md")):
        section = re.search(r"^## Verdicts\n(.*?)^## ", report.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        if section:
            table = section[1].split("\n\n")[1]
            for line in table.splitlines()[2:]:
                yield f"{line} [{report.parent.name}]({report.parent.name}/report.md) |"


if __name__ == "__main__":
    for name, page in PAGES.items():
        page.write_text(with_table(page.read_text(encoding="utf-8"), name), encoding="utf-8")
