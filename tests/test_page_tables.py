"""The generated tables of the documentation's pages are up to date."""

import pytest

from experiments.report.claims import CONTRADICTED, HOLDS, OPEN
from tools.page_tables import PAGES, REPORTS, with_table

pytestmark = pytest.mark.tensors


def rows(name: str) -> list[str]:
    """The rows of a table on its page."""
    page = PAGES[name].read_text(encoding="utf-8")
    return page.split(f"<!-- {name} -->\n")[1].split(f"<!-- /{name} -->")[0].splitlines()[2:]


@pytest.mark.parametrize(
    ("name", "least"),
    [("costs", 9), ("verdicts", 12), ("seen", 19), ("unseen", 19), ("additions", 11), ("adversary", 24)],
)
def test_a_table_is_the_generated_one(name: str, least: int) -> None:
    page = PAGES[name].read_text(encoding="utf-8")
    assert page == with_table(page, name), "run python -m tools.page_tables"
    assert len(rows(name)) >= least


def test_a_verdict_is_one_of_three() -> None:
    assert {line.split(" | ")[1] for line in rows("verdicts")} <= {HOLDS, CONTRADICTED, OPEN}


def test_every_report_has_its_line_on_the_page() -> None:
    page = PAGES["verdicts"].read_text(encoding="utf-8")
    reports = [path.name for path in REPORTS.iterdir() if path.is_dir()]
    assert [name for name in reports if f"]({name}/report.md)" not in page] == []
