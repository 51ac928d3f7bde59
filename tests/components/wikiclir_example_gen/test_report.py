"""The ingestion report: it balances, and it refuses a collection that is too bad."""

import json

import pytest

from components.wikiclir_example_gen.report import (
    GRADE_DISAGREEMENT,
    USED,
    DataReport,
    make_report,
    merge_tallies,
    tally,
    tally_drop,
)
from schemas.collection import InputFile, Role
from schemas.drops import Drop, Drops, ReadReport
from schemas.errors import DataError
from schemas.wikiclir import Reason

LISTS = [tally("lists", "train", 3), tally("lists", "eval", 1), tally("lists", "test", 1), tally("pairs", "train", 150)]
QUERIES, DOCUMENTS = "wiki_en.queries", "wiki_fr.documents"

Left = tuple[Reason, list[tuple[int, str]]]
"""A reason, and the lines that were left out for it."""


def role_of(path: str, used: int, broken: tuple[Left, ...] = (), joined: tuple[Left, ...] = ()) -> Role:
    """A role of one file: so many records used, lines that were left out on reading, and records later."""
    left, later = (sum(len(lines) for _, lines in some) for some in (broken, joined))
    drops = tuple(
        Drops(reason, len(lines), tuple(Drop(reason, path, *one) for one in lines[:5])) for reason, lines in broken
    )
    lines = used + left + later
    return Role((InputFile(path, "", lines),), (), ReadReport(path, lines, used + later, drops))


def report_of(used=5, broken=(), joined=(), *tallies):
    """The report where so many queries were used, lines left out on reading, and records in the job."""
    roles = {"queries": role_of(QUERIES, used, broken, joined), "documents": role_of(DOCUMENTS, 2000)}
    left = [(("queries", reason.name), (len(lines), lines)) for reason, lines in joined]
    of_files = [tally("queries", USED, used), tally("documents", USED, 2000)]
    return make_report([*of_files, *left, *tallies, *LISTS], roles)


def refusal(report, max_bad_share=0.05):
    with pytest.raises(DataError) as error:
        report.check(max_bad_share)
    return str(error.value).splitlines()


def test_the_report_counts_records_read_used_and_left_out():
    report = report_of(5, [(Reason.BAD_UTF8, [(2, "x")])], [(Reason.NO_JUDGMENT, [(3, "3"), (6, "6")])])
    assert report.files["queries"].as_dict() == {
        "path": QUERIES,
        "read": 5 + 1 + 2,
        "used": 5,
        "drops": [
            {
                "reason": "bad_utf8",
                "meaning": "not valid UTF-8",
                "bad": True,
                "count": 1,
                "examples": [{"file": QUERIES, "line": 2, "text": "x"}],
            },
            {
                "reason": "no_judgment",
                "meaning": "query without a judgment or candidate",
                "bad": False,
                "count": 2,
                "examples": [
                    {"file": QUERIES, "line": 3, "text": "3"},
                    {"file": QUERIES, "line": 6, "text": "6"},
                ],
            },
        ],
    }
    assert report.lists == {"train": 3, "eval": 1, "test": 1}
    assert report.pairs == {"train": 150, "eval": 0, "test": 0}
    assert report.grade_disagreements == 0


def test_a_record_that_vanishes_is_our_fault():
    with pytest.raises(AssertionError, match="wiki_en.queries: 5 read, but 4 used and 0 dropped"):
        make_report([tally("queries", USED, 4)], {"queries": role_of(QUERIES, 5)})


def test_an_omission_names_its_own_file_of_several():
    files = (InputFile("a", "", 3), InputFile("b", "", 4))
    on_reading = ReadReport("a and b", 7, 6, (Drops(Reason.BAD_ID, 1, (Drop(Reason.BAD_ID, "b", 1, "x"),)),))
    joined = ("queries", Reason.NO_JUDGMENT.name), (2, [(3, "3"), (7, "7")])
    role = Role(files, (), on_reading)
    file = make_report([tally("queries", USED, 4), joined], {"queries": role}).files["queries"]
    assert (file.path, file.read) == ("a and b", 3 + 4)
    assert [example[1:] for drops in file.drops for example in drops.examples] == [
        ("b", 1, "x"),
        ("a", 3, "3"),
        ("b", 4, "7"),
    ]


def test_merging_sums_counts_and_keeps_the_first_five_examples_by_line():
    values = [tally_drop("queries", Reason.BAD_ID, line, f"line {line}")[1] for line in [9, 3, 7, 1, 8, 2, 5]]
    first_five = [(line, f"line {line}") for line in [1, 2, 3, 5, 7]]
    assert merge_tallies(values) == (7, first_five)
    # Beam may merge what is merged.
    assert merge_tallies([merge_tallies(values[:4]), merge_tallies(values[4:])]) == (7, first_five)


def test_a_good_collection_passes():
    report_of(5).check(max_bad_share=0)


def test_every_bad_file_is_reported_at_once():
    roles = {
        "queries": role_of(QUERIES, 0, ((Reason.BAD_ID, [(1, "")]),)),
        "documents": role_of(DOCUMENTS, 0, ((Reason.BAD_UTF8, [(line, "x") for line in range(1, 1001)]),)),
    }
    lines = refusal(make_report(LISTS, roles))
    assert [line.split(":")[0] for line in lines if not line.startswith(" ")] == [
        DOCUMENTS,
        QUERIES,
    ]
    assert lines[0].startswith("wiki_fr.documents: 1,000 of 1,000 records are bad")


def test_an_empty_split_is_named():
    report = make_report([tally("queries", USED, 3), tally("lists", "train", 3)], {"queries": role_of(QUERIES, 3)})
    assert refusal(report) == [
        "every split needs a query list, but eval and test got none (lists: train 3, eval 0, test 0); "
        "bring more judged queries, or fix the split column of data.candidates."
    ]


def test_a_split_without_lists_may_come_of_too_large_a_cold_share():
    cold = tally("queries", Reason.COLD.name, 2)
    report = make_report([tally("queries", USED, 1), cold, tally("lists", "test", 1)], {"queries": role_of(QUERIES, 3)})
    assert "bring more judged queries, lower data.cold_share, or fix" in refusal(report)[0]


def test_the_description_is_a_line_a_file():
    report = report_of(5, [], [(Reason.NO_JUDGMENT, [(1, "1")])], tally("candidates", GRADE_DISAGREEMENT, 1500))
    assert report.describe() == [
        "query lists: 3 train, 1 eval, 1 test; 150 query-document pairs",
        "queries: 6 read, 5 used; left out: 1 query without a judgment or candidate",
        "documents: 2,000 read, 2,000 used",
        "candidates: 1,500 grades differ from the judgments'",
    ]


@pytest.mark.parametrize(("count", "words"), [(1, "1 random word"), (20, "20 random words")])
def test_keyword_queries_are_described(count, words):
    report = make_report([tally("queries", USED, 5), *LISTS], {"queries": role_of(QUERIES, 5)}, count)
    assert report.describe()[1] == f"keyword queries: {words} of each longer query"
    assert DataReport.from_json(report.to_json()) == report


def test_a_report_of_an_older_version_is_of_whole_queries():
    content = json.loads(report_of(5).to_json())
    del content["query_words"]
    assert DataReport.from_json(json.dumps(content)) == report_of(5)


def test_the_written_report_reads_back_and_keeps_its_letters():
    report = report_of(5, [(Reason.BAD_ID, [(1, "Zoé | 北京")])])
    assert DataReport.from_json(report.to_json()) == report
    assert [*json.loads(report.to_json())] == [
        *["files", "lists", "pairs", "grade_disagreements", "query_words", "domains"]
    ]
    assert "Zoé | 北京" in report.to_json()
