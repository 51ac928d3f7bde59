"""Lines of a file, read many at a time."""

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import byte_streams as module
from schemas.byte_streams import raw_lines

lines = st.lists(st.text("aé\r\u2028").map(str.encode), max_size=8)


@given(lines, st.booleans(), st.integers(1, 9))
def test_lines_are_the_same_however_large_the_blocks(content_lines, last_has_end, size):
    content = b"".join(b"%b\n" % line for line in content_lines)
    if not last_has_end:
        content = content.removesuffix(b"\n")
    expected = content.split(b"\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", size)
        read_lines = list(raw_lines(BytesIO(content)))
    assert read_lines == (expected if expected[-1] else expected[:-1])
