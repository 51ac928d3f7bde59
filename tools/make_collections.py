"""Makes the collections of docs/results.md from their public repositories.

    .venv/bin/python -m tools.make_collections CLONES data/collections [NAME ...]

CLONES holds a clone of each repository in tools/collections.yaml, under its own name; the first call prints the
commands for those that are missing. Nothing is downloaded. Every source file has the SHA-256 that stands there, and so
has every file that is made: queries, documents and judgments, and the fixed lists. docs/reproduce.md has more.
"""

import csv
import gzip
import hashlib
import json
import random
import re
import shlex
import struct
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias
from zipfile import BadZipFile, ZipFile

import click
import yaml
from defusedxml.ElementTree import parse as parse_xml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipeline.input_files import sha256_of_file
from schemas.byte_streams import input_digest
from schemas.errors import DataError

RECIPES: Final = Path(__file__).with_name("collections.yaml")
Role: TypeAlias = Literal["queries", "documents", "judgments", "candidates"]
_LANGUAGE: Final = "{http://www.w3.org/XML/1998/namespace}lang"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Source(_Strict):
    """A repository.

    Attributes:
      repository: its address.
      commit: the commit that was read.
      files: path or pattern to SHA-256, as `data.sha256` has it; only these files are read.
    """

    repository: str
    commit: str
    files: dict[str, str]

    @property
    def name(self) -> str:
        """The name of a clone's folder."""
        return self.repository.rsplit("/", 1)[-1]

    def fetch_command(self, is_cloned: bool) -> str:
        """Returns the shell command that gets these files, and nothing else of the repository."""
        clone = "" if is_cloned else f"git clone --no-checkout --filter=blob:none {self.repository} && "
        return f"{clone}git -C {self.name} checkout {self.commit} -- {' '.join(map(shlex.quote, self.files))}"


class Lists(_Strict):
    """The numbers that all collections share.

    Attributes:
      max_words: a document's largest number of words.
      negatives: the number of NR documents in a list.
      parts: the number of equal parts of the queries: one is for test, one for eval, the others are for train.
      seed: the seed of the splits and of the NR documents.
    """

    max_words: Annotated[int, Field(ge=1)]
    negatives: Annotated[int, Field(ge=1)]
    parts: Annotated[int, Field(ge=3)]
    seed: int


class Recipe(_Strict):
    """How a collection is made.

    Attributes:
      form: the form of the sources, a key of `FORMS`.
      document_language: ISO 639-1 code; queries are English.
      reads: role to path or pattern below CLONES, as the form needs them.
      options: the form's own numbers.
      related: the number of documents on each side, of the same article or chapter, that are SR; None for all.
      max_queries: the number of queries, from the first, that get lists; None for all.
      gzip: the roles whose files are gzipped.
      made: role to SHA-256 of its file, before gzip; a missing one is not checked.
    """

    form: Literal["questions", "aligned_sentences", "translation_units", "verses"]
    document_language: Annotated[str, Field(pattern="^[a-z]{2}$")]
    reads: dict[str, str]
    options: dict[str, Any] = {}
    related: Annotated[int, Field(ge=1)] | None
    max_queries: Annotated[int, Field(ge=1)] | None = None
    gzip: tuple[Role, ...] = ()
    made: dict[Role, str] = {}


class Recipes(_Strict):
    """The content of tools/collections.yaml."""

    sources: tuple[Source, ...]
    lists: Lists
    collections: dict[str, Recipe]


class Document(NamedTuple):
    """A document, its article or chapter, and its queries, each with a title."""

    title: str
    group: object
    text: str
    queries: Sequence[tuple[str, str]]


# The forms of the sources


def _questions(reads: Mapping[str, Path]) -> Iterator[Document]:
    """Yields the paragraphs of SQuAD's form in one language, with their questions in another."""
    articles, translations = (json.loads(reads[role].read_bytes())["data"] for role in ("queries", "documents"))
    _check_equal(reads, ("queries", "documents"), "articles", (len(articles), len(translations)))
    for number, (article, translation) in enumerate(zip(articles, translations, strict=True)):
        paragraphs = article["paragraphs"], translation["paragraphs"]
        _check_equal(reads, ("queries", "documents"), f"paragraphs in article {number + 1}", [*map(len, paragraphs)])
        title = article["title"].replace("_", " ")
        for paragraph, translated in zip(*paragraphs, strict=True):
            questions = [(title, question["question"]) for question in paragraph["qas"]]
            yield Document(f"article{number:02}", number, translated["context"], questions)


def _aligned_sentences(reads: Mapping[str, Path], sentences: int, min_sentences: int) -> Iterator[Document]:
    """Yields the windows of aligned files: a query, its translation and its article's name, a line each."""
    roles = ("articles", "queries", "documents")
    lines = [reads[role].read_text(encoding="utf-8").removesuffix("\n").split("\n") for role in roles]
    _check_equal(reads, roles, "lines", [*map(len, lines)])
    return _windows(zip(*lines, strict=True), sentences, min_sentences)


def _translation_units(
    reads: Mapping[str, Path], sentences: int, min_sentences: int, languages: Sequence[str], ids: str
) -> Iterator[Document]:
    """Yields the windows of a translation memory whose units have the id ARTICLE:NUMBER."""
    units = []
    for unit in parse_xml(reads["units"]).iter("tu"):
        if re.match(ids, unit.get("tuid", "")):
            texts = {part.get(_LANGUAGE): part.findtext("seg") or "" for part in unit.iter("tuv")}
            units.append((unit.get("tuid").partition(":")[0], *(texts[language] for language in languages)))
    return _windows(units, sentences, min_sentences)


def _windows(rows: Iterable[tuple[str, ...]], sentences: int, min_sentences: int) -> Iterator[Document]:
    """Yields windows of consecutive sentences of an article; a last one that is too short joins the window before."""
    for article, iterator in groupby(rows, key=lambda row: row[0]):
        group = [*iterator]
        windows = [group[start : start + sentences] for start in range(0, len(group), sentences)]
        if len(windows) > 1 and len(windows[-1]) < min_sentences:
            windows[-2:] = [windows[-2] + windows[-1]]
        for window in windows:
            text = " ".join(translation for _, _, translation in window)
            yield Document(article, article, text, [(article, query) for _, query, _ in window])


def _verses(reads: Mapping[str, Path], first_book: str) -> Iterator[Document]:
    """Yields verses from a book on, in the order of a table of book, chapter, verse and text.

    The translation is the table's, or that of a module of SWORD with the same verses (`documents`). A verse that the
    queries' files lack has no query.
    """
    with reads["verses"].open(encoding="utf-8", newline="") as lines:
        rows = [
            ((_book(row["Book"]), int(row["Chapter"]), int(row["Verse"])), row["Text"]) for row in csv.DictReader(lines)
        ]
    if "documents" in reads:
        keys = [key for key, _ in rows]
        rows = [*zip(keys, _sword_texts(reads["documents"], keys), strict=True)]
    english: dict[tuple[str, int, int], str] = {}
    for path in sorted(reads["queries"].parent.glob(reads["queries"].name)):
        for part in json.loads(path.read_bytes()):
            if "verseNumber" in part and "value" in part:
                key = path.stem, part["chapterNumber"], part["verseNumber"]
                english[key] = english.get(key, "") + part["value"]
    start = next((row for row, ((book, *_), _) in enumerate(rows) if book == first_book), None)
    if start is None:
        raise DataError(f"{reads['verses']}: must hold the book {first_book}; it has none.")
    for number, ((book, chapter, verse), text) in enumerate(rows[start:], 1):
        query = english.get((book.lower(), chapter, verse), "")
        yield Document(
            f"v{number}", (book, chapter), text, [(f"{book} {chapter}:{verse}", query)] if query.strip() else []
        )


def _book(name: str) -> str:
    """Returns the name of a book as the files of verses have it.

    Example:
      >>> _book("II Samuel"), _book("Revelation of John"), _book("Song of Solomon")
      ('2Samuel', 'Revelation', 'SongofSolomon')
    """
    name = re.sub("^(I+) ", lambda match: str(len(match[1])), name)
    return name.removesuffix(" of John").replace(" ", "")


def _sword_texts(path: Path, keys: Sequence[tuple[str, int, int]]) -> Iterator[str]:
    """Yields the text of each verse in a module of SWORD (zText).

    Each testament has blocks of text (`.bzs`: offset and size in `.bzz`) and entries (`.bzv`: block, offset, size): two
    for the testament, then one for each book, chapter and verse.
    """
    first_new = next((row for row, (book, *_) in enumerate(keys) if book == "Matthew"), len(keys))
    with ZipFile(path) as archive:
        names = {Path(name).name: name for name in archive.namelist()}
        for testament, testament_keys in (("ot", keys[:first_new]), ("nt", keys[first_new:])):
            sizes, entries, texts = (archive.read(names[f"{testament}.{end}"]) for end in ("bzs", "bzv", "bzz"))
            blocks = [zlib.decompress(texts[at : at + size]) for at, size, _ in struct.iter_unpack("<III", sizes)]
            verses = [
                blocks[row][at : at + size] if size else b"" for row, at, size in struct.iter_unpack("<IIH", entries)
            ]
            position, before = 1, ("", 0)
            for book, chapter, _ in testament_keys:
                position += 1 + (book != before[0]) + ((book, chapter) != before)
                before = book, chapter
                if position >= len(verses):
                    raise DataError(f"{path}: must hold the verses of all books; {book} {chapter} is beyond its end.")
                yield verses[position].decode()


def _check_equal(reads: Mapping[str, Path], roles: Sequence[str], what: str, counts: Sequence[int]) -> None:
    if len({*counts}) > 1:
        shown = ", ".join(f"{reads[role]} has {count:,}" for role, count in zip(roles, counts, strict=True))
        raise DataError(f"the files must have equally many {what}: {shown}.")


FORMS: Final[Mapping[str, Callable[..., Iterator[Document]]]] = {
    "questions": _questions,
    "aligned_sentences": _aligned_sentences,
    "translation_units": _translation_units,
    "verses": _verses,
}


# The files of a collection


def make(documents: Sequence[Document], recipe: Recipe, lists: Lists) -> dict[Role, str]:
    """Returns the content of each role's file.

    Raises:
      DataError: there are too few documents to draw from.
    """
    rows_of_group: dict[object, list[int]] = {}
    for row, document in enumerate(documents, 1):
        rows_of_group.setdefault(document.group, []).append(row)
    reach = recipe.related or len(documents)
    texts: list[tuple[int, str, str]] = []
    queries: list[tuple[int, str, str]] = []
    judged: list[list[tuple[int, int]]] = []
    for row, document in enumerate(documents, 1):
        texts.append((row, document.title, " ".join(plain(document.text).split()[: lists.max_words])))
        related = [near for near in rows_of_group[document.group] if near != row and abs(near - row) <= reach]
        for title, text in document.queries:
            queries.append((len(queries) + 1, title, plain(text)))
            judged.append([(row, 2), *((near, 1) for near in related)])
    return {
        "queries": _tsv(queries),
        "documents": _tsv(texts),
        "judgments": _tsv((number, *pair) for number, pairs in enumerate(judged, 1) for pair in pairs),
        "candidates": _tsv(_lists(judged[: recipe.max_queries], len(documents), lists)),
    }


def plain(text: str) -> str:
    """Removes format characters, such as zero-width spaces, and joins the words by single spaces.

    Example:
      >>> plain("le\\u200b  loup\\n")
      'le loup'
    """
    return " ".join("".join(letter for letter in text if unicodedata.category(letter) != "Cf").split())


def _tsv(rows: Iterable[Iterable[object]]) -> str:
    return "".join("\t".join(map(str, row)) + "\n" for row in rows)


def _lists(judged: Sequence[Sequence[tuple[int, int]]], documents: int, lists: Lists) -> Iterator[tuple[object, ...]]:
    """Yields the rows of the fixed lists: those of train, of eval, of test, each in the order of the queries.

    A generator with the seed draws a part of the queries for test, then as many of the others for eval. For
    each query it then draws NR documents among all, and draws all of them again if one is relevant.

    Raises:
      DataError: there are too few documents to draw from.
    """
    needed = 2 * (lists.negatives + max(map(len, judged), default=0))
    if documents < needed:
        raise DataError(f"must have {needed} documents, twice as many as its longest list; got {documents}.")
    # Python does not promise that `sample` stays as it is; the digests of the files tell if it changes.
    draw = random.Random(lists.seed).sample
    rest, splits = [*range(len(judged))], {}
    for split in ("test", "eval"):
        splits[split] = sorted(draw(rest, len(judged) // lists.parts))
        drawn = {*splits[split]}
        rest = [query for query in rest if query not in drawn]
    for split, queries in (("train", rest), ("eval", splits["eval"]), ("test", splits["test"])):
        for query in queries:
            relevant = {document for document, _ in judged[query]}
            while relevant.intersection(negatives := draw(range(1, documents + 1), lists.negatives)):
                pass
            pairs = [*judged[query], *((document, 0) for document in negatives)]
            yield from ((query + 1, document, grade, split) for document, grade in pairs)


# The command


def read_recipes(path: Path) -> Recipes:
    """Reads recipes.

    Raises:
      DataError: the file does not hold recipes.
    """
    try:
        return Recipes.model_validate(yaml.safe_load(path.read_bytes()))
    except (yaml.YAMLError, ValidationError) as error:
        raise DataError(f"{path}: must hold recipes as tools/collections.yaml does: {error}") from None


def source_faults(recipes: Recipes, names: Iterable[str], clones: Path) -> tuple[set[str], list[str]]:
    """Returns the files of the named collections that cannot be read, and what is wrong with them."""
    needed = {path for name in names for path in recipes.collections[name].reads.values()}
    expected = {f"{source.name}/{file}": digest for source in recipes.sources for file, digest in source.files.items()}
    digests = {path: _digest(clones, path) for path in sorted(needed)}
    faults = [f"{path}: its SHA-256 is unknown; give it among the sources." for path in digests if path not in expected]
    for source in recipes.sources:
        paths = [path for path in digests if path in expected and path.startswith(f"{source.name}/")]
        if missing := [path for path in paths if digests[path] is None]:
            command = source.fetch_command((clones / source.name).exists())
            faults.append(f"{', '.join(missing)} must be in {clones}; get the files there with\n  {command}")
        faults += [
            f"{clones / path} must have the SHA-256 {expected[path]} (commit {source.commit}); got {digests[path]}."
            for path in paths
            if digests[path] not in (None, expected[path])
        ]
    return {path for path, digest in digests.items() if digest != expected.get(path)}, faults


def _digest(clones: Path, path: str) -> str | None:
    """Returns the SHA-256 of a file, or of all files of a pattern; None if there is none."""
    files = sorted(file for file in clones.glob(path) if file.is_file())
    return input_digest([sha256_of_file(str(file)) for file in files]) if files else None


_WRONG_FORM: Final = (LookupError, TypeError, ValueError, SyntaxError, OSError, BadZipFile, struct.error, zlib.error)


def read_documents(recipe: Recipe, clones: Path) -> list[Document]:
    """Reads a collection's sources, whose digests are checked.

    Raises:
      DataError: the files do not belong together, or lack what the form needs.
    """
    reads = {role: clones / path for role, path in recipe.reads.items()}
    try:
        return [*FORMS[recipe.form](reads, **recipe.options)]
    except _WRONG_FORM as error:
        paths = ", ".join(map(str, reads.values()))
        raise DataError(f"{paths}: must have the form {recipe.form}: {type(error).__name__}: {error}.") from None


@click.command(help=(__doc__ or "").partition("\n\n")[0])
@click.argument("clones", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("output", type=click.Path(file_okay=False, path_type=Path))
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--recipes", "path", default=RECIPES, type=click.Path(exists=True, path_type=Path), help="Other recipes.")
def main(clones: Path, output: Path, names: tuple[str, ...], path: Path) -> None:
    """Checks the sources, makes the files, checks them, and writes them all or none."""
    try:
        recipes = read_recipes(path)
    except DataError as error:
        raise click.ClickException(str(error)) from None
    names = names or tuple(recipes.collections)
    if unknown := [name for name in names if name not in recipes.collections]:
        raise click.UsageError(f"NAME must be one of {', '.join(recipes.collections)}; got {', '.join(unknown)}.")
    unread, faults = source_faults(recipes, names, clones)
    contents: dict[Path, bytes] = {}
    for name in names:
        recipe = recipes.collections[name]
        if unread.intersection(recipe.reads.values()):
            continue
        try:
            made = make(read_documents(recipe, clones), recipe, recipes.lists)
        except DataError as error:
            faults.append(f"{name}: {error}")
            continue
        for role, text in made.items():
            content, is_packed = text.encode(), role in recipe.gzip
            digest = hashlib.sha256(content).hexdigest()
            if digest != recipe.made.get(role, digest):
                faults.append(f"{name}: its {role} must have the SHA-256 {recipe.made[role]}; made {digest}.")
            file = output / name / f"{file_name(role, recipe.document_language)}{'.gz' * is_packed}"
            contents[file] = gzip.compress(content, mtime=0) if is_packed else content
            if file.exists() and file.read_bytes() != contents[file]:
                faults.append(f"{file} exists with other content; move it away.")
    if faults:
        raise click.ClickException("\n".join(faults))
    for file, content in contents.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    for name in names:
        digests = len(recipes.collections[name].made)
        click.echo(f"{output / name}: 4 files, {digests} of them with the SHA-256 in {path.name}")


def file_name(role: Role, language: str) -> str:
    """The name of a role's file.

    Example:
      >>> file_name("judgments", "fr"), file_name("documents", "fr")
      ('en2fr.rel', 'wiki_fr.documents')
    """
    names = {"queries": "wiki_en.queries", "documents": f"wiki_{language}.documents", "judgments": f"en2{language}.rel"}
    return names.get(role, "candidates.tsv")


if __name__ == "__main__":
    main()
