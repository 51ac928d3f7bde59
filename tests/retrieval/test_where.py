"""smooth_clir/retrieval/where.py and field_columns.py: which documents a filter leaves."""

import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import ConfigError
from schemas.index_manifest import FieldRecord
from smooth_clir.retrieval.field_columns import FieldColumns, field_records
from smooth_clir.retrieval.where import Condition, Where, number_of

FIELDS = {"lang": FieldRecord(type="text", documents=1), "year": FieldRecord(type="number", documents=1)}
VALUES = st.text(min_size=1).map(str.strip).filter(lambda value: value and "\n" not in value)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=32)
OPERATORS = {
    "=": lambda value, values: value in values,
    "!=": lambda value, values: value not in values,
    **{
        sign: lambda value, values, compare=compare: compare(value, values[0])
        for sign, compare in (("<", operator.lt), ("<=", operator.le), (">", operator.gt), (">=", operator.ge))
    },
}
CONDITIONS = st.one_of(
    st.builds(Condition, st.just(0), st.sampled_from(["=", "!="]), st.lists(VALUES, min_size=1).map(tuple)),
    st.builds(Condition, st.just(1), st.sampled_from(["=", "!="]), st.lists(NUMBERS, min_size=1).map(tuple)),
    st.builds(Condition, st.just(1), st.sampled_from(["<", "<=", ">", ">="]), st.tuples(NUMBERS)),
)


def written(condition: Condition) -> str:
    """A condition as a person may write it."""
    values = [
        repr(value) if isinstance(value, float) else '"{}"'.format(value.replace('"', '""'))
        for value in condition.values
    ]
    return f" {[*FIELDS][condition.position].upper()} {condition.operator} {' | '.join(values)}"


@given(st.lists(CONDITIONS, min_size=1, max_size=4))
def test_a_filter_is_read_as_it_was_written(conditions: list[Condition]) -> None:
    assert Where.parse(",".join(map(written, conditions)), FIELDS) == Where((*conditions,))


@given(
    st.lists(st.tuples(st.one_of(st.just(""), st.sampled_from("abc")), st.one_of(st.none(), st.integers(0, 4)))),
    st.lists(CONDITIONS, max_size=1),
    st.sampled_from([*OPERATORS]),
    st.integers(0, 4),
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=2),
)
def test_the_documents_that_match_are_those_of_plain_python(tmp_path_factory, documents, further, sign, year, langs):
    rows = [(lang, "" if number is None else f"{number}.0") for lang, number in documents]
    where = Where((Condition(0, "!=", (*langs,)), Condition(1, sign, (float(year),)), *further))

    def matches(row):
        values = row[0] or None, number_of(row[1])
        return all(
            condition.operator == "!="
            if (value := values[condition.position]) is None
            else OPERATORS[condition.operator](value, condition.values)
            for condition in where.conditions
        )

    if rows:
        folder = str(tmp_path_factory.mktemp("segment"))
        FieldColumns.of(rows).save(folder)
        assert FieldColumns.load(folder).matches(where).tolist() == [*map(matches, rows)]


def test_a_field_is_a_number_if_all_values_of_documents_that_are_left_are_and_counts_only_documents_with_one():
    columns = FieldColumns.of([("2020", "1e3", ""), ("n.d.", "-.5", ""), ("", "+7", ""), ("1999", "2020", "")])
    every, without = np.arange(4), np.array([0, 2, 3])
    assert field_records(["a", "b", "c"], [(columns, every)]) == {
        "a": FieldRecord(type="text", documents=3),
        "b": FieldRecord(type="number", documents=4),
        "c": FieldRecord(type="text", documents=0),
    }
    assert field_records(["a"], [(columns, without)])["a"] == FieldRecord(type="number", documents=2)


@pytest.mark.parametrize("value", ["nan", "inf", "1e999", "-1.7976931348623157e308", "1_000", "٣", "0x1", "", "1 2"])
def test_only_finite_decimal_numbers_are_numbers(value: str) -> None:
    assert number_of(value) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["lang=es"]),
        ("lang", ["lang=es", "'lang'"]),
        ("lang=", ["empty"]),
        ("lang=es|", ["empty"]),
        ('lang=""', ["empty"]),
        ('lang=a"b', ["quotes"]),
        ('lang="a', ["quotes"]),
        ("lang<a", ["lang", "= and !="]),
        ("year>1|2", ["> takes one value"]),
        ("year=es", ["year", "'es'"]),
        ("loc=x", ["'loc'", "lang (text), year (number)"]),
        ("loc=x,,year=es,lang=fr", ["'loc'", "lang=es", "'es'"]),
    ],
)
def test_every_fault_of_a_filter_is_reported_at_once(text: str, words: list[str]) -> None:
    with pytest.raises(ConfigError) as error:
        Where.parse(text, FIELDS)
    assert all(word in str(error.value) for word in words)
    assert len(error.value.faults) == max(1, len(words) if text.startswith("loc=x,,") else 1)


def test_an_index_without_fields_says_how_to_make_one_with_fields() -> None:
    with pytest.raises(ConfigError, match="clir index .* --fields"):
        Where.parse("lang=es", {})
