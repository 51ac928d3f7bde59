"""dumps/checksums.py: a file is what was published, or that is said."""

import hashlib

import pytest

from components.wikipedia_gen.dumps.checksums import FileSum, check_sums
from schemas.errors import DataError
from tests.components.wikipedia_gen.dumps.dump_files import opener

NAME = "enwiki-20240101-pages-articles1.xml-p1p9.bz2"
PATH = f"dumps/{NAME}"
CONTENT = b"content" * 1000
SHA256, SHA1, MD5 = (hashlib.new(name, CONTENT).hexdigest() for name in ("sha256", "sha1", "md5"))


def check(**sums: str) -> tuple[FileSum, list[str]]:
    """What is found with files of checksums, by their names with `_` for `.` and `-`."""
    said: list[str] = []
    beside = {f"dumps/{name}": text.encode() for name, text in sums.items()}
    (one,) = check_sums([PATH], said.append, opener({PATH: CONTENT} | beside))
    return one, said


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("SHA256SUMS", f"{SHA256}  {NAME}\n"),
        ("SHA256SUMS", f"{'0' * 64}  other.bz2\n{SHA256} *./{NAME}\r\n"),
        ("SHA256SUMS", f"SHA256 ({NAME}) = {SHA256.upper()}\n"),
        ("SHA1SUMS", f"{SHA1}  {NAME}\n"),
        ("MD5SUMS", f"{MD5}  {NAME}\n"),
        ("enwiki-20240101-sha1sums.txt", f"{SHA1}  {NAME}\n"),
        ("enwiki-20240101-md5sums.txt", f"{MD5}  {NAME}\n"),
        (f"{NAME}.sha256", f"{SHA256}\n"),
        (f"{NAME}.sha1", f"{SHA1}  {NAME}"),
    ],
)
def test_a_file_that_its_checksum_names_is_verified(name: str, text: str) -> None:
    one, said = check(**{name: text})
    assert one == FileSum(PATH, len(CONTENT), SHA256, (f"dumps/{name}",))
    assert said == []


def test_every_checksum_of_a_file_counts() -> None:
    sums = {"SHA256SUMS": f"{SHA256}  {NAME}\n", "enwiki-20240101-sha1sums.txt": f"{SHA1}  {NAME}\n"}
    one, _ = check(**sums)
    assert one.verified_by == ("dumps/SHA256SUMS", "dumps/enwiki-20240101-sha1sums.txt")
    with pytest.raises(DataError, match="wrong checksum: expected sha1 0000"):
        check(**(sums | {"enwiki-20240101-sha1sums.txt": f"{'0' * 40}  {NAME}\n"}))


@pytest.mark.parametrize(
    "text", [f"{SHA256}  other.bz2\n", f"{SHA256}\n", "<html>404</html>\n", "", f"{SHA1}  {NAME}\n"]
)
def test_a_file_that_no_checksum_names_is_said_to_be_unverified(text: str) -> None:
    one, said = check(SHA256SUMS=text)
    assert one == FileSum(PATH, len(CONTENT), SHA256, ())
    assert said == [f"{PATH}: not verified, for no file of checksums beside it names it."]


def test_a_wrong_checksum_is_an_error_that_says_which() -> None:
    with pytest.raises(DataError) as error:
        check(**{f"{NAME}.sha256": "1" * 64})
    assert str(error.value).startswith(
        f"{PATH}: wrong checksum: expected sha256 {'1' * 64} by {PATH}.sha256; got {SHA256} of 7,000 bytes."
    )


def test_every_file_is_checked_in_its_order() -> None:
    files = {"a": b"1", "b": b"22", "SHA256SUMS": f"{hashlib.sha256(b'22').hexdigest()}  b\n".encode()}
    said: list[str] = []
    sums = check_sums(["b", "a"], said.append, opener(files))
    assert [(one.path, one.size, bool(one.verified_by)) for one in sums] == [("b", 2, True), ("a", 1, False)]
    assert len(said) == 1


def test_a_missing_file_is_an_error() -> None:
    with pytest.raises(DataError, match="^none: cannot be read"):
        check_sums(["none"], print, opener({}))
