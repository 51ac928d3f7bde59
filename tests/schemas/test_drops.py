"""The account of an input: counts, examples, refusals, JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.drops import Drop, DropCounter, Drops, ReadReport
from schemas.wikiclir import Reason
from schemas.word_vectors import VectorReason


def drops(reason, count):
    """Records that were left out for one reason, with the first two of them."""
    return Drops(reason, count, tuple(Drop(reason, "a.tsv", line, f"Zoé {line}") for line in range(1, count + 1))[:2])


def report(*left_out, used=10):
    return ReadReport("a.tsv", used + sum(dropped.count for dropped in left_out), used, left_out)


# Counting


@pytest.mark.parametrize("reasons", [Reason, VectorReason])
@given(data=st.data())
def test_drops_are_counted_by_reason_in_the_order_of_the_reasons_with_the_first_five(reasons, data):
    dropped = [
        Drop(reason, "a.tsv", line, "")
        for line, reason in enumerate(data.draw(st.lists(st.sampled_from(reasons), max_size=20)))
    ]
    counter = DropCounter()
    for drop in dropped:
        counter.add(drop)
    by_reason = {reason: [drop for drop in dropped if drop.reason is reason] for reason in reasons}
    assert [*counter.drops()] == [
        Drops(reason, len(same), tuple(same[:5])) for reason, same in by_reason.items() if same
    ]


# The account


@pytest.mark.parametrize("read", [11, 13])
def test_an_account_that_does_not_balance_is_our_fault(read):
    with pytest.raises(AssertionError, match=f"a.tsv: {read} read, but 10 used and 2 dropped"):
        ReadReport("a.tsv", read, 10, (drops(Reason.BAD_ID, 2),))


def test_a_share_of_bad_records_at_the_limit_passes_and_one_beyond_is_refused():
    account = report(drops(Reason.BAD_ID, 1), used=3)
    assert account.faults(1 / 4) == []
    first, *examples = account.faults(0.2, "lines")
    assert first.startswith("a.tsv: 1 of 4 lines ") and "0.2 " in first and "data.max_bad_share" in first
    assert examples == [f"  1 x {Reason.BAD_ID.text}", "    a.tsv:1: Zoé 1"]


def test_a_refusal_shows_the_bad_reasons_alone_and_the_worst_first():
    lines = report(drops(Reason.BAD_ID, 1), drops(Reason.EMPTY_TEXT, 3), drops(Reason.NO_JUDGMENT, 90)).faults(0)
    assert lines[0].startswith("a.tsv: 4 of 104 records ")
    assert [line for line in lines if " x " in line] == [
        f"  3 x {Reason.EMPTY_TEXT.text}",
        f"  1 x {Reason.BAD_ID.text}",
    ]


def test_a_file_that_cannot_be_read_to_its_end_is_refused_whatever_the_share():
    account = report(drops(Reason.BAD_ID, 1), drops(Reason.UNREADABLE, 1), used=1000)
    assert account.faults(1) == [
        "a.tsv: 2 of 1,002 records are bad:",
        f"  1 x {Reason.UNREADABLE.text}",
        "    a.tsv:1: Zoé 1",
    ]
    assert account.describe().startswith("1,002 read, 1,000 used; ") and account.describe().count("; ") == 2


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
