"""The base of all settings: typed, documented, frozen, and closed to unknown keys."""

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

    # For the documentation of settings. No other record has its docstrings read: Pydantic looks for a class among all
    # modules that are imported, which took a second of each command once the large libraries were there.
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
    """Refuses a text that is no key of a table; a setting has it in `pydantic.AfterValidator`.

    Args:
      choices: the table, which may grow.

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
    """Names the nearest known word.

    Args:
      came: the mistaken word.
      known: the words that are allowed.

    Returns:
      what to put after the fault's text: "; did you mean epochs?", or nothing where no word is near.

    Example:
      >>> did_you_mean("epoch", ["epochs", "seed"])
      '; did you mean epochs?'
      >>> did_you_mean("zzz", ["epochs", "seed"])
      ''
    """

    def likeness(word: str) -> tuple[float, int]:
        # Of equally near words the one that begins alike: eng is en rather than ng.
        pair = word.lower(), came.lower()
        return difflib.SequenceMatcher(None, *pair).ratio(), len(os.path.commonprefix(pair))

    best = max(sorted(known), key=likeness)
    return f"; did you mean {best}?" if likeness(best)[0] >= 0.5 else ""
