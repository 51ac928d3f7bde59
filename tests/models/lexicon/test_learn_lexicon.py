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
from tests.models.lexicon.reference import Reference, translations
from tests.models.lexicon.small_lexicon import (
    COLLECTIONS,
    LANGUAGES,
    PAIRS,
    learn,
    sample_texts,
    table_of,
    terms,
)

pytestmark = pytest.mark.tensors


def assert_agrees(lexicon, reference):
    found = table_of(lexicon)
    assert found.keys() == reference.table.keys()
    for query, shares in reference.table.items():
        assert found[query] == pytest.approx(shares, abs=1e-6)
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


@pytest.mark.stages
@settings(max_examples=10)
@given(PAIRS, COLLECTIONS, st.integers(1, 3))
def test_statistics_do_not_depend_on_how_the_texts_are_counted(pairs, documents, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("models.lexicon.learn_lexicon._BATCH", size)
        patch.setattr("models.texts.word_counts._LENGTH", size)
        in_batches = learn(pairs, documents)
    at_once = learn(pairs, documents)
    assert dict(in_batches.files()) == dict(at_once.files())


@pytest.mark.stages
@settings(max_examples=10)
@given(PAIRS, COLLECTIONS, st.randoms())
def test_the_lexicon_does_not_depend_on_the_order_of_pairs_and_documents(pairs, documents, random):
    shuffled = learn(random.sample(pairs, len(pairs)), random.sample(documents, len(documents)))
    assert_agrees(shuffled, Reference(documents, table_of(learn(pairs, documents))))


@pytest.mark.stages
def test_translations_and_statistics_of_real_texts_are_those_of_the_loops():
    texts, documents = sample_texts()
    texts, documents = texts[::80], documents[::20]
    pairs = list(zip(terms([one for one, _ in texts], "en"), terms([other for _, other in texts], "fr"), strict=True))
    reference = Reference(terms(documents, "fr"), translations(pairs))
    assert_agrees(learn_lexicon("lexicon", LANGUAGES, ALL_WORDS, texts, documents), reference)


@pytest.mark.parametrize("kind", ["bm25", "tfidf"])
def test_the_kinds_of_equal_words_learn_no_translation(kind):
    lexicon = learn([(["cats"], ["chats"])], [["chats", "chats", "noirs"], ["chats"]], kind)
    assert lexicon.translations.nnz == 0
    assert dict(zip(lexicon.terms, lexicon.document_frequency, strict=True)) == {
        b"chats": 2,
        b"noirs": 1,
    }  # whole words
    assert (lexicon.record.documents, lexicon.record.mean_length) == (2, 2)


def test_words_beyond_the_limit_of_a_text_do_not_count():
    words = [f"w{number}" for number in range(1000)]
    of_whole = learn_lexicon(
        "lexicon", LANGUAGES, WordRules(max_tokens=3), [("a b c d", " ".join(words))], [" ".join(words)]
    )
    of_cut = learn_lexicon("lexicon", LANGUAGES, WordRules(max_tokens=3), [("a b c", "w0 w1 w2")], ["w0 w1 w2"])
    assert dict(of_whole.files()) == dict(of_cut.files())
    assert of_whole.record.mean_length == 3


def test_texts_may_be_bytes_and_strings_side_by_side():
    pairs = [("Été", b"Sommer"), ("Été".encode(), "Sommer")]
    lexicon = learn_lexicon("lexicon", ("fr", "de"), ALL_WORDS, pairs, ["Sommer", "Été".encode()])
    assert table_of(lexicon) == {"ete": {"somer": 0.5}}
    assert list(lexicon.terms) == [b"ete", b"somer"]


# Where there is little to learn from


@pytest.mark.parametrize("kind", ["lexicon", "bm25", "tfidf"])
@pytest.mark.parametrize(
    ("pairs", "documents"),
    [
        ([], []),
        ([], ["", "!"]),
        ([("!", "?"), ("", "")], ["!"]),
        ([("a", "!")], [""]),
        ([("!", "b")], [""]),
    ],
    ids=["nothing", "no word", "pairs without a word", "documents without a word", "queries without a word"],
)
def test_without_words_there_are_no_translations_and_no_frequencies(kind, pairs, documents):
    lexicon = learn_lexicon(kind, LANGUAGES, ALL_WORDS, pairs, documents)
    assert lexicon.translations.nnz == 0
    assert len(lexicon.terms) >= 1
    assert not lexicon.document_frequency.any()
    assert lexicon.record.mean_length == 0


# Files


@settings(max_examples=10)
@given(PAIRS, COLLECTIONS)
def test_files_are_read_back_to_the_same_lexicon(tmp_path_factory, pairs, documents):
    lexicon = learn(pairs, documents)
    found = read_lexicon(write(lexicon, tmp_path_factory.mktemp("lexicon")))
    assert found.record == lexicon.record
    assert found.terms == lexicon.terms
    assert found.document_frequency.tolist() == lexicon.document_frequency.tolist()
    assert table_of(found) == table_of(lexicon)
    assert dict(found.files()) == dict(lexicon.files())


@pytest.mark.stages
def test_files_of_every_script_are_read_back(tmp_path):
    texts = ["Ёлка в лесу", "東京 タワー", "한국어 한국", "हिन्दी में", "1984", "a\u0085b"]
    lexicon = learn_lexicon("lexicon", ("ru", "ja"), ALL_WORDS, [(text, text) for text in texts], texts)
    found = read_lexicon(write(lexicon, tmp_path))
    assert (found.terms, table_of(found)) == (lexicon.terms, table_of(lexicon))


def test_the_table_stands_by_query_term_then_by_weight_then_by_document_term():
    lexicon = learn([(["b"], ["z", "y", "x", "x"]), (["a"], ["v"])], [])
    table = dict(lexicon.files())["lexicon.tsv"]
    rows = [line.split("\t") for line in table.splitlines()]
    assert [(query, document) for query, document, _ in rows] == [("a", "v"), ("b", "x"), ("b", "y"), ("b", "z")]
    assert all(re.fullmatch(r"0\.\d{9}", weight) for _, _, weight in rows)


def test_the_same_texts_give_the_same_files():
    texts, documents = sample_texts()
    one, other = (learn_lexicon("lexicon", LANGUAGES, ALL_WORDS, texts[:100], documents) for _ in range(2))
    assert dict(one.files()) == dict(other.files())
