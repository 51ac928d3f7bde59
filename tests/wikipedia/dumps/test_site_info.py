"""wikipedia/dumps/site_info.py: which wiki a dump is from, or why it is refused."""

import bz2
import gzip
from pathlib import Path

import pytest

from schemas.errors import DataError
from smooth_clir.wikipedia.dumps.site_info import SiteInfo, read_site_info, wiki_site
from tests.memory_files import in_memory
from tests.wikipedia.dumps.dump_files import NAMESPACES, dump, header, multistream, page

ENGLISH = SiteInfo("enwiki", "en", True, NAMESPACES)
WOLF = page(1, "Wolf", "A '''wolf'''.")


def read(content: bytes) -> SiteInfo:
    with in_memory({"dump.xml": content}):
        return read_site_info("dump.xml")


@pytest.mark.parametrize(
    "content",
    [
        *(pack(dump(WOLF)) for pack in (bytes, gzip.compress, bz2.compress)),
        multistream([WOLF], 1)[0],
        dump(WOLF, version="0.10"),
        b"\xef\xbb\xbf<?xml version='1.0' encoding='utf-8'?>\r\n" + dump(WOLF).replace(b"\n", b"\r\n"),
        header().encode() + b"<page><title>&nonsense;",
    ],
    ids=["plain", "gz", "bz2", "multistream", "0.10", "Windows", "damage"],
)
def test_the_header_says_which_wiki_it_is_however_the_file_is_packed(content: bytes) -> None:
    assert read(content) == ENGLISH


def test_a_wiki_may_tell_small_letters_from_capitals_and_has_a_code() -> None:
    assert not read(dump(WOLF, case="case-sensitive")).first_letter
    codes = {name: SiteInfo(name, "", True, {}).code for name in ("enwiki", "nowiki", "be_x_oldwiki")}
    assert codes == {"enwiki": "en", "nowiki": "no", "be_x_oldwiki": "be-x-old"}


@pytest.mark.parametrize(
    ("content", "value"),
    [
        *((b"", ""), (b"-- MySQL dump\n", ""), (b"<html><body>404</body></html>", "<html>")),
        *((dump(WOLF, version="0.9"), "0.9"), (b"<mediawiki/>", "0.10 or 0.11")),
        (b'<mediawiki version="0.11"/>', ""),
        (b'<mediawiki version="0.11" xml:lang="en"><page/></mediawiki>', "<siteinfo>"),
        (dump(WOLF).replace(b"<dbname>enwiki</dbname>", b""), "<dbname>"),
        (dump(WOLF).replace(b'xml:lang="en"', b""), "xml:lang"),
        (dump(WOLF).replace(b'key="0"', b'key="zero"'), "key"),
        (b"<mediawiki version='0.11'>" + b" " * (1 << 21), "1,048,576"),
        *((b"7z\xbc\xaf\x27\x1c\x00\x04", "7-Zip"), (dump(WOLF)[:300], "")),
        *((gzip.compress(dump(WOLF))[:100], "gzip"), (bz2.compress(dump(WOLF))[:100], "byte 100")),
        (b"<!DOCTYPE mediawiki>" + dump(WOLF), "document type"),
        (b"<?xml version='1.0' encoding='latin-1'?>" + dump(WOLF), "latin-1"),
        (dump(WOLF).decode().encode("utf-16"), "UTF-16"),
    ],
)
def test_what_is_no_dump_of_pages_is_refused_with_the_reason(content: bytes, value: str) -> None:
    with pytest.raises(DataError, match=f"^dump.xml: .*{value}"):
        read(content)


def test_a_missing_file_and_one_that_may_not_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="^none.xml does not exist"):
        read_site_info("none.xml")
    with pytest.raises(DataError, match=f"^Cannot read {tmp_path}: Is a directory"):
        read_site_info(str(tmp_path))


# The wiki of several parts

FILES = {
    "en1": dump(WOLF),
    "en2": dump(page(2, "Dog", "A dog.")),
    "fr": dump(page(3, "Loup", "Un loup."), database="frwiki", language="fr"),
    "no": dump(page(4, "Ulv", "En ulv."), database="nowiki", language="nb"),
    "quotes": dump(WOLF, database="enwikiquote"),
}


def test_all_parts_of_a_dump_are_of_one_wiki_in_the_language() -> None:
    with in_memory(FILES):
        assert wiki_site(["en1", "en2"], "en") == ENGLISH
        assert [wiki_site(["no"], language).database for language in ("nb", "no")] == ["nowiki"] * 2
    for parts, values in ((["en1", "quotes"], "quotes: .*enwikiquote"), (["fr"], "fr: .*'en'.* frwiki, in 'fr'")):
        with in_memory(FILES), pytest.raises(DataError, match=f"^{values}"):
            wiki_site(parts, "en")
