"""wikipedia/dumps/site_info.py: which wiki a dump is from, or why it is refused."""

import bz2
import gzip
import io

import pytest

from schemas.errors import DataError
from tests.wikipedia.dumps.dump_files import NAMESPACES, dump, header, multistream, opener, page
from wikipedia.dumps.site_info import SiteInfo, read_site_info, wiki_site

ENGLISH = SiteInfo("enwiki", "en", True, NAMESPACES)
WOLF = page(1, "Wolf", "A '''wolf'''.")


def read(content: bytes) -> SiteInfo:
    return read_site_info("dump.xml", opener({"dump.xml": content}))


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress], ids=["plain", "gz", "bz2"])
def test_the_header_says_which_wiki_it_is_however_the_file_is_packed(pack) -> None:
    assert read(pack(dump(WOLF))) == ENGLISH


def test_a_multistream_dump_has_its_header_in_a_stream_of_its_own() -> None:
    assert read(multistream([WOLF], 1)[0]) == ENGLISH


def test_the_version_before_is_read_too() -> None:
    assert read(dump(WOLF, version="0.10")) == ENGLISH


def test_a_byte_order_mark_an_xml_declaration_and_windows_line_ends_change_nothing() -> None:
    content = b"\xef\xbb\xbf<?xml version='1.0' encoding='utf-8'?>\r\n" + dump(WOLF).replace(b"\n", b"\r\n")
    assert read(content) == ENGLISH


def test_a_wiki_may_tell_small_letters_from_capitals() -> None:
    assert not read(dump(WOLF, case="case-sensitive")).first_letter


def test_language_links_call_a_wiki_by_its_database() -> None:
    assert [SiteInfo(name, "", True, {}).code for name in ("enwiki", "nowiki", "be_x_oldwiki")] == [
        *("en", "no", "be-x-old")
    ]


def test_a_header_that_is_followed_by_damage_is_read() -> None:
    assert read(header().encode() + b"<page><title>&nonsense;") == ENGLISH


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is empty"),
        (b"-- MySQL dump\n", "expected the XML of a MediaWiki export"),
        (b"<html><body>404</body></html>", "begins with <mediawiki>; got <html>"),
        (dump(WOLF, version="0.9"), "must be of version 0.10 or 0.11; got 0.9"),
        (b"<mediawiki/>", "must be of version 0.10 or 0.11; got none"),
        (b'<mediawiki version="0.11"/>', "there is none"),
        (b'<mediawiki version="0.11" xml:lang="en"><page/></mediawiki>', "there is no <siteinfo> before a page"),
        (dump(WOLF).replace(b"<dbname>enwiki</dbname>", b""), "<dbname> missing"),
        (dump(WOLF).replace(b'xml:lang="en"', b""), "xml:lang missing"),
        (dump(WOLF).replace(b'key="0"', b'key="zero"'), "must have a number as its key"),
        (b"<mediawiki version='0.11'>" + b" " * (1 << 21), "within its first 1,048,576 bytes"),
        (b"7z\xbc\xaf\x27\x1c\x00\x04", "this is 7-Zip"),
        (dump(WOLF)[:300], "there is none"),
        (gzip.compress(dump(WOLF))[:100], "gzip cannot unpack it"),
        (bz2.compress(dump(WOLF))[:100], "no bzip2 stream ends at byte 100"),
        (b"<!DOCTYPE mediawiki>" + dump(WOLF), "no document type"),
        (b"<?xml version='1.0' encoding='latin-1'?>" + dump(WOLF), "must be in UTF-8; got latin-1"),
        (dump(WOLF).decode().encode("utf-16"), "must be in UTF-8; got UTF-16"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_what_is_no_dump_of_pages_is_refused_with_the_reason(content: bytes, message: str) -> None:
    with pytest.raises(DataError, match="^dump.xml: ") as error:
        read(content)
    assert message in str(error.value)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(DataError, match="^none.xml: cannot be read: there is no such file"):
        read_site_info("none.xml", opener({}))


def test_a_file_may_turn_out_to_be_missing_at_its_first_byte() -> None:
    class NotFoundError(Exception):
        """TensorFlow's error of that name."""

    class Lazy(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise NotFoundError

    with pytest.raises(DataError, match="^none.xml: cannot be read: there is no such file"):
        read_site_info("none.xml", lambda path, mode: Lazy())


def test_a_file_that_may_not_be_read_is_an_error_with_its_reason(tmp_path) -> None:
    with pytest.raises(DataError, match=f"^{tmp_path}: cannot be read: Is a directory"):
        read_site_info(str(tmp_path), open)


# The wiki of several parts

FILES = {
    "en1": dump(WOLF),
    "en2": dump(page(2, "Dog", "A dog.")),
    "fr": dump(page(3, "Loup", "Un loup."), database="frwiki", language="fr"),
    "no": dump(page(4, "Ulv", "En ulv."), database="nowiki", language="nb"),
    "quotes": dump(WOLF, database="enwikiquote"),
}


def test_all_parts_of_a_dump_are_of_one_wiki() -> None:
    assert wiki_site(["en1", "en2"], "en", opener(FILES)) == ENGLISH
    with pytest.raises(DataError, match="^quotes: all parts of a dump must be of one wiki; this is enwikiquote"):
        wiki_site(["en1", "quotes"], "en", opener(FILES))


def test_a_dump_of_another_language_is_refused() -> None:
    with pytest.raises(DataError, match="^fr: expected a dump of a wiki in 'en'; this is frwiki, in 'fr'"):
        wiki_site(["fr"], "en", opener(FILES))


@pytest.mark.parametrize("language", ["nb", "no"])
def test_a_wiki_is_known_by_its_language_and_by_its_name(language: str) -> None:
    assert wiki_site(["no"], language, opener(FILES)).database == "nowiki"
