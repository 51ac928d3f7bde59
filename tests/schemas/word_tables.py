"""Files of word vectors as their publishers' tools write them, for the tests."""

import pickle
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

Vectors = Mapping[str, Sequence[float]]


def glove(vectors: Vectors) -> bytes:
    """GloVe's text: a line a word."""
    return "".join(f"{word} {' '.join(map(repr, vector))}\n" for word, vector in vectors.items()).encode()


def word2vec(vectors: Vectors) -> bytes:
    """word2vec's text: a header, and a space before each line's end, as fastText writes it, too."""
    width = len(next(iter(vectors.values())))
    return f"{len(vectors)} {width}\n".encode() + glove(vectors).replace(b"\n", b" \n")


def polyglot(vectors: Vectors, protocol: int = 2) -> bytes:
    """A pickle of (words, matrix) as Python 3 writes it."""
    return pickle.dumps((tuple(vectors), np.array(list(vectors.values()), np.float32)), protocol)


def python_2_polyglot(vectors: Vectors, plain_strings: bool = False) -> bytes:
    """The same as Python 2 wrote it under protocol 2, by hand: bytes are its strings, without `_codecs.encode`."""

    def string(content: bytes) -> bytes:
        return b"T" + struct.pack("<i", len(content)) + content

    def number(value: int) -> bytes:
        return b"J" + struct.pack("<i", value)

    words = b"".join(
        string(word.encode()) if plain_strings else b"X" + struct.pack("<i", len(word.encode())) + word.encode()
        for word in vectors
    )
    matrix = np.array(list(vectors.values()), "<f4")
    dtype = b"cnumpy\ndtype\n" + string(b"f4") + b"K\x00K\x01\x87R"
    dtype += b"(K\x03" + string(b"<") + b"NNN" + number(-1) + number(-1) + b"K\x00tb"
    array = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85" + string(b"b") + b"\x87R"
    array += b"(K\x01" + number(len(matrix)) + number(matrix.shape[1]) + b"\x86" + dtype + b"\x89"
    array += string(matrix.tobytes()) + b"tb"
    return b"\x80\x02(" + words + b"t" + array + b"\x86."


def write(path: Path, content: bytes) -> str:
    """Writes a file and gives its path."""
    path.write_bytes(content)
    return str(path)
