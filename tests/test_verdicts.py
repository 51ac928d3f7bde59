"""The page of experiments says what the reports' own verdicts are."""

from tools.verdicts import PAGE, REPORTS, with_verdicts


def test_every_verdict_is_the_reports_own():
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_verdicts(page), "run python -m tools.verdicts"
    verdicts = page.split("<!-- verdicts -->\n")[1].split("<!-- /verdicts -->")[0].splitlines()[2:]
    assert len(verdicts) >= 12
    assert all(line.split(" | ")[1] in ("holds", "is contradicted", "cannot be told") for line in verdicts)


def test_every_report_has_its_line_on_the_page():
    page = PAGE.read_text(encoding="utf-8")
    missing = [one.name for one in REPORTS.iterdir() if one.is_dir() and f"]({one.name}/report.md)" not in page]
    assert missing == []
