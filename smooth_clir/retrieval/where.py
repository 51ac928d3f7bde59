"""Filters of a search by the fields of documents: `lang=es|fr,year>=2020`.

    filter     condition , condition ...        each of them holds
    condition  field = value | value ...        the field has one of the values; != none of them
               field < value                    likewise <=, >, >=, for fields of numbers
    value      characters, or "characters" with any commas and bars, and a doubled quote for a quote

White space around fields and values does not count. A field of numbers is compared as numbers, any other as text. A
document without a value satisfies only != conditions.
"""

import operator
import re
import sys
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from schemas.columns import column_name
from schemas.errors import ConfigError
from schemas.index_manifest import FieldRecord

_PARTS: Final = re.compile(r'([^=!<>"]*)(!=|<=|>=|=|<|>)(.*)', re.DOTALL)
_QUOTED: Final = re.compile(r'"((?:[^"]|"")*)"', re.DOTALL)
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_ORDER: Final = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


class Condition(NamedTuple):
    """A condition on a field."""

    position: int
    """The field's position among those of the index."""
    operator: str
    values: tuple[str, ...] | tuple[float, ...]
    """At least one; numbers for a field of numbers. One for operators other than = and !=."""

    @property
    def is_negative(self) -> bool:
        """Whether documents without a value satisfy the condition."""
        return self.operator == "!="

    def holds(self, texts: Sequence[str], numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Returns whether each value satisfies the condition.

        Args:
          texts: distinct values, sorted.
          numbers: the values as numbers, [values]; NaN for other texts.

        Returns:
          bool [values].
        """
        if self.operator in _ORDER:
            return np.asarray(_ORDER[self.operator](numbers, self.values[0]), np.bool_)
        if isinstance(self.values[0], float):
            return np.isin(numbers, self.values, invert=self.is_negative)
        mask = np.full(len(texts), self.is_negative)
        for value in self.values:
            row = bisect_left(texts, value)
            if row < len(texts) and texts[row] == value:
                mask[row] = not self.is_negative
        return mask


class Where(NamedTuple):
    """A filter: documents must satisfy each condition."""

    conditions: tuple[Condition, ...]

    @classmethod
    def parse(cls, text: str, fields: Mapping[str, FieldRecord]) -> "Where":
        """Reads a filter.

        Args:
          text: the filter.
          fields: the fields of the index, in its order.

        Raises:
          ConfigError: the filter is wrong for this index; all faults.

        Example:
          >>> fields = {"lang": FieldRecord(type="text", documents=9), "year": FieldRecord(type="number", documents=9)}
          >>> Where.parse('lang = es|"fr", year >= 2020', fields).conditions[1]
          Condition(position=1, operator='>=', values=(2020.0,))
        """
        if not fields:
            command = "clir index MODEL --documents FILE --fields lang"
            raise ConfigError([f"where: the index has no fields. Make it again with fields, such as `{command}`."])
        conditions, faults = [], []
        for piece in _split(text, ","):
            try:
                conditions.append(_condition(piece, fields))
            except ValueError as error:
                faults.append(f"where: {error}.")
        if faults:
            raise ConfigError(faults)
        return cls(tuple(conditions))


def number_of(value: str) -> float | None:
    """Returns the number that a field's value is; None for any other text, and beyond the largest float.

    Example:
      >>> number_of("2020"), number_of("-1.5e3"), number_of("n.d.")
      (2020.0, -1500.0, None)
    """
    number = float(value) if _NUMBER.fullmatch(value) else sys.float_info.max
    return number if abs(number) < sys.float_info.max else None


def _condition(text: str, fields: Mapping[str, FieldRecord]) -> Condition:
    """Reads a condition; raises a ValueError for a wrong one."""
    parts = _PARTS.fullmatch(text)
    if parts is None:
        raise ValueError(
            f"a condition must be a field, one of = != < <= > >=, and a value, such as lang=es; got {text!r}"
        )
    name, sign, right = column_name(parts[1]), parts[2], parts[3]
    if name not in fields:
        known = ", ".join(f"{field} ({record.type})" for field, record in fields.items())
        raise ValueError(f"the index has no field {name!r}; its fields: {known}")
    values, is_number = tuple(map(_value, _split(right, "|"))), fields[name].type == "number"
    if sign in _ORDER and not is_number:
        raise ValueError(f"{name} takes = and !=, because not every value of it is a number; got {text!r}")
    if sign in _ORDER and len(values) > 1:
        raise ValueError(f"{sign} takes one value; got {text!r}")
    if not is_number:
        return Condition([*fields].index(name), sign, values)
    numbers = [number_of(value) for value in values]
    if None in numbers:
        raise ValueError(f"{name} must be compared with a number; got {values[numbers.index(None)]!r}")
    return Condition([*fields].index(name), sign, tuple(number for number in numbers if number is not None))


def _value(text: str) -> str:
    if quoted := _QUOTED.fullmatch(text):
        text = quoted[1].replace('""', '"').strip()
    elif '"' in text:
        raise ValueError(f'quotes must enclose a whole value, with "" for a quote inside; got {text!r}')
    if not text:
        raise ValueError("a value must not be empty")
    return text


def _split(text: str, separator: str) -> Sequence[str]:
    """Splits a text at a separator outside of quotes; the parts lose white space around them."""

    def parts() -> Iterator[str]:
        start, is_quoted = 0, False
        for position, character in enumerate(text):
            is_quoted ^= character == '"'
            if character == separator and not is_quoted:
                yield text[start:position]
                start = position + 1
        yield text[start:]

    return [part.strip() for part in parts()]
