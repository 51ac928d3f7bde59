"""models/lexicon/learn_lexicon.py and lexicon.py: statistics of a collection, and the files that hold them."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.lexicon.learn_lexicon import learn_lexicon
from models.lexicon.lexicon import read_lexicon
from models.texts.tokens import ALL_WORDS
from schemas.word_rules import WordRules
from tests.models.lexicon.reference import PAIRS, Reference, translations
from tests.models.lexicon.small_lexicon import COLLECTIONS, LANGUAGES, join, learn, sample_texts, table_of, terms

pytestmark = pytest.mark.tensors


def assert_equal_tables(table, expected):
    assert table.keys() == expected.keys()
    for query, shares in expected.items():
        assert table[query] == pytest.approx(shares, abs=1e-6)


def assert_agrees(lexicon, reference):
    assert_equal_tables(table_of(lexicon), reference.table)
    assert lexicon.record.documents == len(reference.documents)
    assert lexicon.record.mean_length == pytest.approx(reference.mean_length, abs=1e-6)
    expected = [reference.document_frequency(term.decode()) for term in lexicon.terms]
    np.testing.assert_allclose(lexicon.document_frequency, expected, atol=1e-6)


def write(lexicon, folder):
    for name, content in lexicon.files():
        (folder / name).write_text(content, encoding="utf-8")
    return str(folder)


@settings(max_examples=10)
@given(PAIRS, COLLECTIONS)
def test_translations_and_statistics_are_those_of_the_loops(pairs, documents):
    assert_agrees(learn(pairs, documents), Reference(documents, translations(pairs)))


def test_translations_and_statistics_of_real_texts_are_those_of_the_loops():
    texts, documents = sample_texts()
    texts, documents = texts[::100], documents[::40]
    pairs = list(
        zip(*(terms(side, name) for side, name in zip(zip(*texts, strict=True), LANGUAGES, strict=True)), strict=True)
    )
    reference = Reference(terms(documents, "fr"), translations(pairs))
    assert len(reference.table) > 100
    assert_agrees(learn_lexicon("lexicon", LANGUAGES, ALL_WORDS, texts, documents), reference)


@settings(max_examples=6)
@given(PAIRS, COLLECTIONS, st.integers(1, 3))
def test_statistics_do_not_depend_on_how_the_texts_are_counted(pairs, documents, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("models.lexicon.learn_lexicon._BATCH", size)
        patch.setattr("models.texts.word_counts._LENGTH", size)
        in_batches = learn(pairs, documents)
    assert dict(in_batches.files()) == dict(learn(pairs, documents).files())


def test_a_translation_that_another_word_explains_better_comes_after_one_of_its_own():
    # "hive" and "honey" stand beside "miel" equally often, but "miel" has "honey" elsewhere, too.
    table = table_of(learn([(["honey", "hive"], ["miel", "ruche"])] * 3 + [(["honey"], ["miel"])] * 3, []))
    assert max(table["hive"], key=table["hive"].get) == "ruche"
    assert max(table["honey"], key=table["honey"].get) == "miel"


@settings(max_examples=6)
@given(PAIRS, PAIRS)
def test_of_several_tables_each_entry_has_its_largest_weight(pairs, others):
    named = [(*join(pair), 1.0, name) for name, table in (("fr", pairs), ("de", others)) for pair in table]
    expected = [table_of(learn(table, [])) for table in (pairs, others)]
    largest = {
        query: {
            document: max(table.get(query, {}).get(document, 0) for table in expected)
            for document in {document for table in expected for document in table.get(query, {})}
        }
        for query in {query for table in expected for query in table}
    }
    assert_equal_tables(table_of(learn_lexicon("lexicon", LANGUAGES, ALL_WORDS, named, [])), largest)


@settings(max_examples=8)
@given(PAIRS, st.data())
def test_a_pair_of_weight_two_counts_like_two_pairs(pairs, data):
    counts = [data.draw(st.integers(1, 3)) for _ in pairs]
    weighted = [(*join(pair), float(count)) for pair, count in zip(pairs, counts, strict=True)]
    repeated = [pair for pair, count in zip(pairs, counts, strict=True) for _ in range(count)]
    learned = learn_lexicon("lexicon", LANGUAGES, ALL_WORDS, weighted, [])
    assert_equal_tables(table_of(learned), table_of(learn(repeated, [])))


@pytest.mark.parametrize("kind", ["bm25", "tfidf"])
def test_the_kinds_of_equal_words_learn_no_translation_and_count_whole_words(kind):
    lexicon = learn([(["cats"], ["chats"])], [["chats", "chats", "noirs"], ["chats"]], kind)
    assert lexicon.translations.nnz == 0
    assert dict(zip(lexicon.terms, lexicon.document_frequency, strict=True)) == {b"chats": 2, b"noirs": 1}
    assert (lexicon.record.documents, lexicon.record.mean_length) == (2, 2)


def test_words_beyond_the_limit_of_a_text_do_not_count():
    words = " ".join(f"w{number}" for number in range(1000))
    whole, cut = (
        learn_lexicon("lexicon", LANGUAGES, WordRules(max_tokens=3), [(query, document)], [document])
        for query, document in (("a b c d", words), ("a b c", "w0 w1 w2"))
    )
    assert dict(whole.files()) == dict(cut.files())
    assert whole.record.mean_length == 3


def test_texts_may_be_bytes_and_strings_side_by_side():
    pairs = [("Été", b"Sommer"), ("Été".encode(), "Sommer")]
    lexicon = learn_lexicon("lexicon", ("fr", "de"), ALL_WORDS, pairs, ["Sommer", "Été".encode()])
    assert table_of(lexicon) == {"ete": {"somer": 0.5}}
    assert list(lexicon.terms) == [b"ete", b"somer"]


@pytest.mark.parametrize(
    ("pairs", "documents"),
    [([], []), ([], ["", "!"]), ([("!", "?"), ("", "")], ["!"]), ([("a", "!")], [""]), ([("!", "b")], [""])],
    ids=["nothing", "no word", "pairs without a word", "documents without a word", "queries without a word"],
)
def test_without_words_there_are_no_translations_and_no_frequencies(pairs, documents):
    for kind in ("lexicon", "bm25", "tfidf"):
        lexicon = learn_lexicon(kind, LANGUAGES, ALL_WORDS, pairs, documents)
        assert lexicon.translations.nnz == 0
        assert len(lexicon.terms) >= 1
        assert not lexicon.document_frequency.any()
        assert lexicon.record.mean_length == 0


# Files


def assert_read_back(lexicon, folder):
    again = read_lexicon(write(lexicon, folder))
    assert (again.record, again.terms) == (lexicon.record, lexicon.terms)
    assert again.document_frequency.tolist() == lexicon.document_frequency.tolist()
    assert table_of(again) == table_of(lexicon)
    assert dict(again.files()) == dict(lexicon.files())


@settings(max_examples=6)
@given(PAIRS, COLLECTIONS)
def test_files_are_read_back_to_the_same_lexicon(tmp_path_factory, pairs, documents):
    assert_read_back(learn(pairs, documents), tmp_path_factory.mktemp("lexicon"))


def test_files_of_every_script_are_read_back(tmp_path):
    texts = ["Ёлка в лесу", "東京 タワー", "한국어 한국", "हिन्दी में", "1984", "a\u0085b"]
    pairs = [(text, text) for text in texts]
    assert_read_back(learn_lexicon("lexicon", ("ru", "ja"), ALL_WORDS, pairs, texts), tmp_path)


def test_the_table_stands_by_query_term_then_by_weight_then_by_document_term():
    lexicon = learn([(["b"], ["z", "y", "x", "x"]), (["a"], ["v"])], [])
    rows = [line.split("\t") for line in dict(lexicon.files())["lexicon.tsv"].splitlines()]
    assert [(query, document) for query, document, _ in rows] == [("a", "v"), ("b", "x"), ("b", "y"), ("b", "z")]
    assert all(re.fullmatch(r"0\.\d{9}", weight) for _, _, weight in rows)
