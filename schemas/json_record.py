"""What a JSON file of ours holds, as a typed value."""

import json
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

Record = TypeVar("Record", bound="JsonRecord")


class JsonRecord(BaseModel):
    """The base of such values: frozen, and blind to keys that it does not know, which later versions may write.

    Example:
      >>> class Point(JsonRecord):
      ...     x: float
      >>> Point.from_json('{"x": 0.5, "y": 2}')
      Point(x=0.5)
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    def to_json(self) -> str:
        """The text of the file."""
        return json.dumps(self.model_dump(), indent=2) + "\n"

    @classmethod
    def from_json(cls: type[Record], text: str) -> Record:
        """The value of a file's text.

        Raises:
          ValueError: it is no JSON, or not of this form.
        """
        content = json.loads(text)
        try:
            return cls.model_validate(content)
        except ValidationError as error:
            faults = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}".removeprefix(": ") for one in error.errors())
            raise ValueError("; ".join(faults)) from None
