"""models/encoders/vector_files.py: both formats, and what is wrong with a file."""

import os
import pickle
import re
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models.encoders import vector_files
from models.encoders.vector_files import read_vectors, vectors_fault
from schemas.errors import DataError

IDS = ["q1", "q2", "火山"]
VECTORS = [[1.0, 2.0], [3.0, -4.0], [0.0, 0.5]]
LISTS = [pa.list_(pa.float32()), pa.list_(pa.float64()), pa.large_list(pa.float32()), pa.list_(pa.float32(), 2)]


@pytest.fixture
def parquet(tmp_path):
    """Writes a Parquet file."""

    def write(ids=IDS, vectors=VECTORS, kind=LISTS[0], row_group_size=2, **columns):
        table = {"id": ids, "vector": vectors if isinstance(vectors, pa.Array) else pa.array(vectors, kind), **columns}
        path = str(tmp_path / "v.parquet")
        pq.write_table(pa.table({name: one for name, one in table.items() if one is not None}), path, row_group_size)
        return path

    return write


@pytest.fixture
def npy(tmp_path):
    """Writes an .npy file with its ids."""

    def write(ids=IDS, vectors=VECTORS, dtype=np.float32, end="\n"):
        np.save(tmp_path / "v.npy", np.asarray(vectors, dtype))
        if ids is not None:
            (tmp_path / "v.ids").write_bytes("".join(one + end for one in ids).encode("utf-8", "surrogateescape"))
        return str(tmp_path / "v.npy")

    return write


def fault(path, is_in_the_head=True):
    """The error of a file, which the look at its head also finds, or does not."""
    with pytest.raises(DataError) as caught:
        read_vectors(path)
    assert caught.value.__cause__ is None
    assert vectors_fault(path) == (str(caught.value) if is_in_the_head else None)
    return str(caught.value)


@pytest.mark.parametrize("kind", LISTS, ids=str)
@pytest.mark.parametrize("rows", [1, 2, 4096])
def test_a_parquet_file_is_read_in_parts_of_any_size(parquet, kind, rows, monkeypatch):
    monkeypatch.setattr(vector_files, "_ROWS", rows)
    path = parquet(kind=kind, title=["a", "b", "c"])
    found = read_vectors(path)
    assert found.ids == IDS
    assert found.vectors.dtype == np.float32
    assert found.vectors.tolist() == VECTORS
    assert vectors_fault(path) is None


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([7, 8, -9], pa.int64()),
        pa.array([7, 8, 2**64 - 1], pa.uint64()),
        pa.array(["7", "8", "x"], pa.large_string()),
        pa.array(["7", "8", "x"]).dictionary_encode(),
        pa.array([7, 8, 9]).dictionary_encode(),
    ],
    ids=lambda ids: str(ids.type)[:20],
)
def test_the_ids_of_a_parquet_file_may_be_integers_or_strings_of_any_kind(parquet, ids):
    assert read_vectors(parquet(ids)).ids == [str(one) for one in ids.to_pylist()]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ">f4"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_npy_file_is_a_memory_map_of_its_own_type(npy, dtype, end):
    path = npy(dtype=dtype, end=end)
    found = read_vectors(path)
    assert found.ids == IDS
    assert isinstance(found.vectors, np.memmap)
    assert not found.vectors.flags.writeable
    assert found.vectors.dtype == dtype
    assert found.vectors.tolist() == VECTORS
    assert vectors_fault(path) is None


def test_an_npy_file_in_fortran_s_order_has_the_same_rows(npy):
    assert read_vectors(npy(vectors=np.asfortranarray(VECTORS))).vectors.tolist() == VECTORS


def test_the_last_line_end_of_the_ids_may_be_missing_and_there_may_be_more(npy, tmp_path):
    path = npy()
    for content in ("\n".join(IDS), "\n".join(IDS) + "\n\n"):
        (tmp_path / "v.ids").write_text(content)
        assert read_vectors(path).ids == IDS


def test_ids_lose_the_marks_that_nobody_sees(parquet, npy):
    ids = ["\ufeffq1", "q2\u200b", "q\u00ad3"]
    assert read_vectors(parquet(ids)).ids == read_vectors(npy(ids)).ids == ["q1", "q2", "q3"]


@pytest.mark.parametrize("path", ["v.csv", "v", "v.npz", "parquet", "v.PARQUET"])
def test_another_ending_is_an_error(path):
    assert f"must end in .parquet or .npy; got {path}." in fault(path)


def test_a_remote_file_is_an_error():
    assert "gs://bucket/v.npy must be a local file" in fault("gs://bucket/v.npy")


@pytest.mark.parametrize("name", ["v.npy", "v.parquet"])
def test_a_file_that_is_not_there_is_an_error(tmp_path, name):
    for _ in range(2):
        assert f"{name} must be a file of vectors; there is no such file." in fault(str(tmp_path / name))
        (tmp_path / name).mkdir(exist_ok=True)


def test_an_npy_file_without_its_ids_is_an_error(npy, tmp_path):
    sentence = fault(npy(ids=None))
    assert f"must stand in {tmp_path}/v.ids, one a line, which cannot be read: No such file or directory." in sentence


def test_more_ids_than_vectors_are_an_error(npy, tmp_path):
    path = npy([*IDS, "q4"])
    sentence = fault(path, is_in_the_head=False)
    assert sentence == f"{tmp_path}/v.ids must hold one id for each of 3 vectors of {path}; got more."


def test_fewer_ids_than_vectors_are_an_error_that_the_head_shows(npy, tmp_path):
    path = npy(IDS[:2])
    with pytest.raises(DataError, match=f"{tmp_path}/v.ids must hold one id for each of 3 vectors of .*; got 2."):
        read_vectors(path)
    assert vectors_fault(path) == f"{tmp_path}/v.ids must hold one id for each vector of {path}; it holds 2."


@pytest.mark.parametrize("ids", [["q1", "q2", "q1"], ["q1", "q2", "\u200eq1"]])
def test_an_id_that_stands_twice_is_an_error_with_both_places(parquet, npy, tmp_path, ids):
    path = parquet(ids)
    assert fault(path) == f"each id must occur once; 'q1' stands at {path}, row 1 and at {path}, row 3."
    assert fault(npy(ids)) == f"each id must occur once; 'q1' stands at {tmp_path}/v.ids:1 and at {tmp_path}/v.ids:3."


@pytest.mark.parametrize(
    "identifier", ["", " ", "a b", "a\tb", "a\rb", "a\u2028b", "a\u00a0b", "a\x00b", " a", "\ufeff"]
)
def test_an_id_without_text_or_with_white_space_is_an_error_with_its_place(parquet, npy, tmp_path, identifier):
    ids = ["q1", identifier, "q3"]
    assert f"{parquet(ids)}, row 2: an id must not be empty" in fault(parquet(ids))
    assert f"{tmp_path}/v.ids:2: an id must not be empty" in fault(npy(ids))


def test_an_id_with_a_line_break_is_an_error(parquet):
    assert "row 1: an id must not be empty, and hold no white space and no NUL byte; got 'a b'." in fault(
        parquet(["a\nb", "q2", "q3"])
    )


def test_ids_that_are_no_utf_8_are_an_error_with_their_place(npy, tmp_path):
    assert f"{tmp_path}/v.ids:2: an id must be UTF-8" in fault(npy(["q1", "q\udcff", "q3"]))


def test_a_line_without_end_in_the_ids_is_an_error(npy, tmp_path, monkeypatch):
    monkeypatch.setattr("schemas.wikiclir.MAX_LINE_BYTES", 10)
    assert f"{tmp_path}/v.ids:2: an id cannot be read: xxxxxxxxxx" in fault(npy(["q1", "x" * 100, "q3"]))


@pytest.mark.parametrize(
    ("vector", "problem"),
    [
        ([np.nan, 1.0], "must be finite; got NaN"),
        ([1.0, -np.inf], "must be finite"),
        ([0.0, -0.0], "must not be zero"),
        ([1e300, 1.0], "must be finite"),
        ([1e25, 1.0], "must be finite"),
        ([1e-300, 0.0], "must not be zero"),
    ],
)
def test_a_vector_without_a_cosine_in_float32_is_an_error_with_its_id(parquet, npy, vector, problem):
    vectors = [VECTORS[0], VECTORS[1], vector]
    for path in (parquet(vectors=vectors, kind=LISTS[1]), npy(vectors=vectors, dtype=np.float64)):
        assert f"{path}: the vector of '火山' (row 3) {problem}" in fault(path)


def test_a_bad_vector_behind_the_head_is_found_when_all_is_read(parquet, npy, monkeypatch):
    monkeypatch.setattr(vector_files, "_HEAD", 2)
    monkeypatch.setattr(vector_files, "_NUMBERS", 2)
    vectors = [*VECTORS[:2], [0.0, 0.0]]
    assert "'火山' (row 3) must not be zero" in fault(parquet(vectors=vectors), is_in_the_head=False)
    assert "'火山' (row 3) must not be zero" in fault(npy(vectors=vectors), is_in_the_head=False)


@pytest.mark.parametrize("rows", [1, 4096])
def test_vectors_must_be_equally_long(parquet, rows, monkeypatch):
    monkeypatch.setattr(vector_files, "_ROWS", rows)
    path = parquet(vectors=[[1.0, 2.0], [3.0, 4.0], [5.0]])
    with pytest.raises(DataError, match="must be equally long; the first has 2 numbers, row 3 has 1."):
        read_vectors(path)


@pytest.mark.parametrize(
    ("vectors", "sentence"),
    [
        ([[1.0, 2.0], None, [1.0, 2.0]], "must hold a value of vector in each row; row 2 holds none."),
        ([[1.0, 2.0], [3.0, 4.0], [1.0, None]], "must hold numbers; row 3 holds an empty place."),
        ([[], [], []], "must hold vectors; it is empty."),
    ],
)
def test_a_parquet_file_must_have_no_gaps(parquet, vectors, sentence):
    assert sentence in fault(parquet(vectors=vectors))


def test_a_parquet_file_must_have_every_id(parquet):
    assert "must hold a value of id in each row; row 3 holds none." in fault(parquet(["q1", "q2", None]))


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"ids": None}, "must have one column id of strings or integers; its columns are vector, other"),
        ({"vectors": pa.nulls(3)}, "the column vector of {path} must hold lists of floats; it holds null"),
        ({"vectors": pa.array([1.0, 2.0, 3.0])}, "must hold lists of floats; it holds double"),
        (
            {"kind": pa.list_(pa.int64()), "vectors": [[1], [2], [3]]},
            "must hold lists of floats; it holds list<(item|element): int64>",  # by the version of pyarrow
        ),
        ({"ids": [1.5, 2.0, 3.0]}, "must hold strings or integers; it holds double"),
        ({"ids": [b"a", b"b", b"c"]}, "must hold strings or integers; it holds binary"),
    ],
)
def test_a_parquet_file_must_have_both_columns(parquet, columns, sentence):
    path = parquet(other=[1, 2, 3], **columns)
    assert re.search(sentence.format(path=re.escape(path)), fault(path))


def test_a_parquet_file_without_its_vectors_is_an_error(tmp_path):
    pq.write_table(pa.table({"id": IDS, "embedding": VECTORS}), tmp_path / "v.parquet")
    assert "must have one column vector of lists of floats; its columns are id, embedding." in fault(
        str(tmp_path / "v.parquet")
    )


def test_a_file_without_rows_is_an_error(parquet, npy):
    assert "must hold vectors; it is empty." in fault(parquet([], []))
    assert "must hold vectors; it is empty." in fault(npy([], np.empty((0, 3))))
    assert "must hold vectors; it is empty." in fault(npy(IDS, np.empty((3, 0))))


class _Planted:
    """An object whose unpickling makes a folder."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (self.folder,)


def test_no_npy_file_is_unpickled(npy, tmp_path):
    path, planted = npy(), _Planted(str(tmp_path / "planted"))
    with open(path, "wb") as stream:
        pickle.dump(planted, stream)
    assert "must be a file of numpy.save; its first bytes are others." in fault(path)
    np.save(path, np.array([[planted, planted]], object), allow_pickle=True)
    assert "must be a whole .npy file of floats: Array can't be memory-mapped: Python objects in dtype." in fault(path)
    assert not (tmp_path / "planted").exists()


class _PlantedType(pa.PyExtensionType):
    """A type that pyarrow 10 would unpickle, and so make a folder."""

    folder = ""

    def __init__(self):
        pa.PyExtensionType.__init__(self, LISTS[0])

    def __reduce__(self):
        return os.mkdir, (self.folder,)


@pytest.mark.filterwarnings("ignore:pyarrow.PyExtensionType is deprecated:FutureWarning")
def test_no_parquet_file_is_unpickled(parquet, tmp_path, monkeypatch):
    monkeypatch.setattr(_PlantedType, "folder", str(tmp_path / "planted"))
    path = parquet(vectors=pa.ExtensionArray.from_storage(_PlantedType(), pa.array(VECTORS, LISTS[0])))
    assert "must hold no pickled Python type" in fault(path)
    assert not (tmp_path / "planted").exists()


@pytest.mark.parametrize("dtype", [np.int64, np.complex64, np.longdouble, "U3", [("x", "f4")]])
def test_an_npy_file_of_other_values_is_an_error(npy, dtype):
    assert "must hold float16, float32 or float64 [rows, dim]; got" in fault(npy(vectors=np.ones((3, 2)), dtype=dtype))


@pytest.mark.parametrize("shape", [(), (3,), (3, 2, 2)])
def test_an_npy_file_of_another_shape_is_an_error(npy, shape):
    assert f"got float32 in {len(shape)} dimensions" in fault(npy(vectors=np.ones(shape)))


@pytest.mark.parametrize("kept", [0, 3, 40, -1])
def test_a_file_that_is_cut_off_is_an_error(npy, parquet, kept):
    for path in (npy(), parquet()):
        content = Path(path).read_bytes()
        Path(path).write_bytes(content[:kept])
        assert path in fault(path)


def test_an_npy_file_with_something_behind_its_vectors_is_an_error(npy):
    path = npy()
    with open(path, "ab") as stream:
        stream.write(b"more")
    assert "must have 152 bytes by its header; it has 156." in fault(path)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(6, 127), st.binary(min_size=1, max_size=4))
def test_a_damaged_header_gives_no_error_but_a_data_error(npy, place, noise):
    path = npy()
    with open(path, "r+b") as stream:
        stream.seek(place)
        stream.write(noise)
    try:
        read_vectors(path)
    except DataError as error:
        assert path in str(error) or "v.ids" in str(error)


@pytest.mark.stages
@pytest.mark.parametrize("kind", [LISTS[0], LISTS[1], pa.list_(pa.float32(), 256)], ids=str)
def test_a_parquet_file_in_one_row_group_takes_little_more_memory_than_its_vectors(parquet, kind):
    rows, dim = 40_000, 256
    numbers = pa.array(np.random.default_rng(1).random(rows * dim), kind.value_type)
    if pa.types.is_fixed_size_list(kind):
        vectors = pa.FixedSizeListArray.from_arrays(numbers, dim)
    else:
        vectors = pa.ListArray.from_arrays(pa.array(np.arange(0, rows * dim + 1, dim), pa.int32()), numbers)
    path = parquet(np.arange(rows), vectors, row_group_size=rows)
    usual, pool = pa.default_memory_pool(), pa.system_memory_pool()  # in which nothing else has been
    pa.set_memory_pool(pool)
    tracemalloc.start()
    try:
        found = read_vectors(path)
        _, peak = tracemalloc.get_traced_memory()  # of Python and NumPy
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(usual)
    assert found.vectors.nbytes == rows * dim * 4
    assert peak + pool.max_memory() < 1.7 * found.vectors.nbytes  # which hold 41 MB
