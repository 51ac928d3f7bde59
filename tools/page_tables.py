"""Writes the generated tables of the documentation's pages, each between two marks.

docs/performance.md shows the costs of `clir run --estimate`, docs/experiments/README.md the reports' own verdicts, and
docs/polynomial.md and docs/domains.md the reports' results.

.venv/bin/python -m tools.page_tables
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from experiments.report.claims import CLAIMS_CAPTION
from pipeline.estimate.estimate_run import COSTS, ONCE, STAGES_OF_PART, WITH_LEXICON

DOCS: Final = Path(__file__).parents[1] / "docs"
REPORTS: Final = DOCS / "experiments"
PAGES: Final = {
    "costs": DOCS / "performance.md",
    "verdicts": REPORTS / "README.md",
    "seen": DOCS / "polynomial.md",
    "unseen": DOCS / "polynomial.md",
    "additions": DOCS / "polynomial.md",
    "adversary": DOCS / "domains.md",
}
"""The page of each table."""
COLLECTIONS: Final = ("xquad_en_es_q", "ntrex_en_fr", "tico_en_fr", "bible_en_fr")
"""The collections of the tables of results."""


def with_table(page: str, name: str) -> str:
    """The page with a table between the comments `name` and `/name`."""
    lines = {
        "costs": _costs,
        "verdicts": _verdicts,
        "seen": partial(_results, "psi_table_6_"),
        "unseen": partial(_results, "unseen_"),
        "additions": partial(_results, "additions_"),
        "adversary": _adversary,
    }[name]()
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
        _, caption, claims = report.read_text(encoding="utf-8").partition(f"\n\n{CLAIMS_CAPTION}\n\n")
        for line in claims.split("\n\n")[0].splitlines()[2:] if caption else ():
            yield f"{line} [{report.parent.name}]({report.parent.name}/report.md) |"


def _results(prefix: str) -> Iterator[str]:
    """NDCG@5, P_mr@1 and the rank loss in per cent of each system, from the reports on the collections."""
    reports = {name: REPORTS / f"{prefix}{name}" / "report.md" for name in COLLECTIONS}
    found = {name: _results_of(report) for name, report in reports.items() if report.is_file()}
    yield "| | " + " | ".join(f"[`{name}`](experiments/{prefix}{name}/report.md)" for name in found) + " |"
    yield "| --- |" + " --- |" * len(found)
    for system in dict.fromkeys(system for of_report in found.values() for system in of_report):
        yield f"| {system} | " + " | ".join(of_report.get(system, "") for of_report in found.values()) + " |"


def _results_of(report: Path) -> dict[str, str]:
    """Each system of a report's results to its figures."""
    section = report.read_text(encoding="utf-8").split("\n## Results\n")[1]
    head, _, *rows = (line.strip("| ").split(" | ") for line in section.strip().split("\n\n")[1].splitlines())
    columns = [head.index(name) for name in ("NDCG@5", r"P\_mr@1", r"ordered\_pairs")]
    figures = {}
    for row in rows:
        ndcg, first, pairs = (re.sub(r"<br>.*|[*↑↓]", "", row[column]) for column in columns)
        loss = 100 * (1 - float(pairs))
        figures[row[0].removesuffix("<br>baseline")] = f"{ndcg[1:]} / {first.removeprefix('0')} / {loss:.1f}"
    return figures


def _adversary() -> Iterator[str]:
    """NDCG@5 and P_mr@1 on each held-out domain by the adversary's weight, from the reports on average pooling."""
    weights = ("0", "0.0003", "0.001", "0.01", "0.25")
    yield "| | w = " + " | ".join(weights) + " |"
    yield "| --- |" + " --- |" * len(weights)
    for kind in ("collections_sosl", "collections_softmax", "books_sosl", "books_softmax"):
        report = REPORTS / f"adversary_{kind}" / "report.md"
        section = report.read_text(encoding="utf-8").split("\n## Results\n")[1]
        head, _, *rows = (line.strip("|").split("|") for line in section.strip().split("\n\n")[1].splitlines())
        columns = [name.strip() for name in head]
        lines: dict[str, dict[str, str]] = {}
        domains = ""
        for row in rows:
            of_row = dict(zip(columns, (entry.strip() for entry in row), strict=True))
            domains = of_row["source → target"] or domains
            found = lines.setdefault(domains.split(" → ")[1], {})
            found.setdefault("0", _ndcg_and_first("Original", of_row))
            found[of_row["w"]] = _ndcg_and_first("Adv", of_row)
        for target, of_weights in lines.items():
            label = f"[{target}](experiments/adversary_{kind}/report.md), {_LOSSES[kind.partition('_')[2]]}"
            yield f"| {label} | " + " | ".join(of_weights[weight] for weight in weights) + " |"


_LOSSES: Final = {"sosl": "SOSL", "softmax": "softmax"}


def _ndcg_and_first(which: str, of_row: dict[str, str]) -> str:
    """The two figures of a line, without their changes."""
    ndcg, first = (re.sub(r" \(.*?\)", "", of_row[f"{which} {name}"]) for name in ("NDCG@5", r"P\_mr@1"))
    return f"{ndcg.removeprefix('0')} / {first.removeprefix('0')}"


if __name__ == "__main__":
    for name, page in PAGES.items():
        page.write_text(with_table(page.read_text(encoding="utf-8"), name), encoding="utf-8")
