"""The collection: nothing that can be read is lost on the way, and every line keeps its number."""

import bz2
import gzip
import io
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.collection_gen import write_collection as module
from components.collection_gen.write_collection import write_collection
from schemas import byte_streams, wikiclir
from schemas.byte_streams import input_digest
from schemas.collection import (
    COPIES_FILE,
    MANIFEST_FILE,
    InputFile,
    Role,
    parse_manifest,
    read_raw_documents,
    read_texts,
)
from schemas.collection import parse_judgments as parse_judgment_lines
from schemas.drops import Drop
from schemas.errors import DataError
from schemas.record_files import parse_role
from schemas.wikiclir import Judgment, Reason, Text
from tests.components.collected import collect

TOP_GRADE = 2
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_judgments(stream, shard):
    return parse_judgment_lines(stream, shard.first_line)


READERS = {"queries": read_texts, "documents": read_texts, "judgments": read_judgments, "candidates": read_judgments}
STORES = [bytes, gzip.compress, bz2.compress]

# Records, their parts, and bytes that break them.
RECORDS = [
    b"1\ta\tb\n",
    b"2\tc\td\r\n",
    b"1\t2\t2\n",
    b"2\t1\t0\ttest\n",
    "\u0085\t\u2028\t\ufeff\n".encode(),
    b"3\t\tx\r\r\n",
]
PARTS = [b"\t", b"\n", b"\r", b"\r\n", b"7", b"x", b" ", b"\x00", b"\xff", BYTE_ORDER_MARK, "\u0085\u2028é".encode()]
blobs = st.one_of(
    st.lists(st.sampled_from(RECORDS + PARTS), max_size=30).map(b"".join),
    st.binary(),
).filter(lambda blob: not blob.startswith((b"\x1f\x8b", b"BZh")))
several_blobs = st.lists(blobs, max_size=3)


@contextmanager
def collected(
    role: str, blobs: Sequence[bytes], buffer: int = 16, shard_bytes: int = 40
) -> Iterator[tuple[Path, Role]]:
    """The collection of one role's files, in small shards: its folder, and what the manifest says."""
    with tempfile.TemporaryDirectory() as parent, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BUFFER", buffer)
        patch.setattr(module, "_SHARD_BYTES", shard_bytes)
        folder = Path(parent, "collection")
        collect(folder, {role: blobs})
        yield folder, parse_manifest((folder / MANIFEST_FILE).read_text())[role]


def parsed(role: str, blobs: Sequence[bytes]) -> list[Text | Judgment | Drop]:
    """The items that the format's parsers make of the files one by one, as of one file."""
    items: list[Text | Judgment | Drop] = []
    seen: set[str] = set()
    for blob in blobs:
        before = len(items)
        for item in parse_role(role, io.BytesIO(blob), "", TOP_GRADE, set()):
            if isinstance(item, Text):
                if item.id in seen:
                    excerpt = wikiclir.excerpt_of(f"{item.id}\t{item.title}\t{item.text}")
                    item = Drop(Reason.DUPLICATE_ID, "", item.line, excerpt)
                else:
                    seen.add(item.id)
            items.append(item._replace(line=before + item.line))
    return items


def shard_lines(folder: Path, role: Role) -> list[bytes]:
    """The lines of all shards; a shard ends with a line end."""
    content = b"".join((folder / shard.name).read_bytes() for shard in role.shards)
    *lines, end = content.split(b"\n")
    assert end == b""
    return lines


def digest_of(content: bytes) -> str:
    return sha256(content).hexdigest()


@pytest.mark.parametrize("role", ["queries", "documents"])
def test_a_text_in_several_languages_begins_its_fields_with_its_own_and_one_in_none_of_them_is_dropped(tmp_path, role):
    path = tmp_path / "texts.jsonl"
    path.write_text(
        '{"id": 1, "text": "un loup", "lang": "fr", "year": 2020}\n{"id": 2, "text": "ein Wolf", "lang": "de"}\n'
        '{"id": 3, "text": "a wolf", "lang": "en"}\n{"id": 4, "text": "?"}\n'
    )
    (tmp_path / "out").mkdir()
    fields = ["year"] if role == "documents" else []
    paths, languages = {role: [str(path)]}, {role: ["de", "fr"]}
    roles = write_collection(paths, {}, TOP_GRADE, str(tmp_path / "out"), fields=fields, languages=languages)
    (shard,) = roles[role].shards
    with (tmp_path / "out" / shard.name).open("rb") as stream:
        values = [text.fields for text in read_texts(stream, shard)]
    assert values == ([("fr", "2020"), ("de", "")] if role == "documents" else [("fr",), ("de",)])
    report = roles[role].report
    assert (report.read, report.used) == (4, 2)
    (drops,) = report.drops
    assert (drops.reason, [drop.excerpt for drop in drops.examples]) == (Reason.OTHER_LANGUAGE, ["3 | en", "4 | "])


@pytest.mark.parametrize("role", READERS)
@settings(max_examples=25)
@given(store=st.sampled_from(STORES), blobs=several_blobs)
def test_each_line_is_a_record_at_its_place_or_a_drop_with_its_reason(role, store, blobs):
    with collected(role, [store(blob) for blob in blobs]) as (folder, written):
        lines, read = shard_lines(folder, written), []
        for shard in written.shards:
            with (folder / shard.name).open("rb") as stream:
                read += READERS[role](stream, shard)
    items = parsed(role, blobs)
    assert read == [item for item in items if not isinstance(item, Drop)]
    assert lines == [b"" if isinstance(item, Drop) else item.tsv().encode() for item in items]
    drops = [item for item in items if isinstance(item, Drop)]
    assert written.report.read == len(items)
    assert [file.lines for file in written.files] == [len(parsed(role, [blob])) for blob in blobs]
    assert {counted.reason: counted.count for counted in written.report.drops} == Counter(drop.reason for drop in drops)
    for counted in written.report.drops:
        examples = [(drop.line, drop.excerpt) for drop in drops if drop.reason is counted.reason]
        assert [(line_of(written, example), example.excerpt) for example in counted.examples] == examples[:5]


def line_of(role: Role, drop: Drop) -> int:
    """The line of a left-out record among the lines of all files."""
    (file,) = (number for number, file in enumerate(role.files) if file.path == drop.file)
    return sum(file.lines for file in role.files[:file]) + drop.line


@given(several_blobs, st.integers(1, 60), st.integers(1, 60))
def test_shards_follow_each_other_and_each_but_the_last_of_a_file_is_full(blobs, buffer, shard_bytes):
    good = [b"".join(b"%d-%d\t\tx\n" % (n, line) for line in range(len(blob))) for n, blob in enumerate(blobs)]
    with collected("documents", good, buffer, shard_bytes) as (folder, written):
        contents = {shard.name: (folder / shard.name).read_bytes() for shard in written.shards}
    before = 0
    for shard in written.shards:
        assert (shard.first_line, shard.lines) == (before + 1, contents[shard.name].count(b"\n"))
        before += shard.lines
    assert before == written.report.read
    for number, blob in enumerate(good):
        own = [content for name, content in contents.items() if name.startswith(f"documents-{number:05}-")]
        names = [f"documents-{number:05}-{n:05}.tsv" for n in range(len(own))]
        assert [contents[name] for name in names] == own
        assert b"".join(own) == blob
        assert all(len(content) >= shard_bytes for content in own[:-1])
        longest = max(map(len, blob.splitlines(keepends=True)), default=0)
        assert all(0 < len(content) < shard_bytes + buffer + longest for content in own)


@given(several_blobs)
def test_ids_and_raw_texts_of_the_shards_are_those_of_the_records(blobs):
    with collected("documents", blobs) as (folder, written):
        names = [(shard.name, shard.ids_name) for shard in written.shards]
        stored = [((folder / name).read_bytes(), (folder / ids_name).read_bytes()) for name, ids_name in names]
    records = [item for item in parsed("documents", blobs) if isinstance(item, Text)]
    for content, ids in stored:
        assert [line.partition(b"\t")[0] for line in content.split(b"\n")] == ids.split(b"\n")
    all_ids = b"".join(ids for _, ids in stored).decode().split("\n")
    assert [*filter(None, all_ids)] == [record.id for record in records]
    raw = [text for content, _ in stored for _, text in read_raw_documents(io.BytesIO(content))]
    assert raw == [record.text.encode() for record in records]


def test_files_may_be_read_in_any_order(tmp_path):
    contents = {"documents": [b"d1\ta\tb\n", b"d1\tc\td\nd2\te\tf\n", b"d2\tg\th\n"]}

    def backwards(work, items):
        return [work(item) for item in list(items)[::-1]][::-1]

    roles = collect(tmp_path / "forwards", contents)
    (tmp_path / "backwards").mkdir()
    paths = {"documents": [str(tmp_path / f"documents-{n}") for n in range(3)]}
    assert write_collection(paths, {}, TOP_GRADE, str(tmp_path / "backwards"), backwards) == roles
    for path in (tmp_path / "forwards").iterdir():
        assert (tmp_path / "backwards" / path.name).read_bytes() == path.read_bytes()


def test_the_manifest_holds_the_returned_roles_and_queries_and_documents_may_share_ids(tmp_path):
    contents = {"queries": [b"1\ta\tb\n\xff\n", b""], "documents": gzip.compress("1\tZoé\tx\n".encode())}
    digest = input_digest([digest_of(content) for content in contents["queries"]])
    roles = collect(tmp_path / "collection", contents, {"queries": digest})
    assert parse_manifest((tmp_path / "collection" / MANIFEST_FILE).read_text()) == roles
    assert [role.report.used for role in roles.values()] == [1, 1]
    assert roles["queries"].files == (
        InputFile(str(tmp_path / "queries-0"), digest_of(contents["queries"][0]), 2),
        InputFile(str(tmp_path / "queries-1"), digest_of(b""), 0),
    )


@pytest.mark.parametrize("names", [["queries"], ["queries-0", "queries-1"]])
def test_other_bytes_than_those_of_the_digest_are_refused_with_both_digests(tmp_path, names):
    contents = [b"1\ta\tb\n", b"2\tc\td\n"][: len(names)]
    digest = input_digest([digest_of(content) for content in contents])
    files = {"queries": contents if len(names) > 1 else contents[0], "documents": b"d1\ta\tb\n"}
    paths = " and ".join(str(tmp_path / name) for name in names)
    with pytest.raises(DataError, match=rf"^{paths} .*data\.queries.* 0ld; got {digest}\."):
        collect(tmp_path / "collection", files, {"queries": "0ld", "documents": digest_of(files["documents"])})
    assert not (tmp_path / "collection" / MANIFEST_FILE).exists()


# Broken files

# Digests hardly compress, so that a place in the compressed file is a place in the texts.
LINES = "".join(f"{line}\ttitle\t{sha256(b'%d' % line).hexdigest()}\n" for line in range(1, 301)).encode()


def spoilt(stored: bytes) -> bytes:
    """Spoils bytes in the middle."""
    middle = len(stored) // 2
    return stored[:middle] + b"\xff" * 100 + stored[middle + 100 :]


@pytest.mark.parametrize("buffer", [64, 1 << 20])
@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
@pytest.mark.parametrize(
    "spoil",
    [
        spoilt,
        lambda stored: stored[: len(stored) // 2],
        lambda stored: stored[:-8] + bytes(8),
        lambda stored: stored[:3],
    ],
    ids=["midst", "cut", "checksum", "head"],
)
def test_a_broken_file_is_hashed_whole_and_what_follows_the_break_counts_as_one_line(
    spoil, compress, buffer, monkeypatch
):
    monkeypatch.setattr(byte_streams, "_BUFFER", 1 << 10)  # the break ends the reading before the file's end
    stored, after = spoil(compress(LINES)), b"last\ttitle\ttext\n"
    with collected("documents", [stored, after], buffer) as (folder, written):
        lines = shard_lines(folder, written)
    assert [file.sha256 for file in written.files] == [digest_of(stored), digest_of(after)]
    (drops,) = (counted for counted in written.report.drops if counted.reason is Reason.UNREADABLE)
    (unreadable,) = drops.examples
    line = written.files[0].lines
    assert (drops.count, unreadable.file, unreadable.line) == (1, written.files[0].path, line)
    assert written.report.read == line + 1
    assert lines[line - 1 :] == [b"", after.rstrip()]


@given(st.sampled_from([1, 7]), several_blobs)
def test_a_line_that_is_too_long_costs_one_line(longest, blobs):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wikiclir, "MAX_LINE_BYTES", longest)
        with collected("documents", blobs) as (folder, written):
            lines = shard_lines(folder, written)
        assert len(lines) == written.report.read == len(parsed("documents", blobs))
    assert all(len(line) <= longest for line in lines)


@pytest.mark.parametrize(
    ("role", "content", "lines"),
    [
        ("documents", b"id\ttext\ttitle\n1\tb\ta\n2\td\tc\n", [b"", b"1\ta\tb", b"2\tc\td"]),
        ("documents", b'text,id\n"b\nb",1\nd,2\n', [b"", b"1\t\tb b", b"", b"2\t\td"]),
        ("documents", b'[{"id": 1, "text": "b"}, {"id": 2}]', [b"1\t\tb", b""]),
        ("judgments", b"1 0 2 1.0\n", [b"1\t2\t1"]),
        ("judgments", b"corpus-id\tquery-id\tscore\n2\t1\t1\n", [b"", b"1\t2\t1"]),
        ("documents", b"doc_id\ttitre\ttexte\n1\ta\tb\n", [b""]),
    ],
)
def test_other_forms_are_written_in_our_own_and_each_line_keeps_its_number(role, content, lines):
    with collected(role, [content]) as (folder, written):
        assert shard_lines(folder, written) == lines
    report = written.report
    assert report.read == len(lines) == report.used + sum(drops.count for drops in report.drops)


def test_documents_with_equal_texts_are_named_together_whatever_their_titles_and_files(tmp_path):
    first = b"d1\tone\ta text\nd2\ttwo\tanother\nbad line\n"
    second = b"d3\tthree\ta text\nd1\tagain\tanother\nd4\tfour\ta  text\n"
    collect(tmp_path / "collection", {"documents": [first, second], "queries": b"q1\t\ta text\n"})
    assert (tmp_path / "collection" / COPIES_FILE).read_text() == "d1\td3\n"
