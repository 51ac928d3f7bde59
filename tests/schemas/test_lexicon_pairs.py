"""schemas/lexicon_pairs.py: the layouts of pairs of texts, with the weight of each pair and the reason of each loss."""

import bz2
import gzip
import io
import json
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import json_files
from schemas.drops import Drop
from schemas.lexicon_pairs import EXPORT_ENDINGS, MAX_WEIGHT, TextPair, format_pairs, is_table, parse_pairs
from schemas.wikiclir import Reason

FIELDS = ("wolf", "loup", "0.5", "1e-9", "nan", "-1", "0", "inf", "", " ", "\x00")
LINES = st.lists(st.sampled_from(FIELDS), min_size=1, max_size=4).flatmap(
    lambda fields: st.sampled_from(["\t", " "]).map(lambda between: between.join(fields))
)
NUMBERS = st.sampled_from([0.5, 1, 0, -1.0, math.nan, math.inf, -math.inf, 1e13, True, None, "0.5", [0.5], {"a": 1}])
WORDS = st.sampled_from(["wolf", "loup", "", " ", "\x00", "\ud800", "été"])


def parsed(content: bytes | str, file: str = "pairs.tsv") -> tuple[list[TextPair], list[Drop]]:
    items = [*parse_pairs(io.BytesIO(content.encode() if isinstance(content, str) else content), file)]
    return [item for item in items if isinstance(item, TextPair)], [item for item in items if isinstance(item, Drop)]


def reasons(content: bytes | str, file: str = "pairs.tsv") -> list[tuple[Reason, int]]:
    return [(drop.reason, drop.line) for drop in parsed(content, file)[1]]


# Lines


@pytest.mark.parametrize(
    ("content", "pairs"),
    [
        (
            "wolf\tloup\t0.75\ndog\tchien\ngray wolf\tloup gris\t3e2\n",
            [("wolf", "loup", 0.75), ("dog", "chien", 1), ("gray wolf", "loup gris", 300)],
        ),
        # As in the dictionaries of MUSE.
        ("wolf loup\ndog chien\ndog chien\n", [("wolf", "loup", 1), *2 * [("dog", "chien", 1)]]),
        ("wolf  loup\n", [("wolf", "loup", 1)]),
    ],
)
def test_a_line_is_a_pair_perhaps_with_its_weight_or_two_words(
    content: str, pairs: list[tuple[str, str, float]]
) -> None:
    assert parsed(content) == (pairs, [])


@pytest.mark.parametrize("weight", ["nan", "inf", "-inf", "0", "-0.5", "1e400", "1.1e12", "much", "", "0,5"])
def test_a_line_whose_weight_is_no_number_above_0_is_left_out(weight: str) -> None:
    pairs, drops = parsed(f"wolf\tloup\t{weight}\nwolf\tloup\t0.5\n")
    assert pairs == [("wolf", "loup", 0.5)]  # the first line is none that this one could repeat
    assert [(drop.reason, drop.line) for drop in drops] == [(Reason.BAD_WEIGHT, 1)]


def test_a_pair_with_a_weight_counts_once_and_one_without_as_often_as_it_occurs() -> None:
    pairs, drops = parsed("wolf\tloup\nwolf\tloup\nwolf\tloup\t0.5\nwolf\tloup\t0.25\nwolf\tchien\t0.25\nwolf\tloup\n")
    assert pairs == [("wolf", document, weight) for document, weight in
                     [("loup", 1), ("loup", 1), ("loup", 0.5), ("chien", 0.25), ("loup", 1)]]  # fmt: skip
    assert [(drop.reason, drop.line, drop.excerpt) for drop in drops] == [
        (Reason.DUPLICATE_ENTRY, 4, "wolf | loup | 0.25")
    ]


def test_other_lines_of_a_file_of_words_are_left_out() -> None:
    assert reasons("wolf loup\ngray wolf loup\nwolf\n\ndog chien\n") == [
        (Reason.WORD_COUNT, 2),
        (Reason.WORD_COUNT, 3),
        (Reason.EMPTY_LINE, 4),
    ]


@pytest.mark.parametrize("first", ["wolf\tloup", "gray wolf\tloup gris", "one two three", "wolf", "\x00 loup"])
def test_the_first_line_alone_determines_whether_a_file_holds_words(first: str) -> None:
    assert (Reason.FIELD_COUNT, 2) in reasons(f"{first}\nwolf loup\n")


@given(st.lists(LINES, max_size=8))
def test_every_line_is_a_pair_or_a_drop(lines: list[str]) -> None:
    pairs, drops = parsed("".join(f"{line}\n" for line in [*lines, "last\tline"]))
    assert len(pairs) + len(drops) == len(lines) + 1
    assert all(0 < pair.weight <= MAX_WEIGHT and pair.query.strip() and pair.document.strip() for pair in pairs)


# Tables


def table(entries: list[tuple[str, list[tuple[str, Any]]]]) -> str:
    """A JSON object whose keys may repeat."""

    def of(items: list[tuple[str, str]]) -> str:
        return "{" + ", ".join(f"{json.dumps(key)}: {value}" for key, value in items) + "}"

    return of([(key, of([(word, json.dumps(value)) for word, value in inner])) for key, inner in entries])


@pytest.mark.parametrize("store", [bytes, gzip.compress, bz2.compress])
@pytest.mark.parametrize("file", ["psq.json", "PSQ.JSON.GZ"])
def test_a_table_gives_the_query_words_of_each_document_word(store: Callable[[bytes], bytes], file: str) -> None:
    content = store(b'\xef\xbb\xbf{"loup": {"wolf": 0.9, "wolves": 1e-3}, "chien": {"dog": 1}, "chat": {}}')
    assert parsed(content, file) == ([("wolf", "loup", 0.9), ("wolves", "loup", 0.001), ("dog", "chien", 1.0)], [])


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        *((f'{{"loup": {{"wolf": {weight}}}}}', Reason.BAD_WEIGHT)
          for weight in ("NaN", "Infinity", "-0.1", "0", "true", '"0.5"', '{"wolf": 0.5}', "9" * 5000)),
        ('{"loup": {" ": 0.5}}', Reason.EMPTY_TEXT),
        ('{"": {"wolf": 0.5}}', Reason.EMPTY_TEXT),
        ('{"lo\\u0000up": {"wolf": 0.5}}', Reason.NUL_BYTE),
        ('{"loup": {"wo\\ud800lf": 0.5}}', Reason.BAD_UTF8),
    ],
)  # fmt: skip
def test_a_bad_entry_of_a_table_is_left_out(entry: str, reason: Reason) -> None:
    assert reasons(entry, "psq.json") == [(reason, 1)]


def test_entries_under_repeated_keys_are_all_read_and_the_first_of_a_pair_counts() -> None:
    content = '{"loup": {"wolf": 0.5, "wolf": 0.25}, "chien": {"dog": 1}, "loup": {"wolf": 0.125, "wolves": 0.5}}'
    pairs, drops = parsed(content, "psq.json")
    assert pairs == [("wolf", "loup", 0.5), ("dog", "chien", 1.0), ("wolves", "loup", 0.5)]
    assert [(drop.reason, drop.line, drop.excerpt) for drop in drops] == [
        (Reason.DUPLICATE_ENTRY, 2, "loup | wolf | 0.25"),
        (Reason.DUPLICATE_ENTRY, 4, "loup | wolf | 0.125"),
    ]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("wolf\tloup\n", 1),
        ('{"loup": {"wolf": 0.5},\n"chien" {"dog": 0.5}}', 2),
        ('{"loup": {"wolf": 0.5}}\n{"chien": {"dog": 0.5}}\n', 2),
        *(("[1, 2]", 1), ('{"loup": {"wolf": 0.5}, "chien": 0.5}', 1), (b'{"loup": {"w\xff": 0.5}}', 1)),
        *(("[" * 200_000, 1), ('{"a": ' * 200_000, 1), ("", 1)),
    ],
    ids=["lines", "comma", "JSON lines", "list", "number", "not UTF-8", "deep lists", "deep objects", "empty"],
)
def test_what_is_no_table_is_one_fatal_loss_with_its_place(content: bytes | str, line: int) -> None:
    pairs, (drop,) = parsed(content, "psq.json")
    assert (pairs, drop.reason, drop.file, drop.line) == ([], Reason.BAD_TABLE, "psq.json", line)
    assert Reason.BAD_TABLE.is_fatal and drop.excerpt


def test_a_table_that_breaks_off_or_unpacks_to_too_much_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = gzip.compress(b'{"loup": {"wolf": 0.5}}')
    for content in (whole[:-8], gzip.compress(b" " * (1 << 25))):
        assert reasons(content, "psq.json.gz") == [(Reason.UNREADABLE, 1)]
    assert reasons(whole, "psq.json.gz") == []
    monkeypatch.setattr(json_files, "MAX_JSON_BYTES", 22)
    assert reasons(whole, "psq.json.gz") == [(Reason.UNREADABLE, 1)]


@given(st.lists(st.tuples(WORDS, st.lists(st.tuples(WORDS, NUMBERS), max_size=4)), max_size=4))
def test_every_entry_of_a_table_is_a_pair_or_a_drop(entries: list[tuple[str, list[tuple[str, Any]]]]) -> None:
    pairs, drops = parsed(table(entries), "psq.json")
    assert len(pairs) + len(drops) == sum(len(inner) for _, inner in entries)
    assert max(Counter((pair.query, pair.document) for pair in pairs).values(), default=1) == 1
    assert all(0 < pair.weight <= MAX_WEIGHT for pair in pairs)


# Writing


@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["wolf", "dog", "été", "日本"]), st.sampled_from(["loup", "chien", "ü"])),
        st.floats(0, MAX_WEIGHT, exclude_min=True),
    ),
    st.sampled_from(EXPORT_ENDINGS),
)
def test_what_is_written_is_read_again_with_the_same_weights(
    weights: dict[tuple[str, str], float], ending: str
) -> None:
    pairs = [TextPair(*words, weight) for words, weight in weights.items()]
    content = format_pairs(pairs, f"table{ending}")
    assert content == format_pairs(reversed(pairs), f"table{ending}")
    read, drops = parsed(content, f"table{ending}")
    assert (drops, {(pair.query, pair.document): pair.weight for pair in read}) == ([], weights)
    assert content.startswith(b"\x1f\x8b") == ending.endswith(".gz")


@pytest.mark.parametrize("file", ["psq.jsonl", "json", "json.gz", "en-fr.txt", "psq.json.tsv"])
def test_other_names_are_no_tables(file: str) -> None:
    assert not is_table(file)
