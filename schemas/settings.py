"""The base of all settings: typed, documented, frozen, closed to unknown keys; and checks that several share."""

import difflib
import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator


class Settings(BaseModel):
    """One section of a configuration file. A field's docstring is its documentation, with its unit.

    Raises:
      pydantic.ValidationError: at construction, with every fault at once.
    """

    # Only settings have their docstrings read, for their documentation: Pydantic searches all imported modules for each
    # class, which took a second of each command once the large libraries were imported.
    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True, validate_default=True
    )

    @field_validator("*", mode="before")
    @classmethod
    def _yes_is_no_number(cls, value: Any, info: ValidationInfo) -> Any:
        """Pydantic would read YAML's `yes` as the number 1."""
        if isinstance(value, bool) and cls.model_fields[str(info.field_name)].annotation is not bool:
            raise ValueError(
                f"must not be a truth value (YAML reads a bare yes, no, on or off so: quote it); got {value}"
            )
        return value


@dataclass(frozen=True)
class OneOf:
    """Refuses a text that is no key of a table; for a setting's `pydantic.AfterValidator`.

    Args:
      choices: the table, which may grow later.

    Example:
      >>> OneOf(["map", "mrr_r"])("mapp")
      Traceback (most recent call last):
      ValueError: must be one of map, mrr_r; got 'mapp'; did you mean map?
    """

    choices: Collection[str]

    def __call__(self, text: str) -> str:
        if text not in self.choices:
            raise ValueError(
                f"must be one of {', '.join(self.choices)}; got {text!r}{did_you_mean(text, self.choices)}"
            )
        return text


def did_you_mean(came: str, known: Iterable[str]) -> str:
    """The end of an error message that names the nearest known word; empty where no word is near.

    Args:
      came: the mistaken word.
      known: the allowed words.

    Example:
      >>> did_you_mean("epoch", ["epochs", "seed"])
      '; did you mean epochs?'
      >>> did_you_mean("zzz", ["epochs", "seed"])
      ''
    """

    def likeness(word: str) -> tuple[float, int]:
        # Among equally near words, prefers a common beginning: eng is en rather than ng.
        pair = word.lower(), came.lower()
        return difflib.SequenceMatcher(None, *pair).ratio(), len(os.path.commonprefix(pair))

    best = max(sorted(known), key=likeness)
    return f"; did you mean {best}?" if likeness(best)[0] >= 0.5 else ""
