"""The figures of pages and of configurations are those of the reports, and say when they were measured."""

import re
import shutil
from pathlib import Path

import click
import pytest

from schemas.provenance import ReportProvenance
from smooth_clir.experiments.report.claims import CONTRADICTED, HOLDS, OPEN
from tools import page_tables
from tools.page_tables import CONFIGS, PAGES, REPORTS, ROOT, TABLES, publish, renewed

pytestmark = pytest.mark.tensors

MEASURED = [
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("polynomial", "results", "encoders", "domains")),
]
"""The pages whose tables have figures of rankings."""
FIGURE = re.compile(r"(?<![\d.])0?\.\d{2,3}\b")
HAND_WRITTEN = re.compile(r"((?:^\|.*\n)+)\n<!-- commit((?: \w+)+) -->", re.MULTILINE)


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def rows(name: str) -> list[str]:
    """The rows of a generated table on its page."""
    (page,) = (text(page) for page in PAGES if f"<!-- {name} -->" in text(page))
    table = page.split(f"<!-- {name} -->\n")[1].split(f"<!-- /{name} -->")[0]
    return [line for line in table.splitlines() if line.startswith("|")][2:]


@pytest.mark.parametrize("path", [*PAGES, *CONFIGS], ids=lambda path: str(path.relative_to(ROOT)))
def test_what_comes_from_reports_is_as_the_reports_are(path: Path) -> None:
    assert text(path) == renewed(text(path)), "run python -m tools.page_tables"


@pytest.mark.parametrize(
    ("name", "min_rows"),
    [("verdicts", 12), ("seen", 18), ("unseen", 15), ("adversary", 12), ("glance", 10), ("systems seen", 18)],
)
def test_a_generated_table_stands_on_a_page(name: str, min_rows: int) -> None:
    assert name in TABLES and len(rows(name)) >= min_rows


@pytest.mark.parametrize("page", MEASURED, ids=lambda page: page.stem)
def test_each_table_of_figures_says_when_it_was_measured(page: Path) -> None:
    blocks = re.split(r"((?:^\|.*\n)+)", text(page), flags=re.MULTILINE)
    tables = [number for number in range(1, len(blocks), 2) if len(FIGURE.findall(blocks[number])) > 4]
    ours = [number for number in tables if "published numbers" not in blocks[number - 1]]
    assert ours
    assert [blocks[number] for number in ours if not re.match(r"\n(<!-- commit|\*Measured )", blocks[number + 1])] == []


@pytest.mark.parametrize("page", MEASURED, ids=lambda page: page.stem)
def test_figures_of_a_table_that_names_its_reports_stand_in_these(page: Path) -> None:
    for table, names in HAND_WRITTEN.findall(text(page)):
        reports = "".join(text(REPORTS / name / "report.md") for name in names.split())
        figures = {f"0{figure.removeprefix('0')}" for figure in re.findall(r"(?<!\d)0?\.\d{3}\b", table)}
        assert figures and sorted(figure for figure in figures if figure not in reports) == []


def test_the_head_of_a_configuration_has_figures_of_reports_alone() -> None:
    heads = {path: re.match(r"(#.*\n)*", text(path))[0] for path in CONFIGS}  # type: ignore[index]
    lines = {path: [line for line in head.splitlines() if FIGURE.search(line)] for path, head in heads.items()}
    assert sum(map(len, lines.values())) >= 9
    assert [line for head in lines.values() for line in head if not line.startswith("# Test split, row ")] == []


def test_reports_of_several_commits_are_named_with_theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_tables, "REPORTS", tmp_path)
    nothing: dict[str, dict[str, str]] = {"libraries": {}, "data": {}, "code": {}, "settings": {}}
    for name, commits in {"a": ["0123456789"], "b": ["fedcba9876"], "c": ["0123456789"], "d": [None]}.items():
        (tmp_path / name).mkdir()
        record = ReportProvenance(commits=commits, cells=[], **nothing)  # type: ignore[arg-type]
        (tmp_path / name / "provenance.json").write_text(record.to_json())
    mark = "<!-- commit {} -->\n*old*\n<!-- /commit -->"
    assert renewed(mark.format("a c")) == "<!-- commit a c -->\n*Measured with commit 0123456.*\n<!-- /commit -->"
    mixed = renewed(mark.format("a b c d e"))
    for part in ("0123456: a, c;", "fedcba9: b;", "with uncommitted code: d;", f"{page_tables.EARLIER}: e.*"):
        assert part in mixed
    assert page_tables.EARLIER not in renewed("<!-- commit -->\n*old*\n<!-- /commit -->")


def test_a_folder_is_published_whole_and_its_link_leads_to_the_page(tmp_path: Path) -> None:
    folder, reports = tmp_path / "sample", tmp_path / "reports"
    shutil.copytree(REPORTS / "sample", folder)
    link = "../../../docs/differences.md"  # as in the output of any checkout
    report = text(folder / "report.md").replace("<../../differences.md>", f"<{link}>")
    (folder / "report.md").write_text(report)
    (reports / "sample").mkdir(parents=True)
    (reports / "sample" / "old.svg").touch()
    publish(folder, reports)
    published, before = (
        {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        for root in (reports / "sample", REPORTS / "sample")
    )
    assert published == before
    assert link not in text(reports / "sample" / "report.md")


@pytest.mark.parametrize("fault", ["provenance.json", "another.yaml"])
def test_a_folder_without_provenance_or_file_is_not_published(tmp_path: Path, fault: str) -> None:
    folder = tmp_path / ("another" if fault == "another.yaml" else "sample")
    shutil.copytree(REPORTS / "sample", folder, ignore=shutil.ignore_patterns("provenance.json"))
    with pytest.raises(click.ClickException, match=fault):
        publish(folder, tmp_path / "reports")
    assert not (tmp_path / "reports").exists()


def test_a_verdict_is_one_of_three() -> None:
    assert {line.split(" | ")[1] for line in rows("verdicts")} <= {HOLDS, CONTRADICTED, OPEN}


def test_every_report_has_its_line_on_the_page() -> None:
    page = text(REPORTS / "README.md")
    reports = [path.name for path in REPORTS.iterdir() if path.is_dir()]
    assert [name for name in reports if f"]({name}/report.md)" not in page] == []
