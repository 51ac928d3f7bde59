"""Writes the figures of pages and of configurations that come from reports of experiments.

    .venv/bin/python -m tools.page_tables [FOLDER]...

A folder is the output of an experiment; its report is published first.

- `<!-- NAME -->` to `<!-- /NAME -->` is the table of that name, and says when its reports were measured.
- `<!-- commit REPORT... -->` to `<!-- /commit -->` says when the reports of the table above were measured; without a
  report, that their commit is unknown.
- `# Test split, row "ROW" of docs/experiments/REPORT`, in the head of a configuration, continues with the row's
  figures, and says when they were measured.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import click

from pipeline.layout import CELLS_ARCHIVE, FIGURES, REPORT_FILE
from schemas.provenance import PROVENANCE_FILE, ReportProvenance
from smooth_clir.experiments.report.claims import CLAIMS_CAPTION
from smooth_clir.experiments.report.write_report import DIFFERENCES
from smooth_clir.experiments.stale import FILES, REPORTS

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), REPORTS / "README.md")
CONFIGS: Final = tuple(sorted((ROOT / "configs").rglob("*.yaml")))
COLLECTIONS: Final = {
    "xquad_en_es_q": "XQuAD, Spanish",
    "ntrex_en_fr": "NTREX, French",
    "tico_en_fr": "TICO-19, French",
    "bible_en_fr": "Bible, French",
}
"""The collections of the tables of results, to descriptions of their documents."""
_PUBLISHED: Final = (REPORT_FILE, PROVENANCE_FILE, CELLS_ARCHIVE)
"""The files of a published report, besides its pictures."""
_NORMAL_95: Final = 1.96
"""Half of a 95 % interval, in standard errors."""
EARLIER: Final = "before reports kept their commit"
_HEAD: Final = re.compile(r'^# Test split, row "(.+?)" of docs/experiments/(\w+)\b.*$', re.MULTILINE)
_COMMIT: Final = re.compile(r"(?<=<!-- commit)((?: \w+)*) -->\n.*?(?=<!-- /commit -->)", re.DOTALL)


def renewed(text: str) -> str:
    """The text of a page, or of a configuration, with the figures of the reports as they are now."""
    for name, table in TABLES.items():
        marked = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)
        if marked.search(text):
            lines = "".join(f"{line}\n" for line in table())
            text = marked.sub(lines.replace("\\", r"\\"), text)
    text = _COMMIT.sub(lambda mark: f"{mark[1]} -->\n{_caption(mark[1].split())}\n", text)
    return _HEAD.sub(lambda head: _head(head[1], head[2]), text)


def _version(report: str) -> str:
    """When a report was measured."""
    path = REPORTS / report / PROVENANCE_FILE
    return f"with {ReportProvenance.read(path, 'run it again').commit_text()}" if path.is_file() else EARLIER


def _caption(reports: Iterable[str], labels: Iterable[str] | None = None) -> str:
    """When reports were measured; if at different times, with each report's label, by default its name."""
    reports = [*reports]
    versions: dict[str, dict[str, None]] = {}
    for report, label in zip(reports, labels or reports, strict=True):
        versions.setdefault(_version(report), {})[label] = None
    if not versions:
        return "*Measured before figures kept their commit.*"
    if len(versions) == 1:
        return f"*Measured {min(versions)}.*"
    descriptions = (f"{version}: {', '.join(names)}" for version, names in versions.items())
    return f"*Measured {'; '.join(descriptions)}.*"


def _head(row: str, report: str) -> str:
    """The line of a configuration's head."""
    figures = _rows(REPORTS / report / "report.md")[row]
    mean, _, spread = figures["NDCG@5"].partition("<br>")
    values = " to ".join(spread.rpartition("<br>")[2].split("–"))
    span = f" ({values})" if spread else ""
    first = figures[r"P\_mr@1"].partition("<br>")[0]
    figures_text = f"ndcg_5 {mean}{span}, p_mr_1 {first}"
    return f'# Test split, row "{row}" of docs/experiments/{report}: {figures_text}; measured {_version(report)}.'


def _rows(report: Path) -> dict[str, dict[str, str]]:
    """The results of a report: each row to its entries, without the marks of the best and of significance."""
    return {row.pop("").removesuffix("<br>baseline"): row for row in _table(report, "Test split")}


def _table(report: Path, caption: str) -> list[dict[str, str]]:
    """The rows of a report's first result table whose caption begins with this text; the first column is named ""."""
    section = report.read_text(encoding="utf-8").split("\n## Results\n")[1]
    _, begins, following = section.partition(f"\n{caption}")
    if not begins:
        return []
    lines = following.split("\n\n")[1].splitlines()
    (_, *head), _, *rows = (re.sub(r"[*↑↓]", "", line).strip("|").split("|") for line in lines)
    names = ["", *(name.strip() for name in head)]
    return [dict(zip(names, (entry.strip() for entry in row), strict=True)) for row in rows]


def _verdicts() -> Iterator[str]:
    yield "| claim | verdict | of its comparisons | report | measured |"
    yield "| --- | --- | --- | --- | --- |"
    for report in sorted(REPORTS.glob("*/report.md")):
        _, caption, claims = report.read_text(encoding="utf-8").partition(f"\n\n{CLAIMS_CAPTION}\n\n")
        for line in claims.split("\n\n")[0].splitlines()[2:] if caption else ():
            name = report.parent.name
            yield f"{line} [{name}]({name}/report.md) | {_version(name)} |"


def _results(prefix: str) -> Iterator[str]:
    """NDCG@5, P_mr@1 and the rank loss in per cent of each system, from the reports on the collections."""
    reports = reports_of(prefix)
    columns = [_rows(REPORTS / report / REPORT_FILE) for report in reports.values()]
    yield from _heads("", reports)
    for system in dict.fromkeys(system for rows in columns for system in rows):
        entries = (_result_figures(rows[system]) if system in rows else "" for rows in columns)
        yield f"| {system} | {' | '.join(entries)} |"
    yield from ("", _caption(reports.values()))


def _result_figures(entries: Mapping[str, str]) -> str:
    """The figures of `_results` of a system."""
    ndcg, first, pairs = (entries[name].partition("<br>")[0] for name in ("NDCG@5", r"P\_mr@1", r"ordered\_pairs"))
    return f"{_short(ndcg)} / {_short(first)} / {100 * (1 - float(pairs)):.1f}"


def _short(figure: str) -> str:
    return figure.removeprefix("0")


_BASELINES: Final = {
    "BM25": "BM25",
    "BM25 on stems": "BM25 on stems",
    "machine translation, BM25": "BM25 of machine-translated queries",
    "machine translation, RM3": "RM3 of machine-translated queries",
    "lexicon alone": "lexicon alone",
}
"""Systems to the baselines of a report."""
_PARTS: Final = {
    "E5 alone": ("best with e5", "encoder"),
    "USE alone": ("best with USE", "encoder"),
    "`best`, first pass": ("best", "first pass"),
}
"""Systems to the row of a report and the channel of its score."""
_SYSTEMS: Final = {
    "the paper's system": "paper",
    "**`best`**": "best",
    "**taught**": "taught",
    "**`best` with E5**": "best with e5",
    "**taught, with E5**": "taught with e5",
    "**`best` with USE**": "best with USE",
    "**taught, with USE**": "taught with USE",
    "**`closed`**": "closed",
    "**`closed` with E5**": "closed with e5",
    "**`closed` with USE**": "closed with USE",
}
"""Systems to the rows of a report."""
_GLANCE_SYSTEMS: Final = (
    *("BM25", "machine translation, BM25", "machine translation, RM3", "E5 alone", "the paper's system"),
    *("lexicon alone", "**`best`**", "**taught**", "**`best` with E5**", "**taught, with E5**"),
)
"""The systems of the README."""


def _glance() -> Iterator[str]:
    """NDCG@5 and P_mr@1 of the systems of the README on unseen and on seen documents."""
    kinds = {"unseen": reports_of("systems_unseen_"), "seen": reports_of("systems_")}
    columns = {
        f"{documents}, {kind}": reports[name]
        for name, documents in COLLECTIONS.items()
        for kind, reports in kinds.items()
        if name in reports
    }
    yield "| | " + " | ".join(columns) + " |"
    yield "| --- |" + " --- |" * len(columns)
    yield from _system_lines(columns, _GLANCE_SYSTEMS, has_intervals=False)


def _systems(prefix: str) -> Iterator[str]:
    """NDCG@5 and P_mr@1 of every system on test lists, for our own systems with half the 95 % interval."""
    reports = reports_of(prefix)
    yield from _heads("test lists", reports)
    yield from _system_lines(reports, (*_BASELINES, *_PARTS, *_SYSTEMS), has_intervals=True)


def _searches(prefix: str) -> Iterator[str]:
    """NDCG@20 and recall@100, NDCG@5 and P_mr@1 of every system that searches its whole collection."""
    reports = reports_of(prefix)
    yield from _heads("whole collection", reports)
    searches = [_table(REPORTS / report / REPORT_FILE, "Search in the whole collection") for report in reports.values()]
    rows = [{(row[""], row["channel alone"]): row for row in search} for search in searches]
    systems = {"lexicon alone": ("best", "lexicon")} | {system: (row, "") for system, row in _SYSTEMS.items()}
    for system, key in systems.items():
        if any(key in column for column in rows):
            entries = (_search_figures(column[key]) if key in column else "" for column in rows)
            yield f"| {system} | {' | '.join(entries)} |"
    yield from ("", _caption(reports.values()))


def _search_figures(entries: Mapping[str, str]) -> str:
    """The figures of `_searches` of a system."""
    figures = [_short(entries[name]) for name in (r"ndcg\_20", r"recall\_100", r"ndcg\_5", r"p\_mr\_1")]
    return "{} / {} · {} / {}".format(*figures)


def _system_lines(reports: Mapping[str, str], systems: Sequence[str], has_intervals: bool) -> Iterator[str]:
    """A line for each system that a report has, and when they were measured."""
    figures = [system_figures(REPORTS / report / REPORT_FILE, has_intervals) for report in reports.values()]
    for system in systems:
        if any(system in column for column in figures):
            yield f"| {system} | " + " | ".join(column.get(system, "") for column in figures) + " |"
    yield from ("", _caption(reports.values()))


def system_figures(report: Path, has_intervals: bool) -> dict[str, str]:
    """The figures of each system that a report has."""
    rows = _rows(report)
    channels = {(row[""], row["channel"]): row for row in _table(report, "The channels of the scores")}
    errors = {row[""]: row for row in _table(report, "Standard errors of the means") if has_intervals}
    systems = {system: _figures(rows[row]) for system, row in _BASELINES.items() if row in rows}
    systems |= {system: _figures(channels[part]) for system, part in _PARTS.items() if part in channels}
    return systems | {system: _figures(rows[row], errors.get(row)) for system, row in _SYSTEMS.items() if row in rows}


def _figures(entries: Mapping[str, str], errors: Mapping[str, str] | None = None) -> str:
    """NDCG@5 and P_mr@1, each with half its 95 % interval where the standard errors are known."""
    return " / ".join(
        _short(entries[metric].partition("<br>")[0])
        + (f" ± {_short(f'{_NORMAL_95 * float(errors[metric]):.3f}')}" if errors else "")
        for metric in ("NDCG@5", r"P\_mr@1")
    )


def reports_of(prefix: str) -> dict[str, str]:
    """Each collection that has a published report with the prefix, to the report."""
    names = {name: f"{prefix}{name}" for name in COLLECTIONS}
    return {name: report for name, report in names.items() if (REPORTS / report / REPORT_FILE).is_file()}


def _heads(first: str, reports: Mapping[str, str]) -> Iterator[str]:
    links = (f"[`{name}`](experiments/{report}/report.md)" for name, report in reports.items())
    yield f"| {first} | " + " | ".join(links) + " |"
    yield "| --- |" + " --- |" * len(reports)


def _adversary() -> Iterator[str]:
    """NDCG@5 and P_mr@1 on each held-out domain by the adversary's weight, from the reports on average pooling."""
    weights = ("0", "0.0003", "0.001", "0.01", "0.25")
    yield "| | w = " + " | ".join(weights) + " |"
    yield "| --- |" + " --- |" * len(weights)
    kinds = ("collections_sosl", "collections_softmax", "books_sosl", "books_softmax")
    for kind in kinds:
        report = REPORTS / f"adversary_{kind}" / "report.md"
        section = report.read_text(encoding="utf-8").split("\n## Results\n")[1]
        head, _, *rows = (line.strip("|").split("|") for line in section.strip().split("\n\n")[1].splitlines())
        columns = [name.strip() for name in head]
        lines: dict[str, dict[str, str]] = {}
        domains = ""
        for row in rows:
            entries = dict(zip(columns, (entry.strip() for entry in row), strict=True))
            domains = entries["source → target"] or domains
            figures = lines.setdefault(domains.split(" → ")[1], {})
            figures.setdefault("0", _ndcg_and_first("Original", entries))
            figures[entries["w"]] = _ndcg_and_first("Adv", entries)
        for target, weight_figures in lines.items():
            label = f"[{target}](experiments/adversary_{kind}/report.md), {_LOSSES[kind.partition('_')[2]]}"
            yield f"| {label} | " + " | ".join(weight_figures[weight] for weight in weights) + " |"
    yield from ("", _caption(f"adversary_{kind}" for kind in kinds))


_LOSSES: Final = {"sosl": "SOSL", "softmax": "softmax"}


def _ndcg_and_first(prefix: str, entries: dict[str, str]) -> str:
    """The two figures of a line, without their changes."""
    ndcg, first = (re.sub(r" \(.*?\)", "", entries[f"{prefix} {name}"]) for name in ("NDCG@5", r"P\_mr@1"))
    return f"{_short(ndcg)} / {_short(first)}"


TABLES: Final[Mapping[str, Callable[[], Iterator[str]]]] = {
    "verdicts": _verdicts,
    "glance": _glance,
    "seen": partial(_results, "psi_table_6_"),
    "unseen": partial(_results, "unseen_"),
    "systems unseen": partial(_systems, "systems_unseen_"),
    "systems seen": partial(_systems, "systems_"),
    "searches unseen": partial(_searches, "systems_unseen_"),
    "searches seen": partial(_searches, "systems_"),
    "adversary": _adversary,
}
"""The tables by the names of their marks."""


def publish(folder: Path, reports: Path = REPORTS) -> None:
    """Copies an experiment's report with its files to the published reports.

    Raises:
      click.ClickException: the folder has no report with its provenance, or no experiment file has its name.
    """
    if not (FILES / f"{folder.name}.yaml").is_file():
        raise click.ClickException(f"{folder}: must be named after a file in {FILES}; there is no {folder.name}.yaml.")
    if lacking := [name for name in _PUBLISHED if not (folder / name).is_file()]:
        raise click.ClickException(f"{folder}: must have {', '.join(lacking)}; run the experiment again.")
    target = reports / folder.name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    if (folder / FIGURES).is_dir():  # a report on folds has none
        shutil.copytree(folder / FIGURES, target / FIGURES)
    for name in _PUBLISHED:
        shutil.copy(folder / name, target / name)
    text = (folder / REPORT_FILE).read_text(encoding="utf-8")
    # The report's links are relative to the output's folder, which may have another depth.
    link = f"<{os.path.relpath(ROOT / DIFFERENCES, REPORTS / folder.name)}>"
    published = re.sub(rf"<[^<>]*{re.escape(str(DIFFERENCES))}>", link, text)
    (target / REPORT_FILE).write_text(published, encoding="utf-8")


@click.command(help=(__doc__ or "").partition("\n\n")[0])
@click.argument("folders", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(folders: Sequence[Path]) -> None:
    """Publishes the reports of the folders, and renews all pages and configurations."""
    for folder in folders:
        publish(folder)
    for path in (*PAGES, *CONFIGS):
        before = path.read_text(encoding="utf-8")
        if (after := renewed(before)) != before:
            path.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main()
