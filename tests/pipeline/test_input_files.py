"""pipeline/input_files.py: what a first look at the files finds."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.input_files import check_collection, check_inputs, files_of
from schemas.settings import GivenPath

FILES = {
    "queries": "q1\tWolf\tlives in packs\nq2\tDog\tguards houses\n",
    "documents": "d1\tLoup\tvit en meute\nd2\tChien\tgarde les maisons\n",
    "judgments": "q1\td1\t2\nq2\td2\t2\n",
    "candidates": "q1\td1\t2\ttrain\nq2\td2\t2\ttest\n",
}

CUT = "Compressed file ended before the end-of-stream marker was reached"

CANNOT = f"cannot be read: {CUT}"

Paths = dict[str, str]


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """Good files, one a role."""
    for role, text in FILES.items():
        (tmp_path / role).write_text(text)
    return {role: str(tmp_path / role) for role in FILES}


def rewrite(content: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(content)


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def test_good_files_have_no_fault(paths: Paths) -> None:
    assert check_collection(paths) == []


def test_files_without_candidates_have_no_fault(paths: Paths) -> None:
    del paths["candidates"]
    assert check_collection(paths) == []


def test_gzipped_files_have_no_fault_whatever_their_names(paths: Paths) -> None:
    for role, text in FILES.items():
        Path(paths[role]).write_bytes(gzip.compress(text.encode()))
    assert check_collection(paths) == []


def test_windows_line_ends_and_a_byte_order_mark_are_no_fault(paths: Paths) -> None:
    for role, text in FILES.items():
        Path(paths[role]).write_text("\ufeff" + text, encoding="utf-8", newline="\r\n")
    assert check_collection(paths) == []


def test_some_bad_lines_are_left_to_the_run(paths: Paths) -> None:
    Path(paths["queries"]).write_text("no tab\n\n" + FILES["queries"])
    assert check_collection(paths) == []


def test_one_document_among_the_first_lines_of_many_is_left_to_the_run(paths: Paths) -> None:
    Path(paths["documents"]).write_text(FILES["documents"].splitlines()[0] + 2000 * "\nno tab")
    del paths["candidates"]
    assert check_collection(paths) == []


@pytest.mark.parametrize("role", FILES)
def test_a_break_below_good_lines_is_found(paths: Paths, role: str) -> None:
    path = Path(paths[role])
    path.write_bytes(gzip.compress(path.read_bytes())[:-8])
    assert check_collection(paths) == [(role, f"{path}:3: rest of the file cannot be read: {CUT}")]


@pytest.mark.parametrize("role", FILES)
@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (Path.unlink, "there is no file {path}"),
        (make_folder, "{path} is a folder"),
        (rewrite(""), "{path} is empty"),
        (rewrite("x y z\nx y\n"), "{path}:1: wrong number of tab-separated fields: x y z"),
        (rewrite("x\ty\n"), "{path}:1: wrong number of tab-separated fields: x | y"),
        (lambda path: path.write_bytes(b"\xff\xfe\n"), "{path}:1: not valid UTF-8"),
        (lambda path: path.write_bytes(gzip.compress(b"a\tb\tc\n")[:12]), "cannot be read"),
        (lambda path: path.write_bytes(gzip.compress(b"")), "{path} holds no line"),
    ],
    ids=["missing", "folder", "empty", "no_tabs", "two_columns", "not_utf8", "cut_gzip", "empty_gzip"],
)
def test_a_spoilt_file_is_found_and_named(paths: Paths, role: str, spoil: Callable[[Path], object], words: str) -> None:
    spoil(Path(paths[role]))
    ((faulty, fault),) = check_collection(paths)
    assert faulty == role
    assert words.format(path=paths[role]) in fault


def test_every_spoilt_file_is_found(paths: Paths) -> None:
    paths |= {"queries": "missing.queries", "judgments": "missing.rel"}
    assert [role for role, _ in check_collection(paths)] == ["queries", "judgments"]


@pytest.mark.parametrize("role", ["queries", "documents"])
def test_swapped_judgments_are_found(paths: Paths, role: str) -> None:
    paths["judgments"], paths[role] = paths[role], paths["judgments"]
    faults = dict(check_collection(paths))
    assert "is it swapped with data.judgments?" in faults.pop(role)
    assert "must hold lines of query_id, doc_id, grade" in faults.pop("judgments")
    assert not faults


def test_swapped_candidates_and_judgments_are_found(paths: Paths) -> None:
    paths["judgments"], paths["candidates"] = paths["candidates"], paths["judgments"]
    assert {role for role, _ in check_collection(paths)} == {"judgments", "candidates"}


def test_judgments_given_as_queries_are_found(paths: Paths) -> None:
    Path(paths["queries"]).write_text(FILES["judgments"])
    ((role, fault),) = check_collection(paths)
    assert role == "queries"
    assert "swapped with data.judgments" in fault


def test_numeric_queries_are_no_fault(paths: Paths) -> None:
    Path(paths["queries"]).write_text("q1\tNumber two\t2\nq2\tDog\tguards houses\n")
    assert check_collection(paths) == []


def test_ids_of_one_space_in_different_orders_are_no_fault(paths: Paths) -> None:
    """The heads of good files need not meet: here only the last queries are judged, for the last documents."""
    Path(paths["queries"]).write_text("".join(f"{i}\tWolf\tlives in packs\n" for i in range(3000)))
    Path(paths["documents"]).write_text("".join(f"{i}\tLoup\tvit en meute\n" for i in reversed(range(3000))))
    Path(paths["judgments"]).write_text("".join(f"{i + 2000}\t{i}\t2\n" for i in range(1000)))
    del paths["candidates"]
    assert check_collection(paths) == []


# Further pairs for the lexicon

PAIRS = "wolf\tloup\nlives in packs\tvit en meute\n"


def pairs_faults(path: str) -> list[str]:
    """The faults of a file of pairs."""
    given = GivenPath({"pairs": path}, ("lexicon", "pairs"), "pairs")
    return [fault for _, fault in check_inputs([given], None)]


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """A good file of pairs."""
    (tmp_path / "pairs.tsv").write_text(PAIRS)
    return tmp_path / "pairs.tsv"


@pytest.mark.parametrize(
    "content",
    [
        PAIRS.encode(),
        gzip.compress(PAIRS.encode()),
        b"\xef\xbb\xbf" + PAIRS.replace("\n", "\r\n").encode(),
        b"no tab\n\nthree\tof\tthem\n" + PAIRS.encode(),
    ],
    ids=["plain", "gzip", "windows", "bad lines"],
)
def test_good_pairs_have_no_fault(pairs: Path, content: bytes) -> None:
    pairs.write_bytes(content)
    assert pairs_faults(str(pairs)) == []


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (Path.unlink, "there is no file {path}."),
        (make_folder, "must be a file; {path} is a folder."),
        (rewrite(""), "{path} is empty."),
        (rewrite("a wolf loup\n"), "{path}:1: wrong number of tab-separated fields: a wolf loup"),
        (rewrite("wolf\tloup\tnan\n"), "{path}:1: weight is no number above 0 and up to 1e12: wolf | loup | nan"),
        (rewrite("wolf\t \n"), "{path}:1: empty text: wolf | "),
        (lambda path: path.write_bytes(b"\xff\tloup\n"), "{path}:1: not valid UTF-8"),
        (lambda path: path.write_bytes(gzip.compress(b"")), "{path} holds no line."),
        (
            lambda path: path.write_bytes(gzip.compress(PAIRS.encode())[:-8]),
            f"{{path}}:3: rest of the file cannot be read: {CUT}",
        ),
        (lambda path: path.write_bytes(gzip.compress(PAIRS.encode())[:12]), "cannot be read"),
    ],
    ids=[
        *("missing", "folder", "empty", "no_tabs", "no_weight", "empty_text", "not_utf8", "empty_gzip", "cut_gzip"),
        "gzip_head",
    ],
)
def test_spoilt_pairs_are_found(pairs: Path, spoil: Callable[[Path], object], words: str) -> None:
    spoil(pairs)
    (fault,) = pairs_faults(str(pairs))
    assert words.format(path=pairs) in fault


def test_each_file_of_a_pattern_must_be_readable(tmp_path: Path) -> None:
    for number in range(2):
        (tmp_path / f"pairs-{number}").write_text(PAIRS)
    pattern = str(tmp_path / "pairs-*")
    assert pairs_faults(pattern) == []
    (tmp_path / "pairs-1").write_text("")
    assert pairs_faults(pattern) == [f"{tmp_path}/pairs-1 is empty."]


@pytest.mark.parametrize("name", ["a[b]", "a*", "a?", "[!a]", "a\\b", "{a}", "a'b", "a\nb", "a b"])
def test_the_name_of_a_folder_that_is_there_is_no_pattern(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name / "x[1]"
    for one in (folder, tmp_path / "ab" / "x1"):
        one.mkdir(parents=True)
        (one / "pairs-0").write_text(PAIRS)
        (one / "pairs-1").write_text(PAIRS)
    assert files_of(str(folder / "pairs-0")) == [str(folder / "pairs-0")]
    assert files_of(str(folder / "pairs-*")) == [str(folder / "pairs-0"), str(folder / "pairs-1")]
    assert files_of(str(folder / "[ab]-*")) == []
    assert files_of(str(tmp_path / "a" / "pairs-*")) == []


def test_a_pattern_may_be_relative_and_in_a_folder_s_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("d1", "d2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "part").touch()
    monkeypatch.chdir(tmp_path)
    assert files_of("d*/part") == files_of("./d?/par*") == ["d1/part", "d2/part"]
    monkeypatch.chdir(tmp_path / "d1")
    assert files_of("../d2/*") == ["../d2/part"]


def test_a_pattern_without_pairs_and_another_scheme_are_faults(tmp_path: Path) -> None:
    assert pairs_faults(f"{tmp_path}/*.tsv") == [f"there is no file {tmp_path}/*.tsv."]
    (fault,) = pairs_faults("s3://bucket/pairs.tsv")
    assert fault.startswith("must be a local path, or one on Google Cloud Storage")


def test_remote_pairs_are_left_to_the_run() -> None:
    assert pairs_faults("gs://bucket/pairs.tsv") == []


TABLE = '{"loup": {"wolf": 0.5}, "chien": {"dog": 1}}'


@pytest.mark.parametrize(
    "content", [TABLE.encode(), gzip.compress(TABLE.replace("0.5", "NaN").encode())], ids=["plain", "gzipped"]
)
def test_a_table_with_a_good_entry_has_no_fault(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "psq.json.gz").write_bytes(content)
    assert pairs_faults(str(tmp_path / "psq.json.gz")) == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{}", "{path} holds no entry."),
        (PAIRS, "{path}:1: no JSON object {{document word: {{query word: weight}}}}: Expecting value (column 1)"),
        (TABLE.replace("}, ", "} "), "{path}:1: no JSON object"),
        (
            '{"loup": {"wolf": 0, "dog": -1}}',
            "{path} must hold entries with a weight; its first 2 hold none: {path}:1: weight is no number",
        ),
    ],
    ids=["empty", "lines", "no comma", "weights"],
)
def test_a_spoilt_table_is_found(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "psq.json"
    path.write_text(content)
    (fault,) = pairs_faults(str(path))
    assert fault.startswith(words.format(path=path))
