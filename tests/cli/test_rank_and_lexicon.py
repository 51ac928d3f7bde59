"""`clir rank` with its explanations and its feedback, `clir lexicon` and `clir neighbours`."""

import json
import re
from pathlib import Path

import pytest

from models.exported.explanation import ScorePart, WordPart
from models.exported.lexicon import StemTranslations, Translation
from models.lexicon.learn_lexicon import learn_lexicon
from models.lexicon.write_lexicon import FurtherPairs, PairSource
from models.texts.tokens import ALL_WORDS
from schemas.lexicon_pairs import EXPORT_ENDINGS
from smooth_clir.cli.lexicon import _lines
from smooth_clir.cli.rank import MAX_WORDS, describe_parts
from tests.cli.command import Clir
from tests.models.lexicon.small_lexicon import table_of
from tests.models.loaded_once import model_of_vectors, model_with_words
from tests.models.small_lexicon import COLLECTION

pytestmark = pytest.mark.tensors

DOCUMENTS = "".join(f"d{number}\ttitle {number}\t{text}\n" for number, text in enumerate(COLLECTION))


def test_words_beyond_a_sensible_number_are_summed() -> None:
    words = [WordPart(query_term=f"q{n}", document_term=f"d{n}", part=1 / (n + 1)) for n in range(MAX_WORDS + 3)]
    lines = [*describe_parts((ScorePart(name="lexicon", part=2.5, words=words),))]
    assert lines[:3] == ["      2.5000  lexicon", "      1.0000    q0 <- d0", "      0.5000    q1 <- d1"]
    assert len(lines) == 1 + MAX_WORDS + 1
    remaining = sum(1 / (n + 1) for n in range(MAX_WORDS, MAX_WORDS + 3))
    assert lines[-1] == f"      {remaining:.4f}    3 others"


def test_no_control_sequence_of_a_word_reaches_the_terminal() -> None:
    word = WordPart(query_term="a\x1b[2J", document_term="b\x07", part=1)
    assert "".join(describe_parts((ScorePart(name="lexicon", part=1, words=(word,)),))).isprintable()


FILE = {"ファ": 0.5, "ァイ": 0.4, "イル": 0.45}
"""Overlapping pairs of characters of one word."""


@pytest.mark.parametrize(
    ("stems", "is_segmented", "lines"),
    [
        ({}, False, ["'file' holds no word"]),
        ({"file": FILE}, False, ["file, stem file", "  1.0000  file (equal stem)", "  0.5000  ファイル"]),
        (
            {"file": FILE},
            True,
            ["file, stem file", "  1.0000  file (equal stem)", "  0.5000  ファ", "  0.4500  イル", "  0.4000  ァイ"],
        ),
        (
            {"ファ": {"file": 0.5}, "ァヌ": None},
            False,
            [
                "file, stems ファ, ァヌ",
                *("  ファ", "    1.0000  ファ (equal stem)", "    0.5000  file, files"),
                *("  ァヌ", "    unknown word: no training query has it; only the same word matches"),
            ],
        ),
        (
            {"file": {}},
            False,
            [
                *("file, stem file", "  1.0000  file (equal stem)"),
                "  no translation was learned; only words with the equal stem match",
            ],
        ),
    ],
)
def test_a_word_is_shown_with_the_translations_of_each_stem_and_joined_pairs(
    stems: dict[str, dict[str, float] | None], is_segmented: bool, lines: list[str]
) -> None:
    translated = [
        StemTranslations(
            stem=stem,
            is_known=answers is not None,
            equal=Translation(stem=stem, weight=1),
            translations=tuple(
                Translation(stem=text, words=("file", "files") if text == "file" else (), weight=weight)
                for text, weight in sorted((answers or {}).items(), key=lambda answer: -answer[1])
            ),
        )
        for stem, answers in stems.items()
    ]
    assert [*_lines("file", translated, is_segmented)] == lines


@pytest.mark.parametrize("gain", ["-1", "nan", "inf", "much"])
def test_feedback_must_be_a_number_from_0_on(clir: Clir, tmp_path: Path, gain: str) -> None:
    for command in ("rank", "evaluate", "search"):
        done = clir(command, tmp_path, "--feedback", gain)
        assert (done.code, done.out, "'--feedback'" in done.err) == (2, "", True)


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        ("", "--word or --export"),
        ("--word dog --export table.tsv", "--word or --export"),
        ("--word \udce9t\udce9", "--word"),
        ("--export {}/table.txt", "table.txt"),
        ("--export {}/table.gz", "table.gz"),
        ("--export {}/there.tsv", "there.tsv"),
        ("--export {}/folder.json", "folder.json"),
        ("--export {}/no/table.json", "no does not exist"),
    ],
)
def test_lexicon_takes_words_or_a_new_file_of_a_known_form(
    clir: Clir, tmp_path: Path, options: str, reported: str
) -> None:
    (tmp_path / "there.tsv").write_text("mine")
    (tmp_path / "folder.json").mkdir()
    done = clir("lexicon", tmp_path, *options.format(tmp_path).split())
    assert (done.code, done.out, reported in done.err) == (2, "", True)
    assert (tmp_path / "there.tsv").read_text() == "mine"


# With a model


@pytest.fixture
def words_path(each_model_loaded_once: None) -> str:
    return model_with_words().path


@pytest.mark.stages
def test_rank_shows_the_parts_of_each_score(clir: Clir, words_path: str) -> None:
    arguments = ["rank", words_path, "--query", "white cat", "--documents", "-", "--top", 2, "--explain"]
    done = clir(*arguments, stdin=DOCUMENTS)
    assert (done.code, done.err) == (0, "")
    answer = json.loads(clir(*arguments, "--json", stdin=DOCUMENTS).out)
    expected, text_of = [], {f"d{number}": text for number, text in enumerate(COLLECTION)}
    for document in answer["documents"]:
        expected.append(f"{document['rank']:3}  {document['score']:7.4f}  {document['doc_id']}  {document['title']}")
        expected.append(f"     {text_of[document['doc_id']]}")
        assert sum(part["part"] for part in document["parts"]) == pytest.approx(document["score"], abs=1e-5)
        for part in document["parts"]:
            words = [
                f"     {word['part']:7.4f}    {word['query_term']} <- {word['document_term']}" for word in part["words"]
            ]
            expected += [f"     {part['part']:7.4f}  {part['name']}", *words]
    assert done.out.splitlines() == expected
    assert any("cat <- chat" in line for line in expected)
    again = clir(*arguments, "--feedback", 4, stdin=DOCUMENTS)
    assert sum(line.endswith("  feedback") for line in again.out.splitlines()) == 2


@pytest.mark.stages
def test_rank_names_each_of_several_queries_above_its_documents(clir: Clir, words_path: str, tmp_path: Path) -> None:
    documents = tmp_path / "wiki.documents"
    documents.write_text(DOCUMENTS)
    queries = ["white cat", "black\x1b[31m dog"]
    alone = [clir("rank", words_path, "--query", query, "--documents", documents, "--top", 1).out for query in queries]
    assert "query" not in "".join(alone)
    expected = f"query: white cat\n{alone[0]}\nquery: black\N{REPLACEMENT CHARACTER}[31m dog\n{alone[1]}\n"
    options = [option for query in queries for option in ("--query", query)]
    assert clir("rank", words_path, *options, "--documents", documents, "--top", 1).out == expected
    assert clir("rank", words_path, "--documents", documents, "--top", 1, stdin="\n".join(queries)).out == expected


@pytest.mark.stages
def test_rank_shows_no_control_sequence_and_no_endless_title_and_refuses_bad_input(
    clir: Clir, words_path: str, tmp_path: Path
) -> None:
    stdin = f"d\x1b[2J1\tChat\x1b]0;mine\x07{'n' * 10**5}\tun {'loup ' * 40}chat\n"
    arguments = ["rank", words_path, "--query", "white cat", "--documents"]
    done = clir(*arguments, "-", stdin=stdin)
    head, text = done.out.splitlines()
    assert (done.code, (head + text).isprintable(), text.endswith("loup chat")) == (0, True, True)
    assert len(done.out) < 500
    (document,) = json.loads(clir(*arguments, "-", "--json", stdin=stdin).out)["documents"]
    assert (document["doc_id"], document.keys()) == ("d\x1b[2J1", {"rank", "score", "doc_id", "title"})
    missing = clir(*arguments, tmp_path / "missing")
    assert (missing.code, str(tmp_path / "missing") in missing.err) == (1, True)
    (tmp_path / "documents").write_text(DOCUMENTS)
    latin = clir("rank", words_path, "--documents", tmp_path / "documents", stdin=b"planets\ncaf\xe9\n")
    assert (latin.code, "UTF-8" in latin.err) == (1, True)


@pytest.mark.stages
def test_lexicon_shows_the_translations_of_words(clir: Clir, words_path: str) -> None:
    arguments = ["lexicon", words_path, "--word", "Dog", "--word", "qxqxq", "--word", "!"]
    done = clir(*arguments)
    assert (done.code, done.err) == (0, "")
    head, equal, best, *_ = done.out.splitlines()
    assert (head, equal) == ("Dog, stem dog", "  1.0000  dog (equal stem)")
    assert re.fullmatch(r"  [01]\.\d{4}  chien", best)
    dog, unknown, nothing = json.loads(clir(*arguments, "--json").out)
    assert (dog["word"], dog["stems"][0]["stem"]) == ("Dog", "dog")
    assert dog["stems"][0]["translations"][0]["stem"] == "chien"
    equal_stem = {"stem": "qxqxq", "words": [], "weight": 1.0}
    stem = {"stem": "qxqxq", "is_known": False, "equal": equal_stem, "translations": []}
    assert unknown == {"word": "qxqxq", "stems": [stem]}
    assert nothing == {"word": "!", "stems": []}


@pytest.mark.stages
@pytest.mark.parametrize("ending", EXPORT_ENDINGS)
def test_lexicon_exports_all_translations_and_a_lexicon_learns_from_them_again(
    clir: Clir, words_path: str, tmp_path: Path, ending: str
) -> None:
    path = tmp_path / f"table{ending}"
    answer = json.loads(clir("lexicon", words_path, "--export", path, "--json").out)
    exported = model_with_words().all_translations()
    terms = len({query for query, _ in exported})
    assert answer == {"output": str(path), "translations": len(exported), "query_terms": terms}
    pairs = FurtherPairs([PairSource("pairs", [str(path)])], 0.0)
    assert {(query, document): weight for query, document, weight in pairs} == exported
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    learned = learn_lexicon("lexicon", ("en", "fr"), ALL_WORDS, pairs, ["chat"])
    assert table_of(learned)["dog"].keys() & {"chien"}


@pytest.mark.stages
def test_a_model_of_vectors_alone_has_one_channel_neighbours_and_no_lexicon(
    clir: Clir, each_model_loaded_once: None, tmp_path: Path
) -> None:
    path = model_of_vectors().path
    arguments = ["rank", path, "--query", "white cat", "--documents", "-", "--top", 1]
    first, _, third = clir(*arguments, "--explain", stdin=DOCUMENTS).out.splitlines()
    assert third == f"     {first[5:12]}  smooth_cosine"
    assert "parts" not in clir(*arguments, "--json", stdin=DOCUMENTS).out
    for options in (("--word", "dog"), ("--export", tmp_path / "table.tsv")):
        done = clir("lexicon", path, *options)
        assert (done.code, done.out, "channels.lexicon.kind" in done.err) == (1, "", True)
    assert not [*tmp_path.iterdir()]
    done = clir("neighbours", path, "--word", "Cat", "--word", "zzz", "-k", "2")
    assert (done.code, done.err) == (0, "")
    head, own, *lines = done.out.splitlines()
    assert (head, own) == ("Cat", "  distance in queries")
    assert re.fullmatch(r" +\d\.\d{4}  (white|dog)", lines[0])
    assert lines[2] == "  inner product with documents"
    assert lines[5:] == ["zzz: the model does not know it"]
    (chat,) = json.loads(clir("neighbours", path, "--word", "chat", "--documents", "--json").out)
    assert (chat["word"], len(chat["own_side"]), len(chat["other_side"])) == ("chat", 3, 3)
    assert clir("neighbours", tmp_path, "--word", "\udce9t\udce9").code == 2
