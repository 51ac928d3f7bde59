"""wikipedia/collection: the paper's construction on small wikis, and on generated ones."""

import json
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.splits import split_of
from tests.wikipedia.small_wiki import LANGLINKS, PACKINGS, Made, SmallWiki, drops, make, write_table

ENGLISH = SmallWiki(
    "en",
    {
        "Wolf": "The '''wolf''' is a grey hunter of the woods. It lives in packs.\n\n== Diet ==\nIt eats [[deer]].",
        "Dog": "The '''dog''' is a tame animal.",
        "Canis lupus": "#REDIRECT [[Wolf]]",
        "Mercury": "'''Mercury''' may mean:\n* a planet\n{{disambiguation}}",
        "List of animals": "This is a list of many animals.\n* [[Wolf]]",
        "Deer": "A '''deer''' has antlers and runs.",
        "Unicorn": "The '''unicorn''' has one horn and no page abroad.",
        "Moose": "{{Infobox}}",
        "Loss": "The '''loss''' leads to a page that is gone.",
        "Elk": "'''Elk'''.",
    },
    {
        "Wolf": "Loup",
        "Dog": "Clébard",
        "Deer": "Cerf",
        "Mercury": "Mercure",
        "List of animals": "Liste des animaux",
        "Moose": "Élan",
        "Loss": "Perte",
        "Elk": "Wapiti",
    },
)
FRENCH = SmallWiki(
    "fr",
    {
        "Loup": "Le '''loup''' chasse le [[cerf]], et descend de personne. Voir [[chien|le chien]], [[loup]].",
        "Chien": "Le '''chien''' descend du [[Canis lupus]]. [[Cerf]]",
        "Clébard": "#REDIRECTION [[Toutou]]",
        "Toutou": "#REDIRECTION [[Chien]]",
        "Canis lupus": "#REDIRECTION [[Loup]]",
        "Cerf": "Le '''cerf''' fuit le [[Loup]].",
        "Mercure": "Le '''mercure''' est un métal liquide.",
        "Liste des animaux": "Voici une liste : [[Loup]], [[Chien]], [[Cerf]].",
        "Élan": "L''''élan''' est un grand [[cerf]].",
        "Wapiti": "Le '''wapiti''' est un autre [[cerf]].",
        "Boucle": "#REDIRECTION [[Nœud]]",
        "Nœud": "#REDIRECTION [[Boucle]]",
    },
)


@pytest.fixture(scope="module")
def wikis(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """The settings of the two wikis, whose files are written once."""
    folder = tmp_path_factory.mktemp("wikis")
    return {"en": ENGLISH.write(folder), "fr": FRENCH.write(folder)}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, wikis: dict[str, dict[str, str]]) -> Made:
    return make(tmp_path_factory.mktemp("made"), wikis)


def grades_of(made: Made, title: str) -> dict[str, str]:
    """Returns the titles of the judged documents of a page's query, with their grades."""
    ((query_id, _, _),) = [row for row in made.queries if row[1] == title]
    titles = {doc_id: name for doc_id, name, _ in made.documents}
    return {titles[doc_id]: grade for judged, doc_id, grade in made.judgments if judged == query_id}


def test_a_query_is_the_first_sentence_without_the_words_of_the_title(made: Made) -> None:
    texts = {title: text for _, title, text in made.queries}
    assert (texts["Wolf"], texts["Deer"]) == ("The is a grey hunter of the woods.", "A has antlers and runs.")


def test_mr_is_the_linked_page_and_sr_are_those_with_mutual_links_to_it_through_redirects(made: Made) -> None:
    assert grades_of(made, "Wolf") == {"Loup": "2", "Chien": "1", "Cerf": "1"}
    assert grades_of(made, "Dog") == {"Chien": "2", "Loup": "1"}
    assert grades_of(made, "Deer") == {"Cerf": "2", "Loup": "1"}
    first = {query_id: grade for query_id, _, grade in reversed(made.judgments)}
    assert {*first.values()} == {"2"}


def test_documents_are_the_articles_with_their_page_ids(made: Made) -> None:
    assert [(doc_id, title) for doc_id, title, _ in made.documents] == [
        (str(FRENCH.page_id(title)), title)
        for title in ("Loup", "Chien", "Cerf", "Mercure", "Liste des animaux", "Élan", "Wapiti")
    ]


def test_every_page_is_used_or_left_out_for_a_reason(made: Made) -> None:
    manifest = made.manifest
    reasons = ("disambiguation", "no_language_link", "lost_language_link", "no_lead", "short_query")
    assert drops(manifest["pages_with_queries"]) == dict.fromkeys(reasons, 1)
    assert manifest["pages_with_queries"]["read"] == 9
    assert manifest["wikis"]["en"]["pages"]["used"] == 10
    assert manifest["wikis"]["fr"]["redirects"] == {"read": 5, "used": 3, "lost": 0, "circular": 2}
    for report in (manifest["pages_with_queries"], manifest["documents"], manifest["wikis"]["en"]["pages"]):
        assert report["read"] == report["used"] + sum(drops["count"] for drops in report["drops"])


def test_the_manifest_has_the_inputs_and_the_card_their_checksums(made: Made) -> None:
    written = json.loads((made.folder / "manifest.json").read_text(encoding="utf-8"))
    assert written == made.manifest
    (pages,) = written["inputs"]["wikis.en.pages"]
    card = (made.folder / "README.md").read_text(encoding="utf-8")
    assert pages["file"] in card and pages["sha256"] in card and "CC BY-SA" in card
    rows = [
        "queries | 4, of 4 pages",
        "judgments of grade 1 | 4 (1.0 a query)",
        "splits | 3 eval, 1 train",
        "title pairs | 4",
    ]
    assert all(f"| {row} |" in card for row in rows) and "Grade 2: Loup; grade 1: Chien, Cerf.\n" in card


def test_lists_are_left_out_where_that_is_asked(tmp_path: Path, wikis: dict[str, Any]) -> None:
    made = make(tmp_path, wikis, drop_lists=True, drop_disambiguations=False)
    assert "Liste des animaux" not in {title for _, title, _ in made.documents}
    assert drops(made.manifest["documents"]) == {"list": 1}
    left_out = drops(made.manifest["pages_with_queries"])
    assert left_out["list"] == 1 and "disambiguation" not in left_out


def test_each_sentence_is_a_query_where_that_is_asked(tmp_path: Path, wikis: dict[str, Any]) -> None:
    made = make(tmp_path, wikis, queries="sentences")
    texts = [text for _, title, text in made.queries if title == "Wolf"]
    assert texts == ["The is a grey hunter of the woods.", "It lives in packs."]
    assert [row[0] for row in made.queries] == [str(number) for number in range(1, len(made.queries) + 1)]


def test_titles_are_left_out_of_pages_that_only_eval_and_test_queries_are_about(tmp_path: Path) -> None:
    # Nine pages of one sentence, and one of twenty, whose queries are in all splits.
    pages = {f"P{number}": f"The '''p{number}''' is a page." for number in range(9)} | {
        "Long": "One more is here. " * 20
    }
    english = SmallWiki("en", pages, {title: f"{title} fr" for title in pages})
    french = SmallWiki("fr", {f"{title} fr": "Une page." for title in pages})
    made = make(tmp_path, {"en": english.write(tmp_path), "fr": french.write(tmp_path)}, queries="sentences")
    splits: dict[str, set[str]] = {}
    for query_id, title, _ in made.queries:
        splits.setdefault(title, set()).add(split_of(query_id))
    known = [title for title in pages if "train" in splits[title]]
    assert splits["Long"] == {"train", "eval", "test"} and len(known) < len(pages)
    assert made.title_pairs == [[title, f"{title} fr"] for title in known]


def test_words_of_redirects_are_removed_where_that_is_asked(tmp_path: Path, wikis: dict[str, Any]) -> None:
    pages = {"Wolf": "The wolf, or canis lupus, hunts.", "Canis lupus": "#REDIRECT [[Wolf]]"}
    wikis = {**wikis, "en": SmallWiki("en", pages, {"Wolf": "Loup"}).write(tmp_path)}
    for words, text, count in (
        ("title", "The , or canis lupus, hunts.", 1),
        ("title_and_redirects", "The , or , hunts.", 0),
    ):
        made = make(tmp_path, wikis, removed_words=words)
        audit = made.manifest["audit"]
        assert (made.queries[0][2], audit["queries"], audit["with_a_word_of_a_redirect"]) == (text, 1, count)


def test_no_more_documents_and_pages_with_queries_are_taken_than_asked(tmp_path: Path, wikis: dict[str, Any]) -> None:
    made = make(tmp_path, wikis, max_somewhat_relevant=1)
    assert sorted(grades_of(made, "Wolf").values()) == ["1", "2"]
    pages = make(tmp_path, wikis, max_query_pages=2).manifest["pages_with_queries"]
    assert pages["used"] <= 2 and drops(pages)["not_drawn"] == 4


def test_a_wiki_is_paired_with_itself_by_its_links(tmp_path: Path, wikis: dict[str, Any]) -> None:
    made = make(tmp_path, {"fr": wikis["fr"]}, ("fr", "fr"), queries="text")
    assert grades_of(made, "Loup") == {"Chien": "2", "Cerf": "2"}
    assert grades_of(made, "Chien") == {"Loup": "2", "Cerf": "1"}
    assert drops(made.manifest["pages_with_queries"])["no_mutual_link"] == 4
    lists: dict[str, dict[str, str]] = {}
    for line in (made.folder / "candidates.tsv").read_text(encoding="utf-8").splitlines():
        query_id, doc_id, grade, split = line.split("\t")
        assert split == split_of(query_id)
        lists.setdefault(query_id, {})[doc_id] = grade
    for query_id, own in lists.items():
        assert query_id not in own
        assert len(own) == len(made.documents) - 1


@pytest.mark.parametrize("packing", PACKINGS)
def test_neither_the_packing_of_the_dumps_nor_other_processes_change_a_byte(
    tmp_path: Path, made: Made, packing: str
) -> None:
    def send(value: Any) -> Any:
        return pickle.loads(pickle.dumps(value))

    files = {"en": ENGLISH.write(tmp_path, packing), "fr": FRENCH.write(tmp_path, packing)}
    # As if another process did the work.
    again = make(tmp_path, files, apply=lambda work, tasks: [send(send(work)(send(task))) for task in tasks])
    for name in ("wiki_en.queries", "wiki_fr.documents", "en2fr.rel", "title_pairs.tsv"):
        assert (again.folder / name).read_bytes() == (made.folder / name).read_bytes()


@pytest.mark.parametrize("ending", [".json", ".npz", ".texts", ".redirects", ""])
def test_a_piece_of_a_killed_execution_with_a_changed_byte_is_read_again(
    tmp_path: Path, wikis: dict[str, Any], made: Made, ending: str
) -> None:
    make(tmp_path, wikis)
    file = tmp_path / f"work/en-00000{ending or '.json'}"
    content = file.read_bytes() or b"x"
    middle = len(content) // 2
    file.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :] if ending else b"")
    assert make(tmp_path, wikis)[:5] == made[:5]


def test_shards_hold_the_same_lines(tmp_path: Path, made: Made, wikis: dict[str, Any]) -> None:
    sharded = make(tmp_path, wikis, shards=3)
    assert len(list(sharded.folder.glob("wiki_fr.documents-*-of-00003"))) == 3
    assert sharded[:3] == made[:3]


def test_language_links_of_the_other_side_and_wikidata_give_the_same(
    tmp_path: Path, made: Made, wikis: dict[str, Any]
) -> None:
    links = {"Loup": "Wolf", "Cerf": "Deer", "Mercure": "Mercury", "Chien": "Dog", "Élan": "Moose", "Wapiti": "Elk"}
    links["Liste des animaux"] = "List of animals"
    english = ENGLISH._replace(language_links={}).write(tmp_path)
    reverse_links = make(tmp_path, {"en": english, "fr": FRENCH._replace(language_links=links).write(tmp_path)})
    lines = [f"Q{number}\tenwiki\t{en}\nQ{number}\tfrwiki\t{fr}\n" for number, (fr, en) in enumerate(links.items())]
    sitelinks = tmp_path / "sitelinks.tsv"
    sitelinks.write_text("".join(lines), encoding="utf-8")
    wikidata = make(tmp_path, {"en": english, "fr": wikis["fr"]}, sitelinks=str(sitelinks))
    assert reverse_links[:3] == wikidata[:3] == made[:3]


def test_sql_tables_give_what_the_wikitext_gives_and_count_what_differs(
    tmp_path: Path, made: Made, wikis: dict[str, Any]
) -> None:
    ids = {title: FRENCH.page_id(title) for title in FRENCH.pages}
    links = [
        ("Loup", "Cerf"), ("Loup", "Chien"), ("Loup", "Loup"), ("Chien", "Canis_lupus"), ("Chien", "Cerf"),
        ("Cerf", "Loup"), ("Liste des animaux", "Loup"), ("Liste des animaux", "Chien"),
        ("Liste des animaux", "Cerf"), ("Élan", "Cerf"), ("Wapiti", "Cerf"), ("Wapiti", "Élan"),
    ]  # fmt: skip
    targets = sorted({target for _, target in links})
    redirects = {"Clébard": "Toutou", "Toutou": "Chien", "Canis lupus": "Loup", "Boucle": "Nœud", "Nœud": "Boucle"}
    french = wikis["fr"] | {
        "redirects": write_table(
            tmp_path / "redirect.sql.gz",
            "redirect",
            ("rd_from", "rd_namespace", "rd_title", "rd_interwiki", "rd_fragment"),
            [(ids[title], 0, target, "", "") for title, target in redirects.items()],
        ),
        "page_links": write_table(
            tmp_path / "pagelinks.sql.gz",
            "pagelinks",
            ("pl_from", "pl_from_namespace", "pl_target_id"),
            [(ids[source], 0, targets.index(target) + 1) for source, target in links],
        ),
        "link_targets": write_table(
            tmp_path / "linktarget.sql.gz",
            "linktarget",
            ("lt_id", "lt_namespace", "lt_title"),
            [(number, 0, target) for number, target in enumerate(targets, 1)],
        ),
    }
    tables = make(tmp_path, {**wikis, "fr": french})
    assert tables[:3] == made[:3]
    # Wapiti links to Élan, and its wikitext does not show it: that must be a template's link.
    assert tables.manifest["wikis"]["fr"]["links"] == {"used": 11, "of_wikitext": 10, "common": 10}
    assert tables.manifest["wikis"]["fr"]["redirects"] == made.manifest["wikis"]["fr"]["redirects"]


TITLES = [f"T{number}" for number in range(12)]


@st.composite
def any_wikis(draw: st.DrawFn) -> tuple[SmallWiki, SmallWiki]:
    """Draws wikis of articles and redirects, with links to pages that may be missing."""

    def pages(language: str) -> dict[str, str]:
        texts = {}
        for title in draw(st.lists(st.sampled_from(TITLES), min_size=1, unique=True)):
            targets = draw(st.lists(st.sampled_from(TITLES), max_size=5))
            if draw(st.integers(0, 3)) == 0 and targets:
                texts[title] = f"#REDIRECT [[{targets[0]}]]"
            else:
                links = " ".join(f"[[{target}|see]]" for target in targets)
                texts[title] = f"A text of {language} about something. {links}"
        return texts

    english, french = pages("en"), pages("fr")
    links = draw(st.dictionaries(st.sampled_from(sorted(english)), st.sampled_from(TITLES)))
    return SmallWiki("en", english, links), SmallWiki("fr", french)


def reference(english: SmallWiki, french: SmallWiki) -> dict[tuple[str, str], int]:
    """(query page, document) to grade, by plain dictionaries."""

    def is_article(wiki: SmallWiki, title: str) -> bool:
        return title in wiki.pages and not wiki.pages[title].startswith("#")

    def resolve(title: str) -> str | None:
        for _ in range(len(TITLES)):
            if title not in french.pages:
                return None
            if is_article(french, title):
                return title
            title = french.pages[title].split("[[")[1].removesuffix("]]")
        return None

    links: dict[str, set[str]] = {}
    for title, text in french.pages.items():
        if is_article(french, title):
            targets = {resolve(part.split("|")[0]) for part in text.split("[[")[1:]}
            links[title] = {target for target in targets if target and target != title}
    grades: dict[tuple[str, str], int] = {}
    for title, linked_title in english.language_links.items():
        counterpart = resolve(linked_title)
        if is_article(english, title) and counterpart:
            grades[title, counterpart] = 2
            for partner in links[counterpart]:
                if counterpart in links[partner]:
                    grades[title, partner] = 1
    return grades


@settings(max_examples=12)
@given(both=any_wikis(), packing=st.sampled_from([*PACKINGS]))
def test_any_wikis_are_judged_as_dictionaries_do(
    tmp_path_factory: pytest.TempPathFactory, both: tuple[SmallWiki, SmallWiki], packing: str
) -> None:
    english, french = both
    folder = tmp_path_factory.mktemp("any")
    files: Mapping[str, Any] = {"en": english.write(folder, packing), "fr": french.write(folder, packing)}
    if not english.language_links:
        files["en"]["language_links"] = write_table(folder / "none.sql.gz", "langlinks", LANGLINKS, [])
    made = make(folder, files)
    titles = {doc_id: title for doc_id, title, _ in made.documents}
    pages = {query_id: title for query_id, title, _ in made.queries}
    assert {(pages[query_id], titles[doc_id]): int(grade) for query_id, doc_id, grade in made.judgments} == reference(
        english, french
    )
    held_out = {title for query_id, title in pages.items() if split_of(query_id) != "train"}
    answers = {titles[doc] for query, doc, grade in made.judgments if pages[query] in held_out and grade == "2"}
    for title, translation in made.title_pairs:
        assert title not in held_out
        assert translation not in answers
