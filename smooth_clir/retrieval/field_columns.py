"""The fields of a segment's documents, by which a search is filtered.

field_codes.npy   int32 [fields, documents]: the line of each document's value, from 0; -1 without a value
field_values.txt  the distinct values of all fields, sorted, a line each, UTF-8
"""

import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from schemas.index_manifest import FIELD_CODES_FILE, FieldRecord
from smooth_clir.retrieval.where import Where, number_of

_VALUES_FILE: Final = "field_values.txt"


class FieldColumns:
    """The fields of documents, as numbers of distinct values.

    Args:
      values: the distinct values, sorted.
      codes: the number of each document's value, int32 [fields, documents]; -1 without a value.
    """

    def __init__(self, values: Sequence[str], codes: npt.NDArray[np.int32]) -> None:
        self._values, self._codes = values, codes

    @classmethod
    def of(cls, documents: Sequence[Sequence[str]]) -> "FieldColumns":
        """Collects the fields of each document."""
        values = sorted({value for fields in documents for value in fields if value})
        code_of = {"": -1, **{value: code for code, value in enumerate(values)}}
        return cls(values, np.array([[code_of[value] for value in fields] for fields in documents], np.int32).T)

    @classmethod
    def load(cls, folder: str) -> "FieldColumns":
        """Reads the files from `save`; the codes are mapped into memory."""
        with open(os.path.join(folder, _VALUES_FILE), encoding="utf-8", newline="\n") as file:
            values = file.read().split("\n")[:-1]
        return cls(values, np.load(os.path.join(folder, FIELD_CODES_FILE), mmap_mode="r"))

    def save(self, folder: str) -> None:
        with open(os.path.join(folder, _VALUES_FILE), "w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{value}\n" for value in self._values)
        np.save(os.path.join(folder, FIELD_CODES_FILE), self._codes)

    @cached_property
    def _numbers(self) -> npt.NDArray[np.float64]:
        """The values as numbers; NaN for other texts."""
        return np.array([number_of(value) for value in self._values], np.float64)

    def matches(self, where: Where) -> npt.NDArray[np.bool_]:
        """Returns whether each document satisfies a filter, bool [documents]."""
        mask = np.ones(self._codes.shape[1], np.bool_)
        for condition in where.conditions:
            holds = condition.holds(self._values, self._numbers)
            # The last element is for documents without a value, whose code is -1.
            mask &= np.append(holds, condition.is_negative)[self._codes[condition.position]]
        return mask

    def kept_numbers(self, position: int, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Returns a field's values in these rows as numbers, without missing ones; NaN for other texts."""
        codes = self._codes[position][rows]
        numbers: npt.NDArray[np.float64] = self._numbers[codes[codes >= 0]]
        return numbers


def field_records(
    names: Sequence[str], parts: Iterable[tuple[FieldColumns, npt.NDArray[np.int64]]]
) -> dict[str, FieldRecord]:
    """Returns the type and the number of values of each field.

    Args:
      names: the fields' names.
      parts: the columns of each segment, and its rows that were not removed.
    """
    columns = [*parts]
    records = {}
    for position, name in enumerate(names):
        numbers = np.concatenate([np.zeros(0), *(part.kept_numbers(position, rows) for part, rows in columns)])
        is_number = len(numbers) > 0 and not np.isnan(numbers).any()
        records[name] = FieldRecord(type="number" if is_number else "text", documents=len(numbers))
    return records
