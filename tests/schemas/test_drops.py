"""The account of an input: counts, examples, refusals, JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.drops import Drop, DropCounter, Drops, ReadReport
from schemas.wikiclir import Reason
from schemas.word_vectors import VectorReason

every_kind = pytest.mark.parametrize("reasons", [Reason, VectorReason])


def drops(reason, count):
    """Records that were left out for one reason, with the first two of them."""
    return Drops(reason, count, tuple(Drop(reason, "a.tsv", line, f"Zoé {line}") for line in range(1, count + 1))[:2])


def report(*left_out, used=10):
    return ReadReport("a.tsv", used + sum(one.count for one in left_out), used, left_out)


# Counting


@every_kind
@given(data=st.data())
def test_drops_are_counted_by_reason_in_the_order_of_the_reasons(reasons, data):
    found = data.draw(st.lists(st.sampled_from(reasons)))
    counter = DropCounter()
    for line, reason in enumerate(found, 1):
        counter.add(Drop(reason, "a.tsv", line, ""))
    assert [(one.reason, one.count) for one in counter.drops()] == [
        (reason, found.count(reason)) for reason in reasons if reason in found
    ]


def test_the_first_five_of_a_reason_are_shown():
    counter = DropCounter()
    for line in range(1, 9):
        counter.add(Drop(Reason.BAD_ID, "a.tsv", line, f"line {line}"))
    ((reason, count, examples),) = ((one.reason, one.count, one.examples) for one in counter.drops())
    assert (reason, count) == (Reason.BAD_ID, 8)
    assert examples == tuple(Drop(Reason.BAD_ID, "a.tsv", line, f"line {line}") for line in range(1, 6))


# The account


@pytest.mark.parametrize("read", [11, 13])
def test_an_account_that_does_not_balance_is_our_fault(read):
    with pytest.raises(AssertionError, match=f"a.tsv: {read} read, but 10 used and 2 dropped"):
        ReadReport("a.tsv", read, 10, (drops(Reason.BAD_ID, 2),))


def test_a_share_of_bad_records_at_the_limit_passes_and_one_beyond_is_refused():
    account = report(drops(Reason.BAD_ID, 1), used=3)
    assert account.faults(1 / 4) == []
    assert account.faults(0.2, "lines") == [
        "a.tsv: 1 of 4 lines are bad; at most a share of 0.2 may be (data.max_bad_share):",
        "  1 x empty id, or white space in an id",
        "    a.tsv:1: Zoé 1",
    ]


def test_a_refusal_shows_the_bad_reasons_alone_and_the_worst_first():
    found = report(drops(Reason.BAD_ID, 1), drops(Reason.EMPTY_TEXT, 3), drops(Reason.NO_JUDGMENT, 90)).faults(0)
    assert found[0].startswith("a.tsv: 4 of 104 records are bad; ")
    assert found[1:] == [
        "  3 x empty text",
        "    a.tsv:1: Zoé 1",
        "    a.tsv:2: Zoé 2",
        "  1 x empty id, or white space in an id",
        "    a.tsv:1: Zoé 1",
    ]


def test_a_file_that_cannot_be_read_to_its_end_is_refused_whatever_the_share():
    assert report(drops(Reason.BAD_ID, 1), drops(Reason.UNREADABLE, 1), used=1000).faults(1) == [
        "a.tsv: 2 of 1,002 records are bad:",
        "  1 x rest of the file cannot be read",
        "    a.tsv:1: Zoé 1",
    ]


def test_the_line_for_a_person_names_the_omissions():
    assert report(used=2000).describe() == "2,000 read, 2,000 used"
    assert report(drops(Reason.BAD_ID, 1), drops(Reason.NO_JUDGMENT, 1200), used=0).describe() == (
        "1,201 read, 0 used; left out: 1 empty id, or white space in an id; 1,200 query without a judgment or candidate"
    )


@pytest.mark.parametrize("reason", [Reason.BAD_ID, VectorReason.MARK])
def test_the_account_reads_back_from_json(reason):
    account = report(drops(reason, 3))
    written = account.as_dict()
    assert written["drops"] == [
        {
            "reason": reason.name.lower(),
            "meaning": reason.text,
            "bad": reason.bad,
            "count": 3,
            "examples": [{"file": "a.tsv", "line": line, "text": f"Zoé {line}"} for line in (1, 2)],
        }
    ]
    assert ReadReport.from_dict(json.loads(json.dumps(written)), type(reason)) == account


def test_only_the_loss_of_a_file_or_of_its_rest_is_fatal():
    fatal = [reason for kind in (Reason, VectorReason) for reason in kind if reason.is_fatal]
    assert fatal == [Reason.BAD_TABLE, Reason.UNREADABLE]
