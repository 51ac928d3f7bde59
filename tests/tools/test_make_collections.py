"""The collections of the results from small sources of the same forms, and what is wrong with sources."""

import gzip
import hashlib
import json
import random
import struct
import zlib
from collections import Counter
from zipfile import ZipFile

import pytest
import yaml
from click.testing import CliRunner

from schemas.errors import DataError
from tools.make_collections import RECIPES, Document, Lists, Recipe, file_name, main, make, read_documents, read_recipes

VERSES = [("Genesis", 1, 1), ("I Samuel", 1, 1), ("I Samuel", 1, 2), ("I Samuel", 2, 1), ("Matthew", 1, 1)]
ARTICLES = "aaaabbbbbccd"


def read(folder, form, reads, **options):
    """The documents of files below a folder."""
    recipe = Recipe(form=form, document_language="fr", related=None, reads=reads, options=options)
    return read_documents(recipe, folder)


def squad(*articles):
    """Articles of paragraphs, each with a question."""
    paragraphs = [[{"context": text, "qas": [{"question": f"{text}?"}]} for text in texts] for texts in articles]
    return json.dumps({"data": [{"title": f"The_{row}", "paragraphs": part} for row, part in enumerate(paragraphs)]})


def write_sword_module(path):
    """A module whose testaments have a block each, with `word N` as the N-th verse."""
    words = "".join(f"word {number}" for number in range(1, 6)).encode()
    packed = zlib.compress(words)
    # Two entries of the testament, then one of each book, chapter and verse; 0: without a text.
    entries = {"ot": [0, 0, 0, 0, 1, 0, 0, 2, 3, 0, 4], "nt": [0, 0, 0, 0, 5]}
    with ZipFile(path, "w") as archive:
        for testament, numbers in entries.items():
            rows = [struct.pack("<IIH", 0, 6 * max(number - 1, 0), 6 if number else 0) for number in numbers]
            archive.writestr(f"modules/{testament}.bzs", struct.pack("<III", 0, len(packed), len(words)))
            archive.writestr(f"modules/{testament}.bzv", b"".join(rows))
            archive.writestr(f"modules/{testament}.bzz", packed)


# The forms of the sources


def test_paragraphs_have_the_questions_of_the_same_paragraph_in_english(tmp_path):
    (tmp_path / "en").write_text(squad(["one", "two"], ["three"]))
    (tmp_path / "es").write_text(squad(["uno", "dos"], ["tres"]))
    assert read(tmp_path, "questions", {"queries": "en", "documents": "es"}) == [
        Document("article00", 0, "uno", [("The 0", "one?")]),
        Document("article00", 0, "dos", [("The 0", "two?")]),
        Document("article01", 1, "tres", [("The 1", "three?")]),
    ]


@pytest.mark.parametrize(("min_sentences", "sizes"), [(1, [3, 1, 3, 2, 2, 1]), (2, [4, 3, 2, 2, 1])])
def test_windows_of_an_article_hold_three_sentences_and_a_short_rest_may_join_the_last(tmp_path, min_sentences, sizes):
    rows = [(article, f"query {row}", f"text {row}") for row, article in enumerate(ARTICLES)]
    for name, column in zip(("ids", "en", "fr"), zip(*rows, strict=True), strict=True):
        (tmp_path / name).write_text("".join(f"{field}\n" for field in column))
    units = "".join(
        f'<tu tuid="{article}:{query}"><tuv xml:lang="en"><seg>{query}</seg></tuv><tuv xml:lang="fr"><seg>{text}</seg>'
        "</tuv></tu>"
        for article, query, text in [*rows, ("other", "q", "t")]
    )
    (tmp_path / "memory.tmx").write_text(f"<tmx><body>{units}</body></tmx>")
    options = {"sentences": 3, "min_sentences": min_sentences}
    reads = {"articles": "ids", "queries": "en", "documents": "fr"}
    documents = read(tmp_path, "aligned_sentences", reads, **options)
    assert [len(document.queries) for document in documents] == sizes
    joined = [(title, *query) for title, *_, queries in documents for query in queries]
    assert joined == [(article, article, query) for article, query, _ in rows]
    assert " ".join(document.text for document in documents) == " ".join(text for *_, text in rows)
    options |= {"languages": ["en", "fr"], "ids": "[a-d]:"}
    assert read(tmp_path, "translation_units", {"units": "memory.tmx"}, **options) == documents


def test_verses_come_from_a_table_or_a_module_and_have_a_query_where_there_is_english(tmp_path):
    table = "".join(f'{book},{chapter},{verse},"{book}, {verse}"\n' for book, chapter, verse in VERSES)
    (tmp_path / "table").write_text(f"Book,Chapter,Verse,Text\n{table}")
    write_sword_module(tmp_path / "module")
    for book, verse, texts in (("genesis", 1, ["In ", "the"]), ("1samuel", 2, ["Now"]), ("matthew", 1, [" "])):
        parts = [{"chapterNumber": 1, "verseNumber": verse, "value": text} for text in texts]
        (tmp_path / f"{book}.json").write_text(json.dumps([{"value": "header"}, *parts]))
    reads = {"queries": "*.json", "verses": "table"}
    assert read(tmp_path, "verses", reads, first_book="1Samuel") == [
        Document("v1", ("1Samuel", 1), "I Samuel, 1", []),
        Document("v2", ("1Samuel", 1), "I Samuel, 2", [("1Samuel 1:2", "Now")]),
        Document("v3", ("1Samuel", 2), "I Samuel, 1", []),
        Document("v4", ("Matthew", 1), "Matthew, 1", []),
    ]
    documents = read(tmp_path, "verses", {**reads, "documents": "module"}, first_book="Genesis")
    assert [document.text for document in documents] == [f"word {number}" for number in range(1, 6)]
    assert documents[0].queries == [("Genesis 1:1", "In the")]


# The files of a collection

DOCUMENTS = [
    Document(str(row // 4), row // 4, f"le\u200b  loup {row}", [("t", f"query {row}")] * 2) for row in range(40)
]
LISTS = Lists(max_words=2, negatives=9, parts=5, seed=1)


def made(related=1, max_queries=None):
    recipe = Recipe(form="questions", document_language="fr", reads={}, related=related, max_queries=max_queries)
    files = make(DOCUMENTS, recipe, LISTS)
    return {role: [line.split("\t") for line in text.splitlines()] for role, text in files.items()}


def test_the_mr_document_is_the_query_s_and_sr_are_its_neighbours_in_the_article():
    judgments = made()["judgments"]
    assert judgments[:7] == [line.split() for line in ("1 1 2", "1 2 1", "2 1 2", "2 2 1", "3 2 2", "3 1 1", "3 3 1")]
    assert [row for row in made(related=None)["judgments"] if row[0] == "9"] == [
        *(["9", *pair] for pair in ("52", "61", "71", "81")),
    ]
    assert made()["documents"][4] == ["5", "1", "le loup"]


def test_lists_hold_every_relevant_document_and_drawn_ones_of_no_grade_in_splits_of_three_to_one_to_one():
    files = made()
    lists = {}
    for query, document, grade, split in files["candidates"]:
        lists.setdefault((query, split), []).append((document, grade))
    assert Counter(split for _, split in lists) == {"train": 48, "eval": 16, "test": 16}
    for (query, _), pairs in lists.items():
        relevant = [(document, grade) for number, document, grade in files["judgments"] if number == query]
        assert pairs[: len(relevant)] == relevant
        assert [grade for _, grade in pairs[len(relevant) :]] == ["0"] * 9
        assert len({document for document, _ in pairs}) == len(pairs)
    draw = random.Random(1).sample
    assert {query for query, split in lists if split == "test"} == {str(row + 1) for row in draw(range(80), 16)}
    assert {query for query, *_ in made(max_queries=10)["candidates"]} == {str(row) for row in range(1, 11)}


def test_too_few_documents_to_draw_from_are_refused():
    recipe = Recipe(form="questions", document_language="fr", reads={}, related=1)
    with pytest.raises(DataError, match="must have 24 documents"):
        make(DOCUMENTS[:23], recipe, LISTS)


# The command


@pytest.fixture
def recipes(tmp_path):
    """Recipes of two collections, and a clone with their files."""
    clone = tmp_path / "clones/repo"
    clone.mkdir(parents=True)
    texts = [[f"text {row}"] for row in range(30)]
    contents = {"en": squad(*texts), "es": squad(*texts), "short": squad(*texts[1:])}
    for name, content in contents.items():
        (clone / name).write_text(content)
    files = {name: hashlib.sha256(content.encode()).hexdigest() for name, content in contents.items()}
    shared = {"form": "questions", "document_language": "es", "related": None}
    return {
        "sources": [{"repository": "https://example.org/repo", "commit": "c0ffee", "files": files}],
        "lists": LISTS.model_dump(),
        "collections": {
            "equal": {**shared, "reads": {"queries": "repo/en", "documents": "repo/es"}, "gzip": ["candidates"]},
            "unequal": {**shared, "reads": {"queries": "repo/en", "documents": "repo/short"}},
        },
    }


def run(tmp_path, recipes, *names):
    path = tmp_path / "recipes.yaml"
    path.write_text(yaml.safe_dump(recipes))
    return CliRunner().invoke(
        main, [*map(str, (tmp_path / "clones", tmp_path / "out", *names)), "--recipes", str(path)]
    )


def test_files_are_made_with_the_digests_of_the_recipe_and_made_again_without_a_change(tmp_path, recipes):
    assert run(tmp_path, recipes, "equal").output.endswith("4 files, 0 of them with the SHA-256 in recipes.yaml\n")
    folder = tmp_path / "out/equal"
    assert {path.name for path in folder.iterdir()} == {
        *("wiki_en.queries", "wiki_es.documents", "en2es.rel", "candidates.tsv.gz"),
    }
    content = gzip.decompress((folder / "candidates.tsv.gz").read_bytes())
    digests = {"candidates": hashlib.sha256(content).hexdigest(), "queries": "0" * 64}
    recipes["collections"]["equal"]["made"] = digests
    result = run(tmp_path, recipes, "equal")
    assert result.exit_code == 1 and "its queries must have the SHA-256 000" in result.output
    assert "candidates" not in result.output
    del digests["queries"]
    assert ": 4 files, 1 of them" in run(tmp_path, recipes, "equal").output
    (folder / "en2es.rel").write_text("mine")
    assert "exists with other content" in run(tmp_path, recipes, "equal").output
    assert (folder / "en2es.rel").read_text() == "mine"


def test_all_faults_of_all_sources_are_shown_together_and_nothing_is_written(tmp_path, recipes):
    collections, sources = recipes["collections"], recipes["sources"]
    shared = collections["unequal"]
    collections["missing"] = {**shared, "reads": {"queries": "other/a", "documents": "other/b*"}}
    collections["unknown"] = {**shared, "reads": {"queries": "repo/en", "documents": "repo/es.2"}}
    sources.append({"repository": "https://example.org/other", "commit": "beef", "files": {"a": "0", "b*": "0"}})
    collections["changed"] = {**shared, "reads": {"queries": "repo/changed", "documents": "repo/es"}}
    sources[0]["files"]["changed"] = "1" * 64
    (tmp_path / "clones/repo/changed").write_text("{}")
    result = run(tmp_path, recipes)
    assert result.exit_code == 1 and not (tmp_path / "out").exists()
    for fault in (
        "other/a, other/b* must be in",
        "git clone --no-checkout --filter=blob:none https://example.org/other && git -C other checkout beef -- a 'b*'",
        "repo/es.2: its SHA-256 is unknown",
        f"repo/changed must have the SHA-256 {'1' * 64} (commit c0ffee); got {hashlib.sha256(b'{}').hexdigest()}",
        f"unequal: the files must have equally many articles: {tmp_path}/clones/repo/en has 30, ",
    ):
        assert fault in result.output


def test_files_of_another_form_and_other_names_are_refused(tmp_path, recipes):
    (tmp_path / "clones/repo/en").write_text('{"data": [{"title": 1}]}')
    recipes["sources"][0]["files"]["en"] = hashlib.sha256((tmp_path / "clones/repo/en").read_bytes()).hexdigest()
    assert "must have equally many articles" in run(tmp_path, recipes, "equal").output
    (tmp_path / "clones/repo/en").write_text("[")
    recipes["sources"][0]["files"]["en"] = hashlib.sha256(b"[").hexdigest()
    assert "must have the form questions" in run(tmp_path, recipes, "equal").output
    assert "NAME must be one of equal, unequal; got none." in run(tmp_path, recipes, "none").output
    assert "must hold recipes" in run(tmp_path, {**recipes, "lists": {}}).output


# Those of the results


def test_every_collection_of_the_results_has_a_known_source_and_known_files():
    recipes = read_recipes(RECIPES)
    known = {f"{source.name}/{file}" for source in recipes.sources for file in source.files}
    for name, recipe in recipes.collections.items():
        assert known.issuperset(recipe.reads.values()), name
        assert [*recipe.made] == ["queries", "documents", "judgments", "candidates"]


CONFIGS = RECIPES.parents[1] / "configs" / "best"


@pytest.mark.parametrize(
    "name", [name for name in read_recipes(RECIPES).collections if (CONFIGS / f"{name}.yaml").exists()]
)
def test_the_configurations_of_the_results_name_the_files_that_are_made(name):
    config = yaml.safe_load((CONFIGS / f"{name}.yaml").read_text())["data"]
    recipe = read_recipes(RECIPES).collections[name]
    for role in recipe.made:
        ending = ".gz" if role in recipe.gzip else ""
        assert config[role].endswith(f"/{name}/{file_name(role, config['document_language'])}{ending}")
