"""pipeline/conversion/pairs.py and pair_files.py: pairs of a query and its document into our files."""

import bz2
import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.config_file import load_config
from pipeline.conversion.convert import Conversion
from pipeline.conversion.inputs import ConversionSettings
from pipeline.conversion.pairs import convert_pairs
from schemas.errors import DataError

SETTINGS = ConversionSettings("en", "fr", max_bad_share=0.5)
UNIT = '<tu><tuv xml:lang="en-US"><seg>{}</seg></tuv><tuv xml:lang="fr"><seg>{}</seg></tuv></tu>'


def tmx(*units: str) -> str:
    return f'<?xml version="1.0"?><!DOCTYPE tmx SYSTEM "tmx14.dtd"><tmx><body>{"".join(units)}</body></tmx>'


class Converted:
    """The files of a conversion, as rows of fields."""

    def __init__(self, conversion: Conversion, folder: Path) -> None:
        self.account = conversion.files["pairs"]
        self.notes = conversion.notes
        self.lists = conversion.lists
        for name in ("queries", "documents", "judgments"):
            lines = (folder / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
            setattr(self, name, [tuple(line.split("\t")) for line in lines])

    queries: list[tuple[str, ...]]
    documents: list[tuple[str, ...]]
    judgments: list[tuple[str, ...]]

    def pairs(self) -> list[tuple[str, str, str]]:
        """(query, document, grade) of each judgment."""
        queries, documents = ({row[0]: row[2] for row in rows} for rows in (self.queries, self.documents))
        return [(queries[query_id], documents[doc_id], grade) for query_id, doc_id, grade in self.judgments]

    def reasons(self) -> dict[str, int]:
        return {drop.reason.text: drop.count for drop in self.account.drops}


def converted(folder: Path, *contents: str | bytes, names: tuple[str, ...] = ("a", "b")) -> Converted:
    paths = [folder / name for name, _ in zip(names, contents, strict=False)]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    output = folder / "out"
    return Converted(convert_pairs(tuple(map(str, paths)), SETTINGS, output), output)


def test_two_columns_become_queries_documents_and_judgments_with_the_line_as_id(tmp_path: Path) -> None:
    result = converted(tmp_path, "the sun\tle soleil\na wolf\tun loup\n")
    assert result.queries == [("1", "", "the sun"), ("2", "", "a wolf")]
    assert result.documents == [("1", "", "le soleil"), ("2", "", "un loup")]
    assert result.judgments == [("1", "1", "1"), ("2", "2", "1")]
    data = load_config(str(tmp_path / "out" / "config.yaml")).data
    assert (data.top_grade, data.query_language, data.document_language) == (1, "en", "fr")


def test_equal_texts_are_one_query_and_one_document_and_a_repeated_pair_counts_once(tmp_path: Path) -> None:
    result = converted(tmp_path, "a wolf\tun loup\na wolf\tle loup\nwolf\tun loup\na wolf\tun loup\n")
    assert [row[2] for row in result.queries] == ["a wolf", "wolf"]
    assert [row[2] for row in result.documents] == ["un loup", "le loup"]
    assert result.pairs() == [("a wolf", "un loup", "1"), ("a wolf", "le loup", "1"), ("wolf", "un loup", "1")]
    assert (result.account.read, result.account.used, result.reasons()) == (4, 3, {"equal to an earlier line": 1})


@pytest.mark.parametrize(
    "content",
    [
        'question,answer\n"a wolf","un loup, gris"\nsun,soleil\n',
        '{"source": "a wolf", "target": "un loup, gris"}\n{"source": "sun", "target": "soleil"}\n',
        '[{"query": "a wolf", "document": "un loup, gris"}, {"query": "sun", "document": "soleil"}]',
        "a wolf\tun loup, gris\tCC-BY 2.0\nsun\tsoleil\tCC-BY 2.0\n",
        "1276\ta wolf\t77\tun loup, gris\n1277\tsun\t78\tsoleil\n",
    ],
    ids=["CSV", "JSON lines", "JSON", "manythings.org", "Tatoeba"],
)
def test_columns_are_known_by_their_names_or_their_number(tmp_path: Path, content: str) -> None:
    assert converted(tmp_path, content).pairs() == [("a wolf", "un loup, gris", "1"), ("sun", "soleil", "1")]


def test_packed_files_are_read_as_plain_ones(tmp_path: Path) -> None:
    expected = [("a wolf", "un loup", "1"), ("sun", "soleil", "1")]
    content = b"a wolf\tun loup\nsun\tsoleil\n"
    for name, packed in {"a": gzip.compress(content), "b": bz2.compress(content)}.items():
        folder = tmp_path / name
        folder.mkdir()
        assert converted(folder, packed).pairs() == expected
    units = gzip.compress(tmx(UNIT.format("a wolf", "un loup"), UNIT.format("sun", "soleil")).encode())
    assert converted(tmp_path, units, names=("memory.TMX.gz",)).pairs() == expected


def test_lines_of_aligned_files_with_the_same_number_are_pairs(tmp_path: Path) -> None:
    result = converted(tmp_path, "a wolf\n\n\nthe sun\n", "un loup\n\nseul\nle soleil\n")
    assert result.pairs() == [("a wolf", "un loup", "1"), ("the sun", "le soleil", "1")]
    assert result.reasons() == {"empty line": 1, "empty text": 1}


def test_aligned_files_of_different_lengths_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"equally many lines .*; .*/b has 1, and .*/a has more"):
        converted(tmp_path, "a wolf\nthe sun\n", "un loup\n")
    assert not (tmp_path / "out" / "queries.tsv").exists()


def test_a_translation_memory_gives_the_texts_of_both_languages_without_codes(tmp_path: Path) -> None:
    coded = UNIT.format('a <bpt i="1">&lt;b&gt;</bpt>grey<ept i="1">&lt;/b&gt;</ept> <hi>wolf</hi>.', "un loup gris.")
    old = '<tu><tuv lang="FR_CA"><seg>soleil</seg></tuv><tuv lang="EN"><seg>sun</seg></tuv></tu>'
    german = '<tu><tuv lang="en"><seg>moon</seg></tuv><tuv lang="de"><seg>Mond</seg></tuv></tu>'
    result = converted(tmp_path, tmx(coded, old, german), names=("memory.tmx",))
    assert result.pairs() == [("a grey wolf.", "un loup gris.", "1"), ("sun", "soleil", "1")]
    assert result.reasons() == {"translation unit without a text in both languages": 1}
    in_utf_16 = tmx(coded, old).replace('"1.0"?', '"1.0" encoding="UTF-16"?').encode("utf-16")
    assert converted(tmp_path, in_utf_16, names=("wide.tmx",)).pairs() == result.pairs()


@pytest.mark.parametrize(
    "content",
    [
        '<!DOCTYPE tmx [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><tmx><body><tu>&b;</tu></body></tmx>',
        '<!DOCTYPE tmx [<!ENTITY a SYSTEM "file:///etc/passwd">]><tmx><body><tu>&a;</tu></body></tmx>',
        f"<tmx><body>{UNIT.format('a', 'b')}",
        f"<tmx><body><tu><tuv><seg>{'<hi>' * 20_000}{'</hi>' * 20_000}</seg></tuv></tu></body></tmx>",
        gzip.compress(tmx(UNIT.format("a", "b")).encode())[:-20],
    ],
    ids=["entities that unfold", "entities of other files", "cut off", "deep", "cut off gzip"],
)
def test_a_translation_memory_that_is_damaged_or_made_to_harm_is_refused(tmp_path: Path, content: str | bytes) -> None:
    with pytest.raises(DataError, match="rest of the file cannot be read"):
        converted(tmp_path, content, names=("memory.tmx",))


def test_negative_passages_are_judged_not_relevant_unless_they_are_relevant_elsewhere(tmp_path: Path) -> None:
    lines = [
        {
            "query": "wolf",
            "positive_passages": [{"text": "loup"}, "loup gris"],
            "negative_passages": [{"text": "chat"}],
        },
        {"query": "wolf", "positive_passages": [{"text": "chat"}], "negative_passages": []},
        {"query": "fox", "positive_passages": []},
        {"query": "fox", "positive_passages": [{"title": "renard"}]},
    ]
    result = converted(tmp_path, "\n".join(map(json.dumps, lines)))
    assert result.documents == [("1", "", "loup"), ("1.2", "", "loup gris"), ("1.3", "", "chat")]
    assert result.pairs() == [("wolf", "loup", "1"), ("wolf", "loup gris", "1"), ("wolf", "chat", "1")]
    assert result.reasons() == {"query without a positive passage": 1, "not a JSON object": 1}


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(*[st.text(st.characters(blacklist_categories=["Cs", "Cc"]), max_size=6)] * 2), min_size=2, max_size=30
    )
)
def test_every_pair_is_found_again_or_counted(tmp_path_factory: pytest.TempPathFactory, texts: list) -> None:
    folder = tmp_path_factory.mktemp("pairs")
    content = "\n".join(json.dumps({"query": query, "document": document}) for query, document in texts)
    kept = {(" ".join(query.split()), " ".join(document.split())) for query, document in texts}
    kept = {pair for pair in kept if all(pair)}
    try:
        result = converted(folder, content)
    except DataError:  # more than half of the lines are bad, or there is a single document
        whole = sum(bool(query.split() and document.split()) for query, document in texts)
        assert 2 * whole < len(texts) or len({document for _, document in kept}) < 2
        return
    assert {pair[:2] for pair in result.pairs()} == kept
    assert result.account.read == len(texts) == result.account.used + sum(result.reasons().values())
