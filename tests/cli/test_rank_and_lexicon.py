"""`clir rank` with its explanations and its feedback, `clir lexicon` and `clir neighbours`."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.rank import MOST_WORDS, describe_parts
from components.lexicon_gen.write_lexicon import FurtherPairs
from models.exported.explanation import ScorePart, WordPart
from models.exported.model import LoadedModel
from models.lexicon.learn_lexicon import learn_lexicon
from models.texts.tokens import ALL_WORDS
from schemas.lexicon_pairs import EXPORT_ENDINGS
from tests.cli.command import Clir
from tests.models.lexicon.small_lexicon import table_of
from tests.models.loaded_once import loaded_once
from tests.models.small_lexicon import COLLECTION, export_with_words
from tests.models.small_model import export_small_model

pytestmark = pytest.mark.tensors


def test_words_beyond_a_sensible_number_are_summed() -> None:
    words = [WordPart(query_term=f"q{n}", document_term=f"d{n}", part=1 / (n + 1)) for n in range(MOST_WORDS + 3)]
    lines = [*describe_parts((ScorePart(name="lexicon", part=2.5, words=words),))]
    assert lines[:3] == ["      2.5000  lexicon", "      1.0000    q0 <- d0", "      0.5000    q1 <- d1"]
    assert len(lines) == 1 + MOST_WORDS + 1
    rest = sum(1 / (n + 1) for n in range(MOST_WORDS, MOST_WORDS + 3))
    assert lines[-1] == f"      {rest:.4f}    3 others"


def test_no_control_sequence_of_a_word_reaches_the_terminal() -> None:
    word = WordPart(query_term="a\x1b[2J", document_term="b\x07", part=1)
    assert "".join(describe_parts((ScorePart(name="lexicon", part=1, words=(word,)),))).isprintable()


@pytest.fixture(scope="module", autouse=True)
def each_model_loaded_once() -> Iterator[None]:
    with loaded_once():
        yield


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return export_with_words(tmp_path_factory.mktemp("words") / "model")


@pytest.fixture(scope="module")
def vectors_alone(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("vectors") / "model"
    export_small_model(path)
    return str(path)


DOCUMENTS = "".join(f"d{number}\ttitle {number}\t{text}\n" for number, text in enumerate(COLLECTION))


@pytest.mark.stages
def test_rank_shows_what_made_each_score(clir: Clir, model: str) -> None:
    arguments = ["rank", model, "--query", "white cat", "--documents", "-", "--top", 2, "--explain"]
    done = clir(*arguments, stdin=DOCUMENTS)
    assert (done.code, done.err) == (0, "")
    answer = json.loads(clir(*arguments, "--json", stdin=DOCUMENTS).out)
    expected, text_of = [], {f"d{number}": text for number, text in enumerate(COLLECTION)}
    for one in answer["documents"]:
        expected.append(f"{one['rank']:3}  {one['score']:7.4f}  {one['doc_id']}  {one['title']}")
        expected.append(f"     {text_of[one['doc_id']]}")
        assert sum(part["part"] for part in one["parts"]) == pytest.approx(one["score"], abs=1e-5)
        for part in one["parts"]:
            expected.append(f"     {part['part']:7.4f}  {part['name']}")
            expected += [
                f"     {word['part']:7.4f}    {word['query_term']} <- {word['document_term']}" for word in part["words"]
            ]
    assert done.out.splitlines() == expected
    assert any("cat <- chat" in line for line in expected)


@pytest.mark.stages
def test_rank_of_a_model_of_vectors_alone_shows_its_one_channel(clir: Clir, vectors_alone: str) -> None:
    arguments = ["rank", vectors_alone, "--query", "white cat", "--documents", "-", "--top", 1]
    first, _, third = clir(*arguments, "--explain", stdin=DOCUMENTS).out.splitlines()
    assert third == f"     {first[5:12]}  smooth_cosine"
    assert "parts" not in clir(*arguments, "--json", stdin=DOCUMENTS).out


@pytest.mark.stages
def test_rank_shows_first_words_without_a_title_and_the_words_that_match(
    clir: Clir, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    arguments = ["rank", model, "--query", "white cat", "--documents", "-"]
    text_of_document = f"un {'loup ' * 40}chat blanc"
    stdin = f"d1\t \t{text_of_document}\n"
    head, text = clir(*arguments, stdin=stdin).out.splitlines()
    assert head.endswith(f"  d1  {text_of_document[:60]}…")
    assert text.endswith("loup chat blanc")
    assert "\x1b[1mchat\x1b[0m \x1b[1mblanc\x1b[0m" in clir(*arguments, stdin=stdin, on_terminal=True).out
    (document,) = json.loads(clir(*arguments, "--json", stdin=stdin).out)["documents"]
    assert document.keys() == {"rank", "score", "doc_id", "title"}


@pytest.mark.stages
def test_rank_names_each_of_several_queries_above_its_documents(clir: Clir, model: str, tmp_path: Path) -> None:
    documents = tmp_path / "wiki.documents"
    documents.write_text(DOCUMENTS)
    queries = ["white cat", "black\x1b[31m dog"]
    alone = [clir("rank", model, "--query", one, "--documents", documents, "--top", 1).out for one in queries]
    assert "query" not in "".join(alone)
    expected = f"query: white cat\n{alone[0]}\nquery: black\N{REPLACEMENT CHARACTER}[31m dog\n{alone[1]}\n"
    options = [option for one in queries for option in ("--query", one)]
    assert clir("rank", model, *options, "--documents", documents, "--top", 1).out == expected
    stdin = "\n".join(queries)
    assert clir("rank", model, "--documents", documents, "--top", 1, stdin=stdin).out == expected


@pytest.mark.stages
def test_feedback_is_a_part_of_the_score(clir: Clir, model: str) -> None:
    arguments = ["rank", model, "--query", "white cat", "--documents", "-", "--top", 2, "--feedback", 4, "--explain"]
    done = clir(*arguments, stdin=DOCUMENTS)
    assert (done.code, done.err) == (0, "")
    assert sum(line.endswith("  feedback") for line in done.out.splitlines()) == 2


@pytest.mark.parametrize("gain", ["-1", "nan", "inf", "much"])
def test_feedback_must_be_a_number_from_0_on(clir: Clir, tmp_path: Path, gain: str) -> None:
    for command in ("rank", "evaluate"):
        done = clir(command, tmp_path, "--feedback", gain)
        assert (done.code, done.out) == (2, "")
        assert "'--feedback'" in done.err


@pytest.mark.stages
def test_lexicon_shows_the_translations_of_words(clir: Clir, model: str) -> None:
    done = clir("lexicon", model, "--word", "Dog", "--word", "qxqxq", "--word", "!")
    assert (done.code, done.err) == (0, "")
    head, best, *_ = done.out.splitlines()
    assert head == "Dog, stem dog"
    assert re.fullmatch(r"  [01]\.\d{4}  chien", best)
    assert done.out.splitlines()[-3:] == [
        "qxqxq, stem qxqxq",
        "  no translation; only the same stem answers it",
        "'!' holds no word",
    ]
    dog, unknown, nothing = json.loads(
        clir("lexicon", model, "--word", "Dog", "--word", "qxqxq", "--word", "!", "--json").out
    )
    assert (dog["word"], dog["stems"][0]["stem"]) == ("Dog", "dog")
    assert dog["stems"][0]["translations"][0]["stem"] == "chien"
    assert unknown == {"word": "qxqxq", "stems": [{"stem": "qxqxq", "translations": []}]}
    assert nothing == {"word": "!", "stems": []}


OF_KANA = (
    ("file", "ファイル"),
    ("open file", "ひらく ファイル"),
    ("printer", "プリンター"),
    ("open printer", "ひらく プリンター"),
)


@pytest.fixture(scope="module")
def of_kana(tmp_path_factory: pytest.TempPathFactory) -> str:
    return export_with_words(tmp_path_factory.mktemp("kana") / "model", languages=("en", "ja"), pairs=OF_KANA)


@pytest.fixture(scope="module")
def from_kana(tmp_path_factory: pytest.TempPathFactory) -> str:
    pairs = tuple((of_kana, word) for word, of_kana in OF_KANA)
    return export_with_words(tmp_path_factory.mktemp("from_kana") / "model", languages=("ja", "en"), pairs=pairs)


@pytest.mark.stages
def test_pairs_that_make_a_word_are_shown_as_this_word_with_the_largest_weight(clir: Clir, of_kana: str) -> None:
    shown = clir("lexicon", of_kana, "--word", "file", "--word", "open")
    assert (shown.code, shown.err) == (0, "")
    file, best, open_, *answers = shown.out.splitlines()
    assert (file, open_) == ("file, stem file", "open, stem open")
    assert [line.split()[1] for line in answers] == ["ひらく", "ファイル", "プリンター"]
    of_file, of_open = json.loads(clir("lexicon", of_kana, "--word", "file", "--word", "open", "--json").out)
    pairs = {one["stem"]: one["weight"] for one in of_file["stems"][0]["translations"]}
    assert pairs.keys() == {"ファ", "ァイ", "イル"}
    assert best == f"  {max(pairs.values()):.4f}  ファイル"
    assert {one["stem"] for one in of_open["stems"][0]["translations"]} > {"ひら", "らく", *pairs}


@pytest.mark.stages
def test_a_word_of_several_pairs_is_shown_once_with_the_translations_of_each(clir: Clir, from_kana: str) -> None:
    done = clir("lexicon", from_kana, "--word", "ファイル", "--word", "ファヌ")
    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert lines[0] == "ファイル, stems ファ, ァイ, イル"
    of_stems = re.split(r"\n  (?=\S)", "\n".join(lines[: lines.index("ファヌ, stems ファ, ァヌ")]))[1:]
    assert [block.splitlines()[0] for block in of_stems] == ["ファ", "ァイ", "イル"]
    assert all(re.fullmatch(r"    [01]\.\d{4}  file", block.splitlines()[1]) for block in of_stems)
    assert lines[-2:] == ["  ァヌ", "    no translation; only the same stem answers it"]


@pytest.mark.stages
def test_lexicon_of_a_model_without_one_exits_1(clir: Clir, vectors_alone: str) -> None:
    done = clir("lexicon", vectors_alone, "--word", "dog")
    assert (done.code, done.out) == (1, "")
    assert re.fullmatch(
        r"clir: .+ must have a lexicon, but .+; a run with lexicon\.kind lexicon learns one\.\n", done.err
    )


@pytest.fixture(scope="module")
def without_translations(tmp_path_factory: pytest.TempPathFactory) -> str:
    return export_with_words(tmp_path_factory.mktemp("equal") / "model", "bm25")


@pytest.mark.stages
@pytest.mark.parametrize("ending", EXPORT_ENDINGS)
def test_lexicon_exports_all_translations_and_a_lexicon_learns_from_them_again(
    clir: Clir, model: str, tmp_path: Path, ending: str
) -> None:
    path = tmp_path / f"table{ending}"
    done = clir("lexicon", model, "--export", path)
    assert done.code == 0, done.err
    exported = LoadedModel(model).all_translations()
    terms = len({query for query, _ in exported})
    assert done.out == f"{len(exported)} translations of {terms} query stems\n"
    assert f"--set lexicon.pairs={path}" in done.err
    pairs = FurtherPairs([str(path)], None, 0.0, open)
    assert {(query, document): weight for query, document, weight in pairs} == exported
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    learned = learn_lexicon("lexicon", ("en", "fr"), ALL_WORDS, pairs, ["chat"])
    assert table_of(learned)["dog"].keys() & {"chien"}


@pytest.mark.stages
def test_the_export_says_as_json_where_it_is(clir: Clir, model: str, tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    answer = json.loads(clir("lexicon", model, "--export", path, "--json").out)
    table = json.loads(path.read_text())
    assert answer.pop("output") == str(path)
    assert answer == {
        "translations": sum(map(len, table.values())),
        "query_terms": len({query for of in table.values() for query in of}),
    }
    words = json.loads(clir("lexicon", model, "--word", "dog", "--json").out)
    for one in words[0]["stems"][0]["translations"]:
        assert table[one["stem"]]["dog"] == pytest.approx(one["weight"], rel=1e-6)


@pytest.mark.stages
def test_a_model_without_translations_exports_none(clir: Clir, without_translations: str, tmp_path: Path) -> None:
    done = clir("lexicon", without_translations, "--export", tmp_path / "table.tsv")
    assert (done.code, done.out) == (1, "")
    assert "must have a lexicon, but matches equal words (bm25); a run with lexicon.kind lexicon learns one" in done.err
    assert not [*tmp_path.iterdir()]


def test_no_table_is_written_over_a_file_into_no_folder_or_in_an_unknown_form(clir: Clir, tmp_path: Path) -> None:
    (tmp_path / "there.tsv").write_text("mine")
    (tmp_path / "folder.json").mkdir()
    for name, why in {
        "table.txt": "must end in .json, .json.gz, .tsv, .tsv.gz, which say the form of the table; got",
        "table.gz": "must end in .json, .json.gz, .tsv, .tsv.gz, which say the form of the table; got",
        "there.tsv": "there must be no such file yet;",
        "folder.json": "must be a file;",
        "no/table.json": "must be there; make it, or choose another.",
    }.items():
        done = clir("lexicon", tmp_path, "--export", tmp_path / name)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("clir: --export: ") and why in done.err
    assert (tmp_path / "there.tsv").read_text() == "mine"


@pytest.mark.parametrize("options", [(), ("--word", "dog", "--export", "table.tsv")])
def test_lexicon_takes_words_or_a_file(clir: Clir, tmp_path: Path, options: tuple[str, ...]) -> None:
    done = clir("lexicon", tmp_path, *options)
    assert (done.code, done.out) == (2, "")
    assert "give --word or --export, and not both." in done.err


def test_lexicon_refuses_a_word_that_is_not_utf8(clir: Clir, tmp_path: Path) -> None:
    done = clir("lexicon", tmp_path, "--word", "\udce9t\udce9")
    assert (done.code, done.out) == (2, "")
    assert "--word must be UTF-8" in done.err


@pytest.mark.stages
def test_neighbours_shows_the_nearest_words_of_both_sides(clir: Clir, vectors_alone: str) -> None:
    done = clir("neighbours", vectors_alone, "--word", "Cat", "--word", "zzz", "-k", "2")
    assert (done.code, done.err) == (0, "")
    head, own, *lines = done.out.splitlines()
    assert (head, own) == ("Cat", "  distance in queries")
    assert re.fullmatch(r" +\d\.\d{4}  (white|dog)", lines[0])
    assert lines[2] == "  inner product with documents"
    assert lines[5:] == ["zzz: the model does not know it"]
    (chat,) = json.loads(clir("neighbours", vectors_alone, "--word", "chat", "--documents", "--json").out)
    assert (chat["word"], len(chat["own_side"]), len(chat["other_side"])) == ("chat", 3, 3)


def test_neighbours_refuses_a_word_that_is_not_utf8(clir: Clir, tmp_path: Path) -> None:
    done = clir("neighbours", tmp_path, "--word", "\udce9t\udce9")
    assert done.code == 2
