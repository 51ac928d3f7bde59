"""pipeline/conversion/document_pairs.py: documents alone become pairs of a query and its document."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.translation_gen import translate_sentences
from models.translators.command import ALLOWED
from models.translators.settings import TranslatorSettings
from models.translators.translator import probe_of
from pipeline.config_file import load_config
from pipeline.conversion.convert import Conversion
from pipeline.conversion.document_pairs import QuerySource, convert_documents
from pipeline.conversion.inputs import ConversionSettings
from schemas.errors import DataError
from tests.models.translators.small_translator import UPPER, settings_of

pytestmark = pytest.mark.tensors  # the store of translations

DOCUMENTS = "d1\tLoup\tLe loup dort. Il a faim. Il hurle.\nd2\t\tLe chat. Il court.\nd3\tCerf\tLe cerf boit.\n"


class Converted:
    """The files of a conversion, as rows of fields."""

    def __init__(self, conversion: Conversion, folder: Path) -> None:
        self.conversion = conversion
        self.queries, self.documents, self.judgments = (
            [tuple(line.split("\t")) for line in (folder / f"{name}.tsv").read_text(encoding="utf-8").split("\n")[:-1]]
            for name in ("queries", "documents", "judgments")
        )

    def reasons(self) -> dict[str, int]:
        return {drop.reason.text: drop.count for drop in self.conversion.files["documents"].drops}


def converted(
    folder: Path,
    query_source: QuerySource,
    content: str = DOCUMENTS,
    translator: TranslatorSettings | None = None,
) -> Converted:
    (folder / "documents").write_text(content, encoding="utf-8")
    own = ConversionSettings("en" if translator else "fr", "fr")
    path = str(folder / "documents")
    return Converted(convert_documents(path, query_source, translator, own, folder / "out"), folder / "out")


def test_a_title_is_the_query_of_its_document_whose_id_both_have(tmp_path: Path) -> None:
    result = converted(tmp_path, "titles")
    assert result.queries == [("d1", "", "Loup"), ("d3", "", "Cerf")]
    assert result.documents == [("d1", "", "Le loup dort. Il a faim. Il hurle."), ("d3", "", "Le cerf boit.")]
    assert result.judgments == [("d1", "d1", "1"), ("d3", "d3", "1")]
    assert result.reasons() == {"document without a title": 1}


def test_a_first_sentence_is_the_query_and_leaves_its_document(tmp_path: Path) -> None:
    result = converted(tmp_path, "sentences")
    assert result.queries == [("d1", "", "Le loup dort."), ("d2", "", "Le chat.")]
    assert result.documents == [("d1", "", "Il a faim. Il hurle."), ("d2", "", "Il court.")]
    assert result.reasons() == {"document of a single sentence": 1}


def test_equal_titles_are_one_query_with_several_documents(tmp_path: Path) -> None:
    result = converted(tmp_path, "titles", "a\tLoup\tIl dort.\nb\tLoup\tIl hurle.\n")
    assert result.queries == [("a", "", "Loup")]
    assert result.judgments == [("a", "a", "1"), ("a", "b", "1")]


def test_too_few_pairs_are_refused_with_the_reasons(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"got 1 \(2 read, 1 used; left out: 1 document without a title\)"):
        converted(tmp_path, "titles", "a\tLoup\tIl dort.\nb\t\tIl hurle.\n")
    assert not (tmp_path / "out" / "queries.tsv").exists()


@settings(max_examples=50)
@given(st.lists(st.tuples(*[st.text(st.sampled_from("Ab .\u3002\u00a0\u200b"), max_size=9)] * 2), min_size=2))
def test_every_document_gives_a_pair_of_its_own_words_or_is_counted(
    tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, str]]
) -> None:
    content = "".join(f"d{number}\t{title}\t{text}\n" for number, (title, text) in enumerate(texts))
    for query_source in ("titles", "sentences"):
        try:
            result = converted(tmp_path_factory.mktemp("documents"), query_source, content)
        except DataError:  # too many empty texts, or fewer than two pairs
            continue
        texts_of = {f"d{number}": pair for number, pair in enumerate(texts)}
        queries = {query_id: query for query_id, _, query in result.queries}
        documents = {doc_id: text for doc_id, _, text in result.documents}
        for query_id, doc_id, _ in result.judgments:
            title, text = ("".join(part.split()) for part in texts_of[doc_id])
            query, document = ("".join(part.split()) for part in (queries[query_id], documents[doc_id]))
            expected = (title, text) if query_source == "titles" else (query, text.removeprefix(query))
            assert (query, document) == expected


# With a translator


@pytest.fixture
def got(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of all texts that the program got, which translates into capitals, and stops at a deer once."""
    monkeypatch.setenv(ALLOWED, "*")
    return tmp_path / "got"


def upper(got: Path) -> TranslatorSettings:
    fails = f"sys.exit('a deer') if 'Cerf' in text and not os.path.exists({str(got.with_name('mended'))!r}) else None"
    keeps = f"text = sys.stdin.read(); open({str(got)!r}, 'a').write(text); {fails}"
    return settings_of(f"{keeps}; sys.stdout.write(text.upper().replace('CHAT', ''))")


def texts(got: Path) -> list[str]:
    return [text for text in got.read_text(encoding="utf-8").split("\n\n") if text not in ("", probe_of("fr"))]


def test_queries_are_translated_and_the_translator_teaches_the_lexicon_of_a_run(tmp_path: Path, got: Path) -> None:
    translator = upper(got)
    result = converted(tmp_path, "titles", "a\tLoup\tIl dort.\nb\tChat\tIl court.\nc\tLynx\tIl boit.\n", translator)
    assert result.queries == [("a", "", "LOUP"), ("c", "", "LYNX")]
    assert result.documents == [("a", "", "Il dort."), ("c", "", "Il boit.")]
    assert result.reasons() == {"query without a translation": 1}
    assert load_config(str(tmp_path / "out" / "config.yaml")).channels.lexicon.translator == translator
    assert result.conversion.runs_commands


def test_a_conversion_that_was_stopped_goes_on_with_the_queries_that_are_left(
    tmp_path: Path, got: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(translate_sentences, "TEXTS_OF_A_PIECE", 2)
    content = f"{DOCUMENTS}d4\tLoup\tIl est gris.\nd5\tLynx\tIl est roux.\n"
    with pytest.raises(DataError, match="a deer"):
        converted(tmp_path, "titles", content, upper(got))
    assert not (tmp_path / "out" / "queries.tsv").exists()
    got.with_name("mended").touch()
    got.unlink()
    result = converted(tmp_path, "titles", content, upper(got))
    assert texts(got) == ["Cerf", "Lynx"]
    assert [query for _, _, query in result.queries] == ["LOUP", "CERF", "LYNX"]
    assert not (tmp_path / "out" / ".conversion.work").exists()


def test_a_program_that_is_not_allowed_is_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ALLOWED, raising=False)
    with pytest.raises(DataError, match="--allow-commands"):
        converted(tmp_path, "titles", DOCUMENTS, settings_of(UPPER))
    assert not (tmp_path / "out").exists()
