"""schemas/lexicon_report.py: what is said of a lexicon, and its file."""

import pytest

from schemas.drops import Drop, Drops, ReadReport
from schemas.lexicon_report import LexiconReport
from schemas.wikiclir import Reason

LEARNED = LexiconReport(
    kind="lexicon",
    train_pairs=5540,
    pairs=ReadReport("p", 3, 2, (Drops(Reason.NUL_BYTE, 1, (Drop(Reason.NUL_BYTE, "p", 2, "a | b"),)),)).as_dict(),
    terms=1234,
    translations=45_792,
    translated=600,
    documents=156,
)


@pytest.mark.parametrize(
    ("report", "lines"),
    [
        (
            LEARNED,
            [
                "lexicon: 1,234 terms, 45,792 translations of 600, from 5,540 train pairs",
                "further pairs: 3 read, 2 used; left out: 1 contains a NUL byte",
            ],
        ),
        (
            LEARNED.model_copy(update={"pairs_weight": 0.25, "title_pairs_weight": 3.0}),
            [
                "lexicon: 1,234 terms, 45,792 translations of 600, from 5,540 train pairs",
                "further pairs: 3 read, 2 used; left out: 1 contains a NUL byte",
                "each pair of lexicon.pairs counts 0.25 times",
                "each pair of titles counts 3 times",
            ],
        ),
        (
            LexiconReport(kind="bm25", train_pairs=0, terms=1234, translations=0, translated=0, documents=2),
            ["bm25: 1,234 terms"],
        ),
    ],
)
def test_it_is_described_in_lines(report: LexiconReport, lines: list[str]) -> None:
    assert report.describe() == lines


def test_it_is_read_back_from_its_file() -> None:
    assert LexiconReport.from_json(LEARNED.to_json()) == LEARNED
