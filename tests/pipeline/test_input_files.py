"""pipeline/input_faults.py: what a first look at the files finds; and pipeline/input_files.py: patterns of names."""

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.input_faults import check_collection, check_inputs
from pipeline.input_files import files_of
from schemas.columns import COLUMNS
from schemas.settings import PathSetting

TEXTS = {
    "queries": "q1\tWolf\tlives in packs\nq2\tDog\tguards houses\n",
    "documents": "d1\tLoup\tvit en meute\nd2\tChien\tgarde les maisons\n",
    "judgments": "q1\td1\t2\nq2\td2\t2\n",
    "candidates": "q1\td1\t2\ttrain\nq2\td2\t2\ttest\n",
    "pairs": "wolf\tloup\nlives in packs\tvit en meute\n",
}
COLLECTION = [role for role in TEXTS if role != "pairs"]
TABLE = '{"loup": {"wolf": 0.5}, "chien": {"dog": 1}}'

Change = Callable[[bytes], bytes]


def faults(paths: dict[str, str]) -> list[tuple[str, str]]:
    """Role and fault of each file that has one; pairs of a lexicon are looked at alone."""
    if "pairs" not in paths:
        return check_collection(paths)
    return [("pairs", fault) for _, fault in check_inputs([PathSetting(paths, ("lexicon", "pairs"), "pairs")], None)]


@pytest.fixture
def paths(tmp_path: Path) -> dict[str, str]:
    """Good files of a collection, one a role."""
    for role, text in TEXTS.items():
        (tmp_path / role).write_text(text)
    return {role: str(tmp_path / role) for role in COLLECTION}


@pytest.fixture
def pairs(paths: dict[str, str], tmp_path: Path) -> Path:
    """A good file of pairs."""
    return tmp_path / "pairs"


# Files without a fault, some lines of which the run leaves out

GOOD: dict[str, Change] = {
    "plain": lambda content: content,
    "gzip, whatever the name": gzip.compress,
    "windows": lambda content: b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n"),
    "bad lines": lambda content: b"no tab\n\n" + content,
}


@pytest.mark.parametrize("change", GOOD.values(), ids=GOOD)
def test_good_files_have_no_fault(paths: dict[str, str], pairs: Path, change: Change) -> None:
    for path in map(Path, [*paths.values(), pairs]):
        path.write_bytes(change(path.read_bytes()))
    assert faults(paths) == faults({"pairs": str(pairs)}) == []
    del paths["candidates"]
    assert faults(paths) == []


def test_one_document_among_the_first_lines_of_many_is_left_to_the_run(paths: dict[str, str]) -> None:
    first, _ = TEXTS["documents"].splitlines()
    Path(paths["documents"]).write_text(first + 2000 * "\nno tab")
    del paths["candidates"]
    assert faults(paths) == []
    Path(paths["documents"]).write_text(first)
    ((role, fault),) = faults(paths)
    assert role == "documents" and "got 1" in fault


def test_numeric_queries_are_no_fault(paths: dict[str, str]) -> None:
    Path(paths["queries"]).write_text("q1\tNumber two\t2\nq2\tDog\tguards houses\n")
    assert faults(paths) == []


def test_ids_of_one_space_in_different_orders_are_no_fault(paths: dict[str, str]) -> None:
    """The heads of good files need not meet: here only the last queries are judged, for the last documents."""
    Path(paths["queries"]).write_text("".join(f"{i}\tWolf\tlives in packs\n" for i in range(3000)))
    Path(paths["documents"]).write_text("".join(f"{i}\tLoup\tvit en meute\n" for i in reversed(range(3000))))
    Path(paths["judgments"]).write_text("".join(f"{i + 2000}\t{i}\t2\n" for i in range(1000)))
    del paths["candidates"]
    assert faults(paths) == []


@pytest.mark.parametrize("change", [lambda text: text, lambda text: text.replace("0.5", "NaN")])
@pytest.mark.parametrize("pack", [lambda content: content, gzip.compress])
def test_a_table_with_a_good_entry_has_no_fault(tmp_path: Path, change, pack) -> None:
    path = tmp_path / "psq.json.gz"
    path.write_bytes(pack(change(TABLE).encode()))
    assert faults({"pairs": str(path)}) == []


# Files that a run would refuse

SPOILT: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (Path.unlink, r"{path}\.$"),
    "folder": (lambda path: (path.unlink(), path.mkdir()), "{path} is"),
    "empty": (lambda path: path.write_text(""), "{path} is"),
    "no tabs": (lambda path: path.write_text("x y z\nx y\n"), r"{path}:1: .*x y z"),
    "not UTF-8": (lambda path: path.write_bytes(b"\xff\xfe\n"), r"{path}:1: .*UTF-8"),
    "cut gzip": (lambda path: path.write_bytes(gzip.compress(path.read_bytes())[:12]), "{path}"),
    "cut below good lines": (lambda path: path.write_bytes(gzip.compress(path.read_bytes())[:-8]), "{path}:3: "),
    "empty gzip": (lambda path: path.write_bytes(gzip.compress(b"")), "{path} holds"),
}


@pytest.mark.parametrize("role", TEXTS)
@pytest.mark.parametrize(("spoil", "match"), SPOILT.values(), ids=SPOILT)
def test_a_spoilt_file_is_named(paths: dict[str, str], pairs: Path, role: str, spoil, match: str) -> None:
    files = {"pairs": str(pairs)} if role == "pairs" else paths
    spoil(Path(files[role]))
    ((faulty, fault),) = faults(files)
    assert faulty == role
    assert re.search(match.format(path=re.escape(files[role])), fault), fault


@pytest.mark.parametrize("role", COLLECTION)
@pytest.mark.parametrize("line", ["x\ty\tz\tw\tv", "doc_id\tquery_id\tnote"])
def test_a_file_in_no_form_of_its_role_and_a_header_that_lacks_a_column_are_named(
    paths: dict[str, str], role: str, line: str
) -> None:
    Path(paths[role]).write_text(f"{line}\n{line}\n")
    ((faulty, fault),) = faults(paths)
    assert faulty == role and f"{paths[role]}:1: " in fault and line.replace("\t", " | ") in fault
    assert set(COLUMNS[role].names) <= set(re.findall(r"\w+", fault))


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("pairs.tsv", "wolf\tloup\tnan\n", "{path}:1: .*wolf . loup . nan"),
        ("pairs.tsv", "wolf\t \n", "{path}:1: .*wolf"),
        ("psq.json", "{}", "^{path} holds"),
        ("psq.json", TEXTS["pairs"], r"^{path}:1: .*column 1\)"),
        ("psq.json", TABLE.replace("}, ", "} "), "^{path}:1: "),
        ("psq.json", '{"loup": {"wolf": 0, "dog": -1}}', "^{path} .* 2 .*{path}:1: "),
    ],
)
def test_spoilt_pairs_are_shown(tmp_path: Path, name: str, text: str, shown: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    ((_, fault),) = faults({"pairs": str(path)})
    assert re.search(shown.format(path=re.escape(str(path))), fault), fault


def test_every_spoilt_file_is_named(paths: dict[str, str]) -> None:
    paths |= {"queries": "missing.queries", "judgments": "missing.rel"}
    assert [role for role, _ in faults(paths)] == ["queries", "judgments"]


@pytest.mark.parametrize(
    ("first", "second", "faulty"),
    [
        ("queries", "judgments", {"queries", "judgments"}),
        ("documents", "judgments", {"documents", "judgments"}),
        ("candidates", "judgments", {"candidates", "judgments"}),
        ("queries", "documents", {"queries"}),
    ],
)
def test_swapped_files_are_found(paths: dict[str, str], first: str, second: str, faulty: set[str]) -> None:
    paths[first], paths[second] = paths[second], paths[first]
    assert {role for role, _ in faults(paths)} == faulty


def test_judgments_given_as_queries_are_found(paths: dict[str, str]) -> None:
    Path(paths["queries"]).write_text(TEXTS["judgments"])
    ((role, fault),) = faults(paths)
    assert role == "queries" and "data.judgments" in fault


# Patterns of names


def test_each_file_of_a_pattern_must_be_readable(pairs: Path) -> None:
    second = pairs.with_name("pairs-1")
    second.write_text("")
    ((_, fault),) = faults({"pairs": f"{pairs}*"})
    assert str(second) in fault
    second.write_text(TEXTS["pairs"])
    assert faults({"pairs": f"{pairs}*"}) == []


@pytest.mark.parametrize("name", ["a[b]", "a*", "a?", "[!a]", "a\\b", "{a}", "a'b", "a\nb", "a b"])
def test_the_name_of_a_folder_that_is_there_is_no_pattern(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name / "x[1]"
    for parent in (folder, tmp_path / "ab" / "x1"):
        parent.mkdir(parents=True)
        (parent / "pairs-0").touch()
        (parent / "pairs-1").touch()
    assert files_of(str(folder / "pairs-0")) == [str(folder / "pairs-0")]
    assert files_of(str(folder / "pairs-*")) == [str(folder / "pairs-0"), str(folder / "pairs-1")]
    assert files_of(str(folder / "[ab]-*")) == []
    assert files_of(str(tmp_path / "a" / "pairs-*")) == []


def test_a_pattern_may_be_relative_and_name_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("d1", "d2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "part").touch()
    monkeypatch.chdir(tmp_path)
    assert files_of("d*/part") == files_of("./d?/par*") == ["d1/part", "d2/part"]
    monkeypatch.chdir(tmp_path / "d1")
    assert files_of("../d2/*") == ["../d2/part"]


@pytest.mark.parametrize(
    ("path", "shown"), [("none/*.tsv", ["none/*.tsv"]), ("s3://bucket/p", ["s3://bucket/p"]), ("gs://bucket/p", [])]
)
def test_a_pattern_without_files_and_another_scheme_are_faults_and_a_bucket_is_left_to_the_run(path, shown) -> None:
    got = faults({"pairs": path})
    assert len(got) == len(shown) and all(text in fault for text, (_, fault) in zip(shown, got, strict=True))
