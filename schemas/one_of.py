"""A check for texts that must be keys of a table."""

from collections.abc import Collection
from dataclasses import dataclass

from schemas.did_you_mean import did_you_mean


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
