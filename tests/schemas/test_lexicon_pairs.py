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

from schemas import lexicon_pairs
from schemas.drops import Drop
from schemas.lexicon_pairs import EXPORT_ENDINGS, MOST_WEIGHT, TextPair, format_pairs, is_table, parse_pairs
from schemas.wikiclir import Reason

FIELDS = ("wolf", "loup", "0.5", "1e-9", "nan", "-1", "0", "inf", "", " ", "\x00")
LINES = st.lists(st.sampled_from(FIELDS), min_size=1, max_size=4).flatmap(
    lambda fields: st.sampled_from(["\t", " "]).map(lambda between: between.join(fields))
)
NUMBERS = st.sampled_from([0.5, 1, 0, -1.0, math.nan, math.inf, -math.inf, 1e13, True, None, "0.5", [0.5], {"a": 1}])
WORDS = st.sampled_from(["wolf", "loup", "", " ", "\x00", "\ud800", "été"])


def parsed(content: bytes | str, file: str = "pairs.tsv") -> tuple[list[TextPair], list[Drop]]:
    items = [*parse_pairs(io.BytesIO(content.encode() if isinstance(content, str) else content), file)]
    return [one for one in items if isinstance(one, TextPair)], [one for one in items if isinstance(one, Drop)]


def reasons(content: bytes | str, file: str = "pairs.tsv") -> list[tuple[Reason, int]]:
    return [(one.reason, one.line) for one in parsed(content, file)[1]]


# Lines


def test_a_third_column_is_the_weight_of_its_pair() -> None:
    pairs, drops = parsed("wolf\tloup\t0.75\ndog\tchien\ngray wolf\tloup gris\t3e2\n")
    assert pairs == [("wolf", "loup", 0.75), ("dog", "chien", 1.0), ("gray wolf", "loup gris", 300.0)]
    assert drops == []


@pytest.mark.parametrize("weight", ["nan", "NaN", "inf", "-inf", "0", "-0.5", "1e400", "1.1e12", "much", "", "0,5"])
def test_a_line_whose_weight_is_no_number_above_0_is_left_out(weight: str) -> None:
    assert reasons(f"dog\tchien\t0.5\nwolf\tloup\t{weight}\n") == [(Reason.BAD_WEIGHT, 2)]


def test_a_pair_with_a_weight_counts_once_and_one_without_as_often_as_it_occurs() -> None:
    pairs, drops = parsed("wolf\tloup\nwolf\tloup\nwolf\tloup\t0.5\nwolf\tloup\t0.25\nwolf\tchien\t0.25\nwolf\tloup\n")
    assert pairs == [
        *2 * [("wolf", "loup", 1.0)],
        ("wolf", "loup", 0.5),
        ("wolf", "chien", 0.25),
        ("wolf", "loup", 1.0),
    ]
    assert [(one.reason, one.line, one.excerpt) for one in drops] == [(Reason.DUPLICATE_ENTRY, 4, "wolf | loup | 0.25")]


def test_a_bad_weight_does_not_make_the_next_line_a_repetition() -> None:
    assert parsed("wolf\tloup\tnan\nwolf\tloup\t0.5\n")[0] == [("wolf", "loup", 0.5)]


@pytest.mark.parametrize("between", [" ", "  "])
def test_two_words_with_a_space_between_are_a_pair_as_in_the_dictionaries_of_muse(between: str) -> None:
    lines = [("wolf", "loup"), ("dog", "chien"), ("dog", "chien")]
    pairs, drops = parsed("".join(f"{query}{between}{document}\n" for query, document in lines), "en-fr.txt")
    assert pairs == [(*line, 1.0) for line in lines]
    assert drops == []


def test_other_lines_of_a_file_of_words_are_left_out() -> None:
    assert reasons("wolf loup\ngray wolf loup\nwolf\n\ndog chien\n") == [
        (Reason.WORD_COUNT, line) for line in (2, 3, 4)
    ]


@pytest.mark.parametrize("first", ["wolf\tloup", "gray wolf\tloup gris", "one two three", "wolf", "\x00 loup"])
def test_the_first_line_alone_determines_whether_a_file_holds_words(first: str) -> None:
    assert (Reason.FIELD_COUNT, 2) in reasons(f"{first}\nwolf loup\n")


@given(st.lists(LINES, max_size=8))
def test_every_line_is_a_pair_or_a_drop(lines: list[str]) -> None:
    pairs, drops = parsed("".join(f"{line}\n" for line in [*lines, "last\tline"]))
    assert len(pairs) + len(drops) == len(lines) + 1
    assert all(0 < one.weight <= MOST_WEIGHT and one.query.strip() and one.document.strip() for one in pairs)


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
        ('{"loup": {"wolf": NaN}}', Reason.BAD_WEIGHT),
        ('{"loup": {"wolf": Infinity}}', Reason.BAD_WEIGHT),
        ('{"loup": {"wolf": -0.1}}', Reason.BAD_WEIGHT),
        ('{"loup": {"wolf": 0}}', Reason.BAD_WEIGHT),
        ('{"loup": {"wolf": true}}', Reason.BAD_WEIGHT),
        ('{"loup": {"wolf": "0.5"}}', Reason.BAD_WEIGHT),
        ('{"loup": {"wolf": {"wolf": 0.5}}}', Reason.BAD_WEIGHT),
        (f'{{"loup": {{"wolf": {"9" * 5000}}}}}', Reason.BAD_WEIGHT),
        ('{"loup": {" ": 0.5}}', Reason.EMPTY_TEXT),
        ('{"": {"wolf": 0.5}}', Reason.EMPTY_TEXT),
        ('{"lo\\u0000up": {"wolf": 0.5}}', Reason.NUL_BYTE),
        ('{"loup": {"wo\\ud800lf": 0.5}}', Reason.BAD_UTF8),
    ],
)
def test_a_bad_entry_of_a_table_is_left_out(entry: str, reason: Reason) -> None:
    assert reasons(entry, "psq.json") == [(reason, 1)]


def test_entries_under_repeated_keys_are_all_read_and_the_first_of_a_pair_counts() -> None:
    content = '{"loup": {"wolf": 0.5, "wolf": 0.25}, "chien": {"dog": 1}, "loup": {"wolf": 0.125, "wolves": 0.5}}'
    pairs, drops = parsed(content, "psq.json")
    assert pairs == [("wolf", "loup", 0.5), ("dog", "chien", 1.0), ("wolves", "loup", 0.5)]
    assert [(one.reason, one.line, one.excerpt) for one in drops] == [
        (Reason.DUPLICATE_ENTRY, 2, "loup | wolf | 0.25"),
        (Reason.DUPLICATE_ENTRY, 4, "loup | wolf | 0.125"),
    ]


@pytest.mark.parametrize(
    ("content", "line", "why"),
    [
        ("wolf\tloup\n", 1, "Expecting value (column 1)"),
        ('{"loup": {"wolf": 0.5},\n"chien" {"dog": 0.5}}', 2, "Expecting ':' delimiter (column 9)"),
        ('{"loup": {"wolf": 0.5}}\n{"chien": {"dog": 0.5}}\n', 2, "Extra data (column 1)"),
        ("[1, 2]", 1, "no object: [1.0, 2.0]"),
        ('{"loup": {"wolf": 0.5}, "chien": 0.5}', 1, "no object of translations: chien: 0.5"),
        (b'{"loup": {"w\xff": 0.5}}', 1, "not valid UTF-8 at byte 12"),
        ("[" * 200_000, 1, "too many objects or lists within each other"),
        ('{"a": ' * 200_000, 1, "too many objects or lists within each other"),
        ("", 1, "Expecting value (column 1)"),
    ],
    ids=["lines", "comma", "JSON lines", "list", "number", "not UTF-8", "deep lists", "deep objects", "empty"],
)
def test_what_is_no_table_is_one_fatal_loss_with_its_place(content: bytes | str, line: int, why: str) -> None:
    pairs, drops = parsed(content, "psq.json")
    assert pairs == []
    assert [(one.reason, one.file, one.line, one.excerpt) for one in drops] == [
        (Reason.BAD_TABLE, "psq.json", line, why)
    ]
    assert Reason.BAD_TABLE.is_fatal


def test_a_table_that_breaks_off_or_unpacks_to_too_much_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = gzip.compress(b'{"loup": {"wolf": 0.5}}')
    assert reasons(whole[:-8], "psq.json.gz") == [(Reason.UNREADABLE, 1)]
    bomb = parsed(gzip.compress(b" " * (1 << 25)), "psq.json.gz")[1]
    assert [one.excerpt for one in bomb] == ["holds more than 200 times its size; if that is meant, bring it unpacked"]
    assert reasons(whole, "psq.json.gz") == []
    monkeypatch.setattr(lexicon_pairs, "MAX_TABLE_BYTES", 22)
    (large,) = parsed(whole, "psq.json.gz")[1]
    assert (large.reason, large.excerpt.partition(";")[0]) == (Reason.UNREADABLE, "it holds more than 0 MiB")


@given(st.lists(st.tuples(WORDS, st.lists(st.tuples(WORDS, NUMBERS), max_size=4)), max_size=4))
def test_every_entry_of_a_table_is_a_pair_or_a_drop(entries: list[tuple[str, list[tuple[str, Any]]]]) -> None:
    pairs, drops = parsed(table(entries), "psq.json")
    assert len(pairs) + len(drops) == sum(len(inner) for _, inner in entries)
    assert max(Counter((one.query, one.document) for one in pairs).values(), default=1) == 1
    assert all(0 < one.weight <= MOST_WEIGHT for one in pairs)


# Writing


@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["wolf", "dog", "été", "日本"]), st.sampled_from(["loup", "chien", "ü"])),
        st.floats(0, MOST_WEIGHT, exclude_min=True),
    ),
    st.sampled_from(EXPORT_ENDINGS),
)
def test_what_is_written_is_read_again_with_the_same_weights(
    weights: dict[tuple[str, str], float], ending: str
) -> None:
    pairs = [TextPair(*words, weight) for words, weight in weights.items()]
    content = format_pairs(pairs, f"table{ending}")
    assert content == format_pairs(reversed(pairs), f"table{ending}")
    assert parsed(content, f"table{ending}") == (parsed(content, f"table{ending}")[0], [])
    assert {(one.query, one.document): one.weight for one in parsed(content, f"table{ending}")[0]} == weights
    assert content.startswith(b"\x1f\x8b") == ending.endswith(".gz")


def test_a_json_table_is_one_object_of_document_words_that_hold_query_words() -> None:
    pairs = [TextPair("wolf", "loup", 0.5), TextPair("dog", "chien", 1.0), TextPair("wolves", "loup", 0.25)]
    assert json.loads(format_pairs(pairs, "t.json")) == {"chien": {"dog": 1.0}, "loup": {"wolf": 0.5, "wolves": 0.25}}


@pytest.mark.parametrize("file", ["psq.jsonl", "json", "json.gz", "en-fr.txt", "psq.json.tsv"])
def test_other_names_are_no_tables(file: str) -> None:
    assert not is_table(file)
