"""wikipedia/dumps/files.py: the files of a dump are found, and compared with their checksums."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from schemas.errors import DataError
from smooth_clir.wikipedia.dumps.files import FileSum, check_sum, find_dump_files
from tests.memory_files import in_memory

PREFIX = "dumps/enwiki-20240101-pages-articles"


def find(*there: str) -> Sequence[str]:
    return find_dump_files("dumps/*", lambda pattern: there)


@pytest.mark.parametrize(
    "parts",
    [
        [f"{PREFIX}{part}.bz2" for part in ("1.xml-p1p41242", "2.xml-p41243p151573", "10.xml-p4045403p5399366",
                                            "27.xml-p73500000p74999999", "27.xml-p75000000p75714215")],
        ["dumps/w1.xml.gz", "dumps/w2.xml.gz", "dumps/w10.xml.gz"],
        ["d/enwiki-2026-03-01-p10p1147431.xml.bz2", "d/enwiki-2026-03-01-p1147432p2304872.xml.bz2"],
        [f"{PREFIX}-multistream1.xml-p1p41242.bz2"],
    ],
    ids=["numbers and pages", "numbers", "pages", "multistream"],
)  # fmt: skip
def test_parts_come_in_the_order_of_their_pages_and_ignored_files_are_left_out(parts: list[str]) -> None:
    folder = parts[0].rpartition("/")[0]
    ignored_files = [
        f"{parts[0]}.sha256",
        f"{PREFIX}-multistream-index1.txt-p1p41242.bz2",
        "dumps/enwiki-20240101-page.sql.gz",
    ]
    ignored_files = [*ignored_files, f"{folder}/SHA256SUMS", f"{folder}/_SUCCESS"]
    assert find(*sorted(parts), *ignored_files) == find(*ignored_files, *reversed(parts)) == parts


def test_files_are_looked_for_on_disk_where_a_path_is_a_pattern(tmp_path: Path) -> None:
    for name in ("w1.xml-p1p2.bz2", "w2.xml-p3p4.bz2"):
        (tmp_path / name).touch()
    assert find_dump_files(f"{tmp_path}/w*.bz2") == [f"{tmp_path}/w1.xml-p1p2.bz2", f"{tmp_path}/w2.xml-p3p4.bz2"]
    assert find_dump_files("my dump") == ["my dump"]
    with pytest.raises(DataError, match=r"dumps/\*"):
        find("dumps/readme.txt")


@pytest.mark.parametrize(
    "there",
    [
        ["d/enwiki-20240101-pages-articles.xml.bz2", "d/frwiki-20240101-pages-articles.xml.bz2"],
        ["d/enwiki-20240101-pages-articles1.xml-p1p9.bz2", "d/enwiki-20240201-pages-articles2.xml-p10p19.bz2"],
        ["d/w-pages-articles1.xml-p1p9.bz2", "d/w-pages-articles-multistream1.xml-p1p9.bz2"],
        ["d/w-pages-articles.xml.bz2", "d/w-stub-articles.xml.gz"],
        ["a/w1.xml-p1p9.bz2", "b/w2.xml-p10p19.bz2"],
    ],
)
def test_files_of_several_dumps_are_refused(there: list[str]) -> None:
    with pytest.raises(DataError, match=r"^dumps/\* .* 2 dumps: "):
        find(*there)


@pytest.mark.parametrize(
    "there",
    [
        *(["w.xml.bz2", second] for second in ("w1.xml-p1p9.bz2", "w1.xml.bz2", "w.xml")),
        *(["w1.xml.bz2", second] for second in ("w1.xml.gz", "w1.xml-p1p9.bz2")),
        *(["w1.xml-p1p9.bz2", second] for second in ("w1.xml-p1p9.gz", "w1.xml-p9p12.bz2")),
        ["w1.xml-p1p99.bz2", "w1.xml-p5p6.bz2"],
    ],
)
def test_a_page_that_two_files_may_have_is_refused(there: list[str]) -> None:
    for order in (there, there[::-1]):
        with pytest.raises(DataError, match="may have pages in common"):
            find(*order)


@pytest.mark.parametrize("name", ["a[b]", "a*", "a?b"])
def test_a_file_that_is_there_is_itself_whatever_its_name(tmp_path: Path, name: str) -> None:
    dump = tmp_path / name / "my dump"
    dump.parent.mkdir()
    dump.touch()
    assert find_dump_files(str(dump)) == [str(dump)]


NAME = "enwiki-20240101-pages-articles1.xml-p1p9.bz2"
PATH = f"dumps/{NAME}"
CONTENT = b"content" * 1000
SHA256, SHA1, MD5 = (hashlib.new(name, CONTENT).hexdigest() for name in ("sha256", "sha1", "md5"))


def check(**sums: str) -> FileSum:
    """Checks the file with checksum files of these names beside it."""
    beside = {f"dumps/{name}": text.encode() for name, text in sums.items()}
    with in_memory({PATH: CONTENT} | beside):
        return check_sum(PATH)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("SHA256SUMS", f"{SHA256}  {NAME}\n"),
        ("SHA256SUMS", f"{'0' * 64}  other.bz2\n{SHA256} *./{NAME}\r\n"),
        *(("SHA256SUMS", f"SHA256 ({NAME}) = {SHA256.upper()}\n"), ("SHA1SUMS", f"{SHA1}  {NAME}\n")),
        *(("MD5SUMS", f"{MD5}  {NAME}\n"), ("enwiki-20240101-sha1sums.txt", f"{SHA1}  {NAME}\n")),
        *(("enwiki-20240101-md5sums.txt", f"{MD5}  {NAME}\n"), (f"{NAME}.sha256", f"{SHA256}\n")),
        (f"{NAME}.sha1", f"{SHA1}  {NAME}"),
    ],
)
def test_a_file_that_its_checksum_names_is_verified(name: str, text: str) -> None:
    assert check(**{name: text}) == FileSum(PATH, len(CONTENT), SHA256, (f"dumps/{name}",))


def test_every_checksum_of_a_file_counts() -> None:
    sums = {"SHA256SUMS": f"{SHA256}  {NAME}\n", "enwiki-20240101-sha1sums.txt": f"{SHA1}  {NAME}\n"}
    assert check(**sums).verified_by == ("dumps/SHA256SUMS", "dumps/enwiki-20240101-sha1sums.txt")
    with pytest.raises(DataError, match="sha1 0000"):
        check(**(sums | {"enwiki-20240101-sha1sums.txt": f"{'0' * 40}  {NAME}\n"}))


@pytest.mark.parametrize(
    "text", [f"{SHA256}  other.bz2\n", f"{SHA256}\n", "<html>404</html>\n", "", f"{SHA1}  {NAME}\n"]
)
def test_a_file_that_no_checksum_names_is_unverified(text: str) -> None:
    assert check(SHA256SUMS=text) == FileSum(PATH, len(CONTENT), SHA256, ())


def test_a_wrong_checksum_is_an_error_that_says_which() -> None:
    with pytest.raises(DataError, match=f"^{PATH}: .* sha256 {'1' * 64} by {PATH}.sha256; got {SHA256} "):
        check(**{f"{NAME}.sha256": "1" * 64})


def test_a_missing_file_is_an_error_and_a_file_with_a_long_name_has_no_checksum(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="^none does not exist"):
        check_sum("none")
    dump = tmp_path / ("a" * 250)
    dump.write_bytes(CONTENT)
    assert check_sum(str(dump)) == FileSum(str(dump), len(CONTENT), SHA256, ())
