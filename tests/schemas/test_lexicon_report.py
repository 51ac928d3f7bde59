"""schemas/lexicon_report.py: what is said of a lexicon, and its file."""

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


def test_it_is_described_in_lines_and_read_back_from_its_file() -> None:
    weighted = LEARNED.model_copy(update={"pairs_weight": 0.25, "title_pairs_weight": 3.0})
    learned, pairs, *weights = weighted.describe()
    assert [learned, pairs] == LEARNED.describe()
    assert all(number in learned for number in ("1,234", "45,792", "600", "5,540")) and "3 read, 2 used" in pairs
    assert [
        "channels.lexicon.pairs" in weights[0],
        "0.25" in weights[0],
        "titles" in weights[1],
        " 3 " in weights[1],
    ] == [True] * 4
    bm25 = LexiconReport(kind="bm25", train_pairs=0, terms=1234, translations=0, translated=0, documents=2)
    assert bm25.describe() == ["bm25: 1,234 terms"]
    assert LexiconReport.from_json(weighted.to_json()) == weighted
