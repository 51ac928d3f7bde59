"""A small good collection, and the ways to spoil it."""

import gzip
import json
import random
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from tests.bad_input.case import Make

CONFIG: Final = """\
data:
  queries: wiki.queries
  documents: wiki.documents
  judgments: en2fr.rel
  query_language: en
  document_language: fr
output: out
"""
ALIASES: Final = "".join(f"a{i}: &a{i} [{', '.join(10 * [f'*a{i - 1}' if i else 'x'])}]\n" for i in range(10))
"""Ten lines of YAML that stand for ten billion values."""
ALIASES_IN_A_LINE: Final = f"[{', '.join(line.partition(': ')[2] for line in ALIASES.splitlines())}]"
CANDIDATES: Final = "en2fr.candidates"
ROLES: Final = {
    "queries": "wiki.queries",
    "documents": "wiki.documents",
    "judgments": "en2fr.rel",
    "candidates": CANDIDATES,
}

DOMAINS_FILE: Final = "domains.tsv"
QUERY_DOMAINS: Final = "".join(f"q{i}\t{'news' if i < 4 else 'health'}\n" for i in range(1, 6))
"""Domains of the collection's queries: q1 to q3 news, q4 and q5 health."""


def write_collection(folder: Path) -> None:
    """A small good collection: five queries, six documents, and a configuration of seven lines."""
    lines = {
        "wiki.queries": [f"q{i}\tWolf {i}\tlives in packs" for i in range(1, 6)],
        "wiki.documents": [f"d{i}\tLoup {i}\tvit en meute" for i in range(1, 7)],
        "en2fr.rel": [f"q{i}\td{i + place}\t{2 - place}" for i in range(1, 6) for place in (0, 1)],
    }
    for name, some in lines.items():
        (folder / name).write_text("".join(line + "\n" for line in some))
    (folder / "run.yaml").write_text(CONFIG)


def write_candidates(folder: Path) -> None:
    """Fixed lists for the collection, which a configuration may name."""
    lines = [f"q{i}\td{d}\t{2 if d == i else int(d == i + 1)}\ttrain\n" for i in range(1, 6) for d in range(1, 7)]
    (folder / CANDIDATES).write_text("".join(lines))


def divide_candidates(folder: Path) -> None:
    """The same lists, of which q4 is in the eval split and q5 in the test split."""
    write_candidates(folder)
    lines = (folder / CANDIDATES).read_text().splitlines(keepends=True)
    splits = {"q4": "eval", "q5": "test"}
    (folder / CANDIDATES).write_text("".join(line.replace("train", splits.get(line[:2], "train")) for line in lines))


def output_of_ours(folder: Path) -> None:
    """The output of an earlier run, as far as it is recorded."""
    (folder / "out").mkdir()
    record = {"made_by": "smooth-clir", "kind": "run", "files": {"config.yaml": ""}}
    (folder / "out" / ".clir.json").write_text(json.dumps(record))


def nothing(folder: Path) -> None:
    """The command alone is wrong."""


def file(name: str, content: str | bytes) -> Make:
    """Writes one file."""

    def make(folder: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)

    return make


def add(lines: Mapping[str, str | bytes]) -> Make:
    """Adds lines to files."""

    def make(folder: Path) -> None:
        for name, some in lines.items():
            with (folder / name).open("ab") as stream:
                stream.write(some.encode() if isinstance(some, str) else some)

    return make


def all_of(*makes: Make) -> Make:
    """Does one after the other."""

    def make(folder: Path) -> None:
        for one in makes:
            one(folder)

    return make


def setting(lines: str) -> Make:
    """Adds lines to the configuration, from the eighth on."""
    return add({"run.yaml": lines})


def change(name: str, old: str, new: str) -> Make:
    """Replaces what stands in a file."""

    def make(folder: Path) -> None:
        content = (folder / name).read_text()
        assert old in content
        (folder / name).write_text(content.replace(old, new))

    return make


def configure(old: str, new: str) -> Make:
    """Replaces what stands in the configuration."""
    return change("run.yaml", old, new)


def store(name: str, compress: Callable[[bytes], bytes]) -> Make:
    """Stores a file in another form."""

    def make(folder: Path) -> None:
        (folder / name).write_bytes(compress((folder / name).read_bytes()))

    return make


def swap(one: str, other: str) -> Make:
    """Puts two files into each other's place."""

    def make(folder: Path) -> None:
        (folder / one).rename(folder / "other")
        (folder / other).rename(folder / one)
        (folder / "other").rename(folder / other)

    return make


def replace_by(name: str, create: Callable[[Path], object]) -> Make:
    """Puts something else in a file's place."""

    def make(folder: Path) -> None:
        (folder / name).unlink()
        create(folder / name)

    return make


def cut(content: bytes) -> bytes:
    """The first two thirds of the compressed content."""
    stored = gzip.compress(content, mtime=0)
    return stored[: 2 * len(stored) // 3]


def spoil_checksum(content: bytes) -> bytes:
    """A whole gzip file whose content is not what its end says."""
    return gzip.compress(content, mtime=0)[:-8] + bytes(8)


def long_texts(folder: Path) -> None:
    """Documents that break off after some 4,000, beyond what the first look sees."""
    lines = [f"d{i}\tLoup\t{random.Random(i).randbytes(20).hex()}\n" for i in range(6000)]
    (folder / "wiki.documents").write_bytes(cut("".join(lines).encode()))


def bomb_of_one_line(folder: Path) -> None:
    """3 MB that unpack to one line of 3 GB."""
    piece = gzip.compress(b"w" * (2 << 20), mtime=0)
    (folder / "wiki.queries").write_bytes(gzip.compress(b"q1\tWolf\t") + 1500 * piece)


def bomb_of_many_lines(folder: Path) -> None:
    """6 MB that unpack to 3 million lines of 1,000 bytes."""
    piece = gzip.compress((b"q1\tWolf\t" + b"w" * 1000 + b"\n") * 20_000, mtime=0)
    (folder / "wiki.queries").write_bytes(150 * piece)


def hundred_thousand_candidates(folder: Path) -> None:
    """A query whose list holds 100,000 documents."""
    with (folder / "wiki.documents").open("a") as documents, (folder / CANDIDATES).open("a") as candidates:
        for i in range(100_000):
            documents.write(f"n{i}\tLoup\tvit {i}\n")
            candidates.write(f"q_wide\tn{i}\t{2 * (i == 7)}\ttrain\n")
    add({"wiki.queries": "q_wide\tWolf\tlives in packs\n", "en2fr.rel": "q_wide\tn7\t2\n"})(folder)


def one_big_document(folder: Path) -> None:
    """A document of 2 MB, which does not compress."""
    text = random.Random(1).randbytes(1 << 20).hex()
    add({"wiki.documents": f"d7\tLoup\t{text}\n"})(folder)


def judged(query: str) -> Make:
    """Adds a query with the list that it needs."""
    query_id = query.split("\t")[0]
    return add(
        {
            "wiki.queries": f"{query}\n",
            "en2fr.rel": f"{query_id}\td1\t2\n",
            CANDIDATES: f"{query_id}\td1\t2\ttrain\n{query_id}\td2\t0\ttrain\n",
        }
    )


def emoji_for_words(folder: Path) -> None:
    """Queries and documents of emoji alone, in every split."""
    for name in ("wiki.queries", "wiki.documents"):
        ids = [line.split("\t")[0] for line in (folder / name).read_text().splitlines()]
        (folder / name).write_text("".join(f"{one}\tWolf\t\U0001f43a \U0001f33f!\n" for one in ids))
    fill_every_split(folder)


def fill_every_split(folder: Path) -> None:
    """Fixed lists, some in every split, which the configuration names."""
    write_candidates(folder)
    configure("en2fr.rel\n", f"en2fr.rel\n  candidates: {CANDIDATES}\n")(folder)
    lines = (folder / CANDIDATES).read_text()
    for query_id, split in (("q4", "eval"), ("q5", "test")):
        lines = re.sub(rf"^({query_id}\t.*)train$", rf"\1{split}", lines, flags=re.MULTILINE)
    (folder / CANDIDATES).write_text(lines)


def configuration_in_a_latin_folder(folder: Path) -> None:
    """The configuration in a folder whose name is Latin-1."""
    (folder / "r\udce9").mkdir()
    content = (folder / "run.yaml").read_text()
    (folder / "run.yaml").unlink()
    (folder / "r\udce9" / "run.yaml").write_text(content.replace("wiki.", "../wiki.").replace("en2fr", "../en2fr"))


def vectors_alone(folder: Path) -> None:
    """A model without words that match."""
    from tests.models.small_model import export_small_model

    export_small_model(folder / "exported" / "model")
    (folder / "exported" / "model").rename(folder / "model")


def cut_vocabulary(folder: Path) -> None:
    """A model of which one vocabulary is cut off within a word."""
    vectors_alone(folder)
    vocabulary = folder / "model" / "assets" / "document_vocabulary"
    vocabulary.write_bytes(vocabulary.read_bytes()[:-6])


def model_folder(folder: Path) -> None:
    """A folder that looks like a model's, but holds the first bytes of one."""
    file("model/saved_model.pb", b"\x08\x01\x12\xff\xff\x7f")(folder)
