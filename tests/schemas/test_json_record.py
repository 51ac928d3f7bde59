"""A JSON file of a user's folder: it is read, or its error names the file, the fault and the remedy."""

from pathlib import Path

import pytest

from schemas.errors import DataError
from schemas.json_record import JsonRecord


class Point(JsonRecord):
    x: float


def test_a_file_is_read_whatever_keys_a_later_version_adds(tmp_path: Path) -> None:
    path = tmp_path / "point.json"
    path.write_text('{"x": 0.5, "y": 2}')
    assert Point.read(path, "run it again") == Point(x=0.5)


@pytest.mark.parametrize("content", [None, b'{"x": 0.', b'{"x": "\xff"}', b'{"floors": {}}', b"[]"])
def test_a_file_that_cannot_be_read_is_named_with_the_remedy(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "point.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=f"^{path}: .* run it again.$"):
        Point.read(path, "run it again")
