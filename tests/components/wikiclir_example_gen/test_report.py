"""The ingestion report: it balances, and it refuses a collection that is too bad."""

import json

import pytest

from components.wikiclir_example_gen.report import (
    GRADE_DISAGREEMENT,
    USED,
    DataReport,
    domain_subject,
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


def role_of(path, used, broken=(), joined=0):
    """A role of one file: so many records used, (reason, lines) left out on reading, and records left out later."""
    drops = tuple(
        Drops(reason, len(left_out), tuple(Drop(reason, path, *line) for line in left_out[:5]))
        for reason, left_out in broken
    )
    later = used + joined
    lines = later + sum(drop.count for drop in drops)
    return Role((InputFile(path, "", lines),), (), ReadReport(path, lines, later, drops))


def report_of(used=5, broken=(), joined=(), *tallies, query_words=None):
    """The report where so many queries were used, lines left out on reading, and records in the job."""
    joined_count = sum(len(left_out) for _, left_out in joined)
    roles = {"queries": role_of(QUERIES, used, broken, joined_count), "documents": role_of(DOCUMENTS, 2000)}
    left = [(("queries", reason.name), (len(left_out), left_out)) for reason, left_out in joined]
    files = [tally("queries", USED, used), tally("documents", USED, 2000)]
    return make_report([*files, *left, *tallies, *LISTS], roles, query_words)


def refusal(report, max_bad_share=0.05):
    with pytest.raises(DataError) as error:
        report.check(max_bad_share)
    return str(error.value).splitlines()


def test_an_omission_names_its_own_file_of_several():
    files = (InputFile("a", "", 3), InputFile("b", "", 4))
    on_reading = ReadReport("a and b", 7, 6, (Drops(Reason.BAD_ID, 1, (Drop(Reason.BAD_ID, "b", 1, "x"),)),))
    joined = ("queries", Reason.NO_JUDGMENT.name), (2, [(3, "3"), (7, "7")])
    role = Role(files, (), on_reading)
    file = make_report([tally("queries", USED, 4), joined], {"queries": role}).files["queries"]
    assert (file.path, file.read) == ("a and b", 3 + 4)
    assert [example[1:] for drops in file.drops for example in drops.examples] == [
        *[("b", 1, "x"), ("a", 3, "3"), ("b", 4, "7")]
    ]


def test_merging_sums_counts_and_keeps_the_first_five_examples_by_line():
    values = [tally_drop("queries", Reason.BAD_ID, line, f"line {line}")[1] for line in [9, 3, 7, 1, 8, 2, 5]]
    first_five = [(line, f"line {line}") for line in [1, 2, 3, 5, 7]]
    assert merge_tallies(values) == (7, first_five)
    # Beam may merge what is merged.
    assert merge_tallies([merge_tallies(values[:4]), merge_tallies(values[4:])]) == (7, first_five)


def test_every_bad_file_is_reported_at_once_and_documents_first():
    roles = {
        "queries": role_of(QUERIES, 0, ((Reason.BAD_ID, [(1, "")]),)),
        "documents": role_of(DOCUMENTS, 0, ((Reason.BAD_UTF8, [(line, "x") for line in range(1, 1001)]),)),
    }
    report_of(5).check(max_bad_share=0)
    lines = refusal(make_report(LISTS, roles))
    assert [line.split(":")[0] for line in lines if not line.startswith(" ")] == [DOCUMENTS, QUERIES]
    assert "1,000 of 1,000" in lines[0]


@pytest.mark.parametrize("cold", [0, 2])
def test_empty_splits_are_named_and_a_cold_share_may_be_the_cause(cold):
    cold_queries = [tally("queries", Reason.COLD.name, cold)] * bool(cold)
    tallies = [tally("queries", USED, 3 - cold), *cold_queries, tally("lists", "train", 3 - cold)]
    (line,) = refusal(make_report(tallies, {"queries": role_of(QUERIES, 3)}))
    assert f"eval and test got none (lists: train {3 - cold}, eval 0, test 0)" in line
    assert ("data.cold_share" in line) == bool(cold)


def test_the_description_is_a_line_a_file():
    disagreements, domain = tally("candidates", GRADE_DISAGREEMENT, 1500), tally(domain_subject("news"), "train", 3)
    joined = [(Reason.NO_JUDGMENT, [(1, "1")])]
    assert report_of(5, [], joined, disagreements, domain, query_words=20).describe() == [
        "query lists: 3 train, 1 eval, 1 test; 150 query-document pairs",
        "keyword queries: 20 random words of each longer query",
        "  news: 3 train, 0 eval, 0 test",
        "queries: 6 read, 5 used; left out: 1 query without a judgment or candidate",
        "documents: 2,000 read, 2,000 used",
        "candidates: 1,500 grades differ from the judgments'",
    ]
    assert len(report_of(5).describe()) == 3
    assert "1 random word of" in report_of(5, query_words=1).describe()[1]


@pytest.mark.parametrize("query_words", [None, 20])
def test_the_written_report_reads_back_and_keeps_its_letters(query_words):
    report = report_of(5, [(Reason.BAD_ID, [(1, "Zoé | 北京")])], query_words=query_words)
    assert DataReport.from_json(report.to_json()) == report
    assert "Zoé | 北京" in report.to_json()
    content = json.loads(report.to_json())
    if content.pop("query_words") is None:  # as in a report of an older version
        assert DataReport.from_json(json.dumps(content)) == report
