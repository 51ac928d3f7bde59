"""Every kind of bad input ends in a clear message, is counted, or does no harm; and docs/bad-input.md says so."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from schemas.wikiclir import Reason
from tests.bad_input.case import ACCEPTED, AT_ONCE, BY_THE_RUN, LEFT_OUT, Case
from tests.bad_input.cases import CASES, SECTIONS, cases_of
from tests.bad_input.page import INTRODUCTION, block
from tests.bad_input.seen import Seen, ingest_cases, run_case

PAGE = Path(__file__).parents[2] / "docs" / "bad-input.md"


def each(*treatments: str) -> pytest.MarkDecorator:
    """A test for every case that is treated so."""
    cases = cases_of(*treatments)
    return pytest.mark.parametrize("case", cases, ids=[case.name for case in cases])


def check(case: Case, seen: Seen) -> None:
    """Checks that the message holds what the case expects, and that the page shows it."""
    message = "\n".join(seen.said)
    for text in case.says:
        assert text in message
    assert block(case, seen) in PAGE.read_text(encoding="utf-8"), (
        "docs/bad-input.md is out of date: .venv/bin/python -m tests.bad_input.page > docs/bad-input.md"
    )


@each(AT_ONCE)
def test_what_can_be_seen_at_once_is_refused_before_anything_runs(case: Case, tmp_path: Path) -> None:
    seen = run_case(case, tmp_path)
    assert seen.code in (1, 2)
    assert not (tmp_path / "out" / "config.yaml").exists()
    check(case, seen)


@pytest.mark.runs
@each(BY_THE_RUN)
def test_what_only_a_run_can_see_ends_it_with_a_message(case: Case, tmp_path: Path) -> None:
    seen = run_case(case, tmp_path)
    assert seen.code == 1
    check(case, seen)


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Seen]:
    """One ingestion of every case that ends no run."""
    return ingest_cases(cases_of(LEFT_OUT, ACCEPTED), tmp_path_factory.mktemp("ingested"))


@pytest.mark.stages
@each(LEFT_OUT)
def test_a_record_that_cannot_be_used_is_counted_with_its_place(case: Case, ingested: Mapping[str, Seen]) -> None:
    check(case, ingested[case.name])


@pytest.mark.stages
@each(ACCEPTED)
def test_what_is_only_unusual_costs_no_record(case: Case, ingested: Mapping[str, Seen]) -> None:
    assert ingested[case.name].said == ()
    check(case, ingested[case.name])


def test_the_page_holds_the_catalogue_and_nothing_else() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.startswith(INTRODUCTION)
    assert re.findall(r"^## (.+)|^\*\*(.+)\*\*$", text, re.MULTILINE) == [
        title for section, cases in SECTIONS.items() for title in [(section, ""), *(("", case.wrong) for case in cases)]
    ]


def test_every_case_has_a_name_of_its_own_and_a_message_unless_it_is_accepted() -> None:
    assert len({case.name for case in CASES}) == len({case.wrong for case in CASES}) == len(CASES) >= 30
    for case in CASES:
        assert bool(case.says) == (case.treatment != ACCEPTED), case.name


def test_every_reason_that_makes_a_record_bad_is_in_the_catalogue() -> None:
    said = "\n".join(text for case in CASES for text in case.says)
    assert [reason.text for reason in Reason if reason.bad and reason.text not in said] == []
