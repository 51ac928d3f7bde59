"""The content of our JSON files as typed values."""

import json
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from schemas.errors import DataError
from schemas.json_files import parse_json

Record = TypeVar("Record", bound="JsonRecord")


class JsonRecord(BaseModel):
    """A frozen record that ignores unknown keys, which later versions may write.

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
        """Reads the text of a file.

        Raises:
          ValueError: the text is not JSON, or has another form.
        """
        content = parse_json(text)
        try:
            return cls.model_validate(content)
        except ValidationError as error:
            faults = (f"{'.'.join(map(str, item['loc']))}: {item['msg']}".removeprefix(": ") for item in error.errors())
            raise ValueError("; ".join(faults)) from None

    @classmethod
    def read(cls: type[Record], path: Path, remedy: str) -> Record:
        """Reads a file of a user's folder, which may be damaged or of another version.

        Args:
          path: the file.
          remedy: the end of the error's sentence, such as "run it again".

        Raises:
          DataError: the file cannot be read.
        """
        try:
            return cls.from_json(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise DataError(f"{path}: cannot be read ({' '.join(str(error).split())}); {remedy}.") from None
