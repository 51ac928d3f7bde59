"""schemas/polyglot_pickle.py: old pickles are read, and none runs anything."""

import builtins
import io
import os
import pickle
import resource
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import DataError
from schemas.polyglot_pickle import read_polyglot
from tests.schemas.word_tables import polyglot, python_2_polyglot

VECTORS = {"<UNK>": [0.5, -1.0], "été": [1.0, 2.0], "犬": [3.0, 4.0]}


def read(content):
    return read_polyglot(io.BytesIO(content), "polyglot-fr.pkl")


class Reduced:
    """Pickles as a call of anything."""

    def __init__(self, *reduction):
        self.reduction = reduction

    def __reduce__(self):
        return self.reduction


@pytest.mark.parametrize("protocol", range(5))
def test_the_pickles_of_every_protocol_that_names_reconstruct_are_read(protocol):
    words, vectors = read(polyglot(VECTORS, protocol))
    assert words == list(VECTORS)
    assert vectors.tolist() == list(VECTORS.values())


@pytest.mark.parametrize("plain_strings", [False, True])
def test_the_pickles_of_python_2_are_read(plain_strings):
    content = python_2_polyglot(VECTORS, plain_strings)
    words, vectors = read(content)
    assert [word.decode() if plain_strings else word for word in words] == list(VECTORS)
    assert vectors.tolist() == pickle.loads(content, encoding="bytes")[1].tolist() == list(VECTORS.values())


@pytest.mark.parametrize("array", [np.ones((2, 3), ">f8"), np.asfortranarray([[1, 2, 3], [4, 5, 6]], np.float16)])
def test_floats_of_any_size_and_order_are_read(array):
    _, vectors = read(pickle.dumps((["a", "b"], array), 2))
    assert vectors.tolist() == array.tolist()


HOSTILE = [
    *((os.system, "touch {}"), (builtins.eval, "open({!r}, 'w')"), (builtins.exec, "open({!r}, 'w')")),
    (np.fromfile, "{}"),
]


@pytest.mark.parametrize("protocol", [0, 2, 4])
@pytest.mark.parametrize(("function", "argument"), HOSTILE)
def test_a_hostile_pickle_runs_nothing_and_is_refused_by_the_name_it_uses(function, argument, protocol, tmp_path):
    planted = tmp_path / "planted"
    call = Reduced(function, (argument.format(str(planted)),))
    with pytest.raises(DataError, match=rf"polyglot-fr.pkl .*\.{function.__name__}\."):
        read(pickle.dumps((["a"], call), protocol))
    assert not planted.exists()


def object_array(call):
    """An array of objects, the first of them a call."""
    objects = np.empty((1, 2), object)
    objects[0, 0] = call
    return objects


RECONSTRUCT = np.ones(1).__reduce__()[0]
BEHIND_ALLOWED_NAMES = {
    "in an object array": object_array,
    "as the class to rebuild": lambda call: Reduced(RECONSTRUCT, (call, (0,), b"b")),
    "as a dtype": lambda call: Reduced(RECONSTRUCT, (np.ndarray, (0,), b"b"), (1, (1, 2), call, False, b"")),
    "as a state": lambda call: Reduced(RECONSTRUCT, (np.ndarray, (0,), b"b"), call),
}


@pytest.mark.parametrize("position", BEHIND_ALLOWED_NAMES)
def test_a_call_behind_an_allowed_name_runs_nothing(position, tmp_path):
    call = Reduced(os.system, (f"touch {tmp_path / 'planted'}",))
    with pytest.raises(DataError, match="polyglot-fr.pkl"):
        read(pickle.dumps((["a"], BEHIND_ALLOWED_NAMES[position](call)), 2))
    assert not (tmp_path / "planted").exists()


def test_a_pickle_cannot_change_the_stand_ins_lastingly():
    with pytest.raises(DataError):
        read(b"\x80\x02cnumpy\ndtype\n}X\x01\x00\x00\x00aK\x01sb.")  # sets a default
    assert read(polyglot(VECTORS))[0] == list(VECTORS)


@pytest.mark.parametrize(
    "content",
    [
        *((["a"], np.empty((1, 2), object)), (["a"], np.ones((1, 2), np.int64))),
        *((["a"], np.ones((1, 2), np.complex64)), (["a"], np.ones(1)), (["a"], np.ones((2, 2)))),
        *((["a"], [[1.0, 2.0]]), ([3], np.ones((1, 2)))),
        (["a"],),
        {"a": [1.0, 2.0]},
    ],
    ids=str,
)
def test_anything_but_words_and_a_matrix_of_floats_is_refused(content):
    with pytest.raises(DataError, match="polyglot-fr.pkl"):
        read(pickle.dumps(content, 2))


@pytest.mark.parametrize(
    "content",
    [
        b"\x80\x02]r\xff\xff\xff\xff.",  # the memo's place 4,294,967,295
        b"\x80\x02]r" + struct.pack("<I", 1 << 26) + b".",  # for which C's unpickler takes a GiB
        b"\x80\x02T" + struct.pack("<i", 2**31 - 1) + b"a",
        b"\x80\x04\x8e" + struct.pack("<Q", 2**62) + b"a",
        b"\x80\x04\x95" + struct.pack("<Q", 2**62) + b"a",
        python_2_polyglot(VECTORS).replace(b"J" + struct.pack("<i", 3), b"J" + struct.pack("<i", 2**31 - 1)),
        b"\x80\x02.",
        b"\x80\x09N.",
    ],
)
def test_a_number_that_a_pickle_names_takes_no_memory(content):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DataError):
        read(content)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10


def test_a_pickle_that_is_cut_off_anywhere_is_an_error_of_the_data():
    content = python_2_polyglot(VECTORS)
    for end in range(2, len(content)):
        with pytest.raises(DataError, match="polyglot-fr.pkl"):
            read(content[:end])


@given(st.integers(0), st.binary(min_size=1, max_size=4))
def test_a_pickle_that_is_broken_anywhere_is_read_or_an_error_of_the_data(offset, bytes_):
    content = bytearray(python_2_polyglot(VECTORS))
    offset %= len(content)
    content[offset : offset + len(bytes_)] = bytes_
    try:
        words, vectors = read(bytes(content))
    except DataError:
        return
    assert len(words) == len(vectors)
