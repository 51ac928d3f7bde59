"""models/piece_store.py: a piece is whole or not there."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.encoders.text_vectors import text_keys
from models.piece_store import PieceStore

pytestmark = pytest.mark.tensors


@given(data=st.data())
def test_a_piece_with_any_damage_is_left_out_and_removed(tmp_path_factory, data):
    store = PieceStore(str(tmp_path_factory.mktemp("store")))
    store.write("query", text_keys(["a", "b"]), values=np.ones([2, 3]))
    store.write("query", text_keys(["c"]), values=np.ones([1, 3]))
    file, whole_file = sorted(Path(store.folder).iterdir())
    content = bytearray(file.read_bytes())
    offset = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content = content[:offset]
    else:
        content[offset] ^= data.draw(st.integers(1, 255))
    file.write_bytes(content)
    assert len([*store.read("query")]) == 1
    assert [*Path(store.folder).iterdir()] == [whole_file]


def test_a_piece_with_a_pickled_object_runs_no_code(tmp_path):
    class Code:
        def __reduce__(self):
            return (tmp_path / "ran").touch, ()

    store = PieceStore(str(tmp_path / "store"))
    store.write("query", np.array([Code()]), values=np.ones([1, 3]))
    with pytest.raises(ValueError, match="allow_pickle"):
        store.keys("query")
    assert not (tmp_path / "ran").exists()
