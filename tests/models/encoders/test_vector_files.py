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
        path, vectors = str(tmp_path / "v.parquet"), pa.array(vectors, kind) if isinstance(vectors, list) else vectors
        table = {"id": ids, "vector": vectors, **columns}
        pq.write_table(
            pa.table({name: column for name, column in table.items() if column is not None}), path, row_group_size
        )
        return path

    return write


@pytest.fixture
def npy(tmp_path):
    """Writes an .npy file with its ids."""

    def write(ids=IDS, vectors=VECTORS, dtype=np.float32, end="\n"):
        np.save(tmp_path / "v.npy", np.asarray(vectors, dtype))
        if ids is not None:
            (tmp_path / "v.ids").write_bytes("".join(name + end for name in ids).encode("utf-8", "surrogateescape"))
        return str(tmp_path / "v.npy")

    return write


def fault(path, is_in_the_head=True):
    """The error of a file, which the look at its head also finds, or does not."""
    with pytest.raises(DataError) as caught:
        read_vectors(path)
    assert caught.value.__cause__ is None
    assert vectors_fault(path) == (str(caught.value) if is_in_the_head else None)
    return str(caught.value)


# Both formats


@pytest.mark.parametrize("kind", LISTS, ids=str)
@pytest.mark.parametrize("rows", [1, 2, 4096])
def test_a_parquet_file_is_read_in_parts_of_any_size(parquet, kind, rows, monkeypatch):
    monkeypatch.setattr(vector_files, "_ROWS", rows)
    path = parquet(kind=kind, title=["a", "b", "c"])
    content = read_vectors(path)
    assert (content.ids, content.vectors.tolist(), content.vectors.dtype) == (IDS, VECTORS, np.float32)
    assert vectors_fault(path) is None


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([7, 8, -9], pa.int64()),
        pa.array([7, 8, 2**64 - 1], pa.uint64()),
        pa.array(["7", "8", "x"], pa.large_string()),
        pa.array([7, 8, 9]).dictionary_encode(),
    ],
    ids=lambda ids: str(ids.type)[:20],
)
def test_the_ids_of_a_parquet_file_may_be_integers_or_strings_of_any_kind(parquet, ids):
    assert read_vectors(parquet(ids)).ids == [str(value) for value in ids.to_pylist()]


@pytest.mark.parametrize(
    ("dtype", "end"), [(np.float16, "\n"), (np.float32, "\r\n"), (np.float64, "\n"), (">f4", "\n")]
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_npy_file_is_a_memory_map_of_its_own_type(npy, dtype, end, order):
    path = npy(vectors=np.array(VECTORS, order=order), dtype=dtype, end=end)
    ids, vectors = read_vectors(path)
    assert isinstance(vectors, np.memmap) and not vectors.flags.writeable
    assert (ids, vectors.tolist(), vectors.dtype) == (IDS, VECTORS, dtype)
    assert vectors_fault(path) is None


def test_ids_lose_the_marks_that_nobody_sees_and_empty_lines_at_their_end(parquet, npy, tmp_path):
    ids = ["\ufeffq1", "q2\u200b", "q\u00ad3"]
    path = npy()
    for end in ("", "\n\n"):
        (tmp_path / "v.ids").write_text("\n".join(ids) + end)
        assert read_vectors(path).ids == ["q1", "q2", "q3"]
    assert read_vectors(parquet(ids)).ids == ["q1", "q2", "q3"]


def test_a_parquet_file_in_one_row_group_takes_little_more_memory_than_its_vectors(parquet):
    rows, dim = 40_000, 256
    numbers = pa.array(np.random.default_rng(1).random(rows * dim))
    vectors = pa.ListArray.from_arrays(pa.array(np.arange(0, rows * dim + 1, dim), pa.int32()), numbers)
    path = parquet(np.arange(rows), vectors, row_group_size=rows)
    usual, pool = pa.default_memory_pool(), pa.system_memory_pool()  # in which nothing else has been
    pa.set_memory_pool(pool)
    tracemalloc.start()
    try:
        content = read_vectors(path)
        _, peak = tracemalloc.get_traced_memory()  # of Python and NumPy
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(usual)
    assert content.vectors.nbytes == rows * dim * 4
    assert peak + pool.max_memory() < 1.7 * content.vectors.nbytes


# What is wrong with a file


@pytest.mark.parametrize("name", ["v.csv", "v", "v.npz", "parquet", "v.PARQUET", "gs://v.npy", "v.npy", "v.parquet"])
def test_another_ending_a_remote_or_missing_file_and_a_folder_are_an_error(tmp_path, name):
    path = name if ":" in name else str(tmp_path / name)
    assert name in fault(path)
    (tmp_path / name).mkdir(parents=True)
    assert name in fault(path)


def test_an_npy_file_has_one_id_for_each_vector(npy, tmp_path):
    assert f"{tmp_path}/v.ids" in fault(npy(ids=None))
    assert re.search(f"{tmp_path}/v.ids .* 3 vectors .* more", fault(npy([*IDS, "q4"])))
    assert re.search(f"{tmp_path}/v.ids .* 3 vectors .* 2", fault(npy(IDS[:2])))


def test_an_id_that_stands_twice_is_an_error_with_both_places(parquet, npy, tmp_path):
    ids = ["q1", "q2", "\u200eq1"]
    assert re.search(f"'q1' .*{tmp_path}/v.parquet, row 1 .*{tmp_path}/v.parquet, row 3", fault(parquet(ids)))
    assert re.search(f"'q1' .*{tmp_path}/v.ids:1 .*{tmp_path}/v.ids:3", fault(npy(ids)))


@pytest.mark.parametrize("identifier", ["", "a b", "a\tb", "a\rb", "a\u2028b", "a\u00a0b", "a\x00b", " a", "\ufeff"])
def test_an_id_without_text_or_with_white_space_is_an_error_with_its_place(parquet, npy, tmp_path, identifier):
    ids = ["q1", identifier, "q3"]
    assert f"{parquet(ids)}, row 2: " in fault(parquet(ids))
    assert f"{tmp_path}/v.ids:2: " in fault(npy(ids))


def test_an_id_with_a_line_break_that_is_no_utf_8_or_has_no_end_is_an_error_with_its_place(
    parquet, npy, tmp_path, monkeypatch
):
    assert "row 1: " in fault(parquet(["a\nb", "q2", "q3"]))
    monkeypatch.setattr("schemas.wikiclir.MAX_LINE_BYTES", 10)
    for identifier in ("q\udcff", "x" * 100):
        assert f"{tmp_path}/v.ids:2: " in fault(npy(["q1", identifier, "q3"]))


@pytest.mark.parametrize(
    "vector", [[np.nan, 1.0], [1.0, -np.inf], [0.0, -0.0], [1e300, 1.0], [1e25, 1.0], [1e-300, 0.0]]
)
def test_a_vector_without_a_cosine_in_float32_is_an_error_with_its_id(parquet, npy, vector):
    vectors = [VECTORS[0], VECTORS[1], vector]
    for path in (parquet(vectors=vectors, kind=LISTS[1]), npy(vectors=vectors, dtype=np.float64)):
        assert f"{path}: the vector of '火山' (row 3) " in fault(path)


def test_a_bad_vector_behind_the_head_is_found_when_all_is_read(parquet, npy, monkeypatch):
    monkeypatch.setattr(vector_files, "_HEAD", 2)
    monkeypatch.setattr(vector_files, "_NUMBERS", 2)
    vectors = [*VECTORS[:2], [0.0, 0.0]]
    for path in (parquet(vectors=vectors), npy(vectors=vectors)):
        assert "'火山' (row 3)" in fault(path, is_in_the_head=False)


@pytest.mark.parametrize("rows", [1, 4096])
def test_vectors_must_be_equally_long(parquet, rows, monkeypatch):
    monkeypatch.setattr(vector_files, "_ROWS", rows)
    path = parquet(vectors=[[1.0, 2.0], [3.0, 4.0], [5.0]])
    with pytest.raises(DataError, match="2 numbers, row 3 has 1"):
        read_vectors(path)


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        ({"vectors": [[1.0, 2.0], None, [1.0, 2.0]]}, "row 2 has 0"),
        ({"vectors": [[1.0, 2.0], [3.0, 4.0], [1.0, None]]}, "row 3"),
        ({"vectors": [[], [], []]}, "row 1 holds none"),
        ({"ids": ["q1", "q2", None]}, "row 3: .* id"),
        ({"ids": None}, 'column id .* "id" does not exist'),
        ({"vectors": None, "embedding": VECTORS}, 'column vector .* "vector" does not exist'),
        ({"vectors": pa.nulls(3)}, "column vector .*null"),
        ({"vectors": pa.array([1.0, 2.0, 3.0])}, "double"),
        ({"kind": pa.list_(pa.string()), "vectors": [["x"], ["y"], ["z"]]}, "float"),
        ({"ids": [b"a", b"\xff", b"c"]}, "UTF8"),
        ({"ids": [{"a": 1}] * 3}, "struct"),
        ({"ids": [], "vectors": [], "other": []}, "v.parquet"),
    ],
)
def test_a_parquet_file_must_have_both_columns_without_gaps(parquet, columns, shown):
    assert re.search(shown, fault(parquet(**{"other": [1, 2, 3]} | columns)))


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ({"vectors": np.ones((3, 2)), "dtype": np.int64}, "int64"),
        ({"vectors": np.ones((3, 2)), "dtype": np.complex64}, "complex64"),
        ({"vectors": np.ones((3, 2)), "dtype": np.longdouble}, "float128"),
        ({"vectors": np.ones((3, 2)), "dtype": "U3"}, "U3"),
        ({"vectors": np.ones((3, 2)), "dtype": [("x", "f4")]}, "x"),
        ({"vectors": np.ones(())}, "float32 in 0 dimensions"),
        ({"vectors": np.ones(3)}, "float32 in 1 dimensions"),
        ({"vectors": np.ones((3, 2, 2))}, "float32 in 3 dimensions"),
        ({"ids": [], "vectors": np.empty((0, 3))}, "v.npy"),
        ({"vectors": np.empty((3, 0))}, "v.npy"),
    ],
)
def test_an_npy_file_of_other_values_or_of_another_shape_is_an_error(npy, content, shown):
    assert shown in fault(npy(**content))


@pytest.mark.parametrize("size", [0, 3, 40, -1, None], ids=str)
def test_a_file_that_is_cut_off_or_too_long_is_an_error(npy, parquet, size):
    for path in (npy(), parquet()):
        content = Path(path).read_bytes()
        Path(path).write_bytes(content[:size] if size is not None else content + b"more")
        assert path in fault(path)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(6, 127), st.binary(min_size=1, max_size=4))
def test_a_damaged_header_gives_no_error_but_a_data_error(npy, offset, noise):
    path = npy()
    with open(path, "r+b") as stream:
        stream.seek(offset)
        stream.write(noise)
    try:
        read_vectors(path)
    except DataError as error:
        assert path in str(error) or "v.ids" in str(error)


# Code in a file


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
    fault(path)
    np.save(path, np.array([[planted, planted]], object), allow_pickle=True)
    fault(path)
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
    fault(parquet(vectors=pa.ExtensionArray.from_storage(_PlantedType(), pa.array(VECTORS, LISTS[0]))))
    assert not (tmp_path / "planted").exists()
