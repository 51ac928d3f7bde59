"""The ingestion report: it balances, and it refuses a collection that is too bad."""

import json

import pytest

from components.wikiclir_example_gen.report import (
    GRADE_DISAGREEMENT,
    READ,
    USED,
    check_report,
    describe_report,
    make_report,
    merge_tallies,
    tally,
    tally_drop,
    write_report,
)
from schemas.errors import DataError
from schemas.wikiclir import Drop, Reason

PATHS = {"queries": "wiki_en.queries", "documents": "wiki_fr.documents"}
LISTS = [tally("lists", "train", 3), tally("lists", "eval", 1), tally("lists", "test", 1), tally("pairs", "train", 150)]
DOCUMENTS = [tally("documents", READ, 2000), tally("documents", USED, 2000)]


def queries(used: int, *drops: tuple[Reason, list[tuple[int, str]]]) -> list:
    """Tallies of the queries file: so many used, and the dropped lines of each reason."""
    dropped = [(("queries", reason.name), (len(lines), lines)) for reason, lines in drops]
    read = used + sum(len(lines) for _, lines in drops)
    return [tally("queries", READ, read), tally("queries", USED, used), *dropped]


def report_of(*tallies):
    return make_report([*tallies, *LISTS, *DOCUMENTS], PATHS)


def refusal(report, max_bad_share=0.05):
    with pytest.raises(DataError) as error:
        check_report(report, max_bad_share)
    return str(error.value).splitlines()


def test_report_counts_what_was_read_used_and_left_out():
    report = report_of(*queries(5, (Reason.BAD_UTF8, [(2, "x")]), (Reason.NO_JUDGMENT, [(3, "3"), (6, "6")])))
    assert report["files"]["queries"] == {
        "path": "wiki_en.queries",
        "read": 5 + 1 + 2,
        "used": 5,
        "drops": [
            {
                "reason": "bad_utf8",
                "meaning": "not valid UTF-8",
                "bad": True,
                "count": 1,
                "examples": [{"line": 2, "text": "x"}],
            },
            {
                "reason": "no_judgment",
                "meaning": "query without a judgment or candidate",
                "bad": False,
                "count": 2,
                "examples": [{"line": 3, "text": "3"}, {"line": 6, "text": "6"}],
            },
        ],
    }
    assert report["lists"] == {"train": 3, "eval": 1, "test": 1}
    assert report["pairs"] == {"train": 150, "eval": 0, "test": 0}
    assert report["grade_disagreements"] == 0


def test_a_record_that_vanishes_is_our_fault():
    with pytest.raises(AssertionError, match="wiki_en.queries: 5 read, but 4 used and 0 dropped"):
        report_of(tally("queries", READ, 5), tally("queries", USED, 4))


def test_merging_sums_counts_and_keeps_the_first_five_examples_by_line():
    values = [tally_drop("queries", Drop(Reason.BAD_ID, "", line, f"line {line}"))[1] for line in [9, 3, 7, 1, 8, 2, 5]]
    first_five = [(line, f"line {line}") for line in [1, 2, 3, 5, 7]]
    assert merge_tallies(values) == (7, first_five)
    # Beam may merge what is merged.
    assert merge_tallies([merge_tallies(values[:4]), merge_tallies(values[4:])]) == (7, first_five)


def test_a_good_collection_passes():
    check_report(report_of(*queries(5)), max_bad_share=0)


def test_a_share_at_the_limit_passes_and_beyond_it_is_refused():
    report = report_of(*queries(3, (Reason.BAD_ID, [(2, "")])))
    check_report(report, max_bad_share=1 / 4)
    assert refusal(report, max_bad_share=0.2)[0] == (
        "wiki_en.queries: 1 of 4 records are bad; at most a share of 0.2 may be (data.max_bad_share):"
    )


def test_a_refusal_shows_the_worst_reasons_first_with_lines():
    report = report_of(*queries(2, (Reason.FIELD_COUNT, [(4, "4 | x")]), (Reason.BAD_ID, [(1, " | y"), (3, " | z")])))
    assert refusal(report)[1:] == [
        "  2 x empty id, or white space in an id",
        "    wiki_en.queries:1:  | y",
        "    wiki_en.queries:3:  | z",
        "  1 x wrong number of tab-separated fields",
        "    wiki_en.queries:4: 4 | x",
    ]


def test_what_is_merely_unused_is_not_bad():
    check_report(report_of(*queries(5, (Reason.NO_JUDGMENT, [(line, "") for line in range(100)]))), max_bad_share=0)


def test_an_unreadable_file_is_refused_whatever_the_share():
    report = report_of(*queries(99, (Reason.BAD_ID, [(1, "")]), (Reason.UNREADABLE, [(100, "CRC check failed")])))
    assert refusal(report, max_bad_share=1) == [
        "wiki_en.queries: 2 of 101 records are bad:",
        "  1 x rest of the file cannot be read",
        "    wiki_en.queries:100: CRC check failed",
    ]


def test_every_bad_file_is_reported_at_once():
    bad = [(("documents", Reason.BAD_UTF8.name), (1000, [(1, "x")])), tally("documents", READ, 1000)]
    lines = refusal(make_report([*queries(0, (Reason.BAD_ID, [(1, "")])), *bad, *LISTS], PATHS))
    assert [line.split(":")[0] for line in lines if not line.startswith(" ")] == [
        "wiki_fr.documents",
        "wiki_en.queries",
    ]
    assert lines[0].startswith("wiki_fr.documents: 1,000 of 1,000 records are bad")


def test_an_empty_split_is_named():
    report = make_report([*queries(3), *DOCUMENTS, tally("lists", "train", 3)], PATHS)
    assert refusal(report) == [
        "every split needs a query list, but eval and test got none (lists: train 3, eval 0, test 0); "
        "bring more judged queries, or fix the split column of data.candidates."
    ]


def test_the_description_is_a_line_a_file():
    report = report_of(*queries(5, (Reason.NO_JUDGMENT, [(1, "1")])), tally("candidates", GRADE_DISAGREEMENT, 1500))
    assert describe_report(report) == [
        "query lists: 3 train, 1 eval, 1 test; 150 query-document pairs",
        "queries: 6 read, 5 used; left out: 1 query without a judgment or candidate",
        "documents: 2,000 read, 2,000 used",
        "candidates: 1,500 grades differ from the judgments'",
    ]


def test_the_written_report_reads_back_and_keeps_its_letters():
    report = report_of(*queries(5, (Reason.BAD_ID, [(1, "Zoé | 北京")])))
    assert json.loads(write_report(report)) == report
    assert "Zoé | 北京" in write_report(report)
