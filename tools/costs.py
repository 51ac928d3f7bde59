"""Writes the costs of `clir run --estimate` into docs/performance.md, between its two marks.

.venv/bin/python -m tools.costs
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pipeline.estimate.estimate_run import COSTS, ONCE, STAGES_OF_PART, WITH_LEXICON
from tools.marked import with_marked

PAGE: Final = Path(__file__).parents[1] / "docs" / "performance.md"


def with_costs(page: str) -> str:
    """The page with the costs between its marks."""
    return with_marked(page, "costs", _lines())


def _lines() -> Iterator[str]:
    yield "| part | stages | costs |"
    yield "| --- | --- | --- |"
    for part, costs in COSTS.items():
        unit = 1e6 if part not in ("start", *STAGES_OF_PART) else 1
        terms = (_term(coefficient / unit, "MB" if unit > 1 else "s", name) for name, coefficient in costs.items())
        yield f"| {part} | {', '.join(STAGES_OF_PART.get(part, ()))} | {' + '.join(terms)} |"


def _term(coefficient: float, unit: str, name: str) -> str:
    number = f"{coefficient:,.0f}" if coefficient >= 1000 else f"{coefficient:.3g}"
    return f"{number} {unit}" + {ONCE: "", WITH_LEXICON: f" {WITH_LEXICON}"}.get(name, f" per {name}")


if __name__ == "__main__":
    PAGE.write_text(with_costs(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
