"""models/lexicon/model_1.py: the table of translations, against loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from models.lexicon import model_1 as subject
from models.lexicon.model_1 import LEAST_SHARE, MOST_TRANSLATIONS, learn_translations
from tests.models.lexicon import reference
from tests.models.lexicon.reference import Table, kept
from tests.models.lexicon.small_lexicon import PAIRS, sample_texts, terms

WORDS = "abcde"


def learned(pairs, events_of_a_block=1 << 22) -> Table:
    """The table of pairs of texts, each pair with a document of its own."""
    words = sorted({word for pair in pairs for text in pair for word in text})
    place = {word: number for number, word in enumerate(words)}
    of_query = sparse.lil_matrix((len(words), len(pairs)), dtype=np.int32)
    of_document = sparse.lil_matrix((len(pairs), len(words)), dtype=np.int32)
    for number, (query, document) in enumerate(pairs):
        for word in query:
            of_query[place[word], number] = 1
        for word in document:
            of_document[number, place[word]] += 1
    found = learn_translations(of_query.tocsr(), of_document.tocsr(), events_of_a_block).tocoo()
    table: dict[str, dict[str, float]] = {}
    for row, column, share in zip(found.row, found.col, found.data, strict=True):
        table.setdefault(words[row], {})[words[column]] = share
    return table


def assert_equal(found: Table, expected: Table, atol: float = 1e-6) -> None:
    assert found.keys() == expected.keys()
    for query, shares in expected.items():
        assert found[query] == pytest.approx(shares, abs=atol)


def test_a_word_of_one_pair_is_shared_by_the_document_s_words_and_null():
    # One query word: each of the two document words, and NULL, generates nothing else, so that t stays 1.
    assert_equal(learned([(["a"], ["b", "b", "c"])]), {"a": {"b": 2 / 4, "c": 1 / 4}})


def test_words_of_different_pairs_have_different_translations():
    table = learned([(["white", "cat"], ["chat", "blanc"]), (["cat"], ["chat"]), (["dog"], ["chien"])])
    assert table["cat"]["chat"] > table["cat"].get("blanc", 0)
    assert table["white"]["blanc"] > table["white"]["chat"]
    assert table["dog"].keys() == {"chien"}


@given(PAIRS)
def test_the_table_is_that_of_the_loops(pairs):
    assert_equal(learned(pairs), kept(reference.model_1(pairs)))


@settings(max_examples=10)
@given(PAIRS, st.integers(1, 20))
def test_several_blocks_give_the_table_of_one(pairs, events):
    assert_equal(learned(pairs, events), learned(pairs), atol=1e-9)


@settings(max_examples=10)
@given(PAIRS)
def test_both_ways_of_numbering_give_the_same_table(pairs):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subject, "_CELLS_OF_AN_EVENT", 0)  # sorts, unless there are no events
        by_sorting = learned(pairs)
        patch.setattr(subject, "_CELLS_OF_AN_EVENT", 1 << 30)
        assert learned(pairs) == by_sorting


@settings(max_examples=10)
@given(PAIRS)
def test_a_query_term_s_shares_and_that_of_null_are_one(pairs):
    for shares in learned(pairs).values():
        assert LEAST_SHARE <= min(shares.values()) and sum(shares.values()) < 1


def test_a_document_of_several_pairs_counts_in_each_of_them():
    pairs = [(["a"], ["x", "y"]), (["a", "b"], ["x", "y"]), (["b"], ["y"])]
    documents = sparse.csr_matrix([[1, 1], [0, 1]])  # the two that there are
    with_documents = sparse.csr_matrix([[2, 0], [1, 1]])  # a and b, so often
    table = kept(reference.model_1(pairs))
    expected = [[table[q].get(w, 0) for w in "xy"] for q in "ab"]
    np.testing.assert_allclose(learn_translations(with_documents, documents).toarray(), expected, atol=1e-9)


def test_of_equal_shares_those_of_the_first_document_terms_are_kept():
    words = [f"w{number:02}" for number in range(30)]
    (shares,) = learned([(["a"], words[::-1])]).values()
    assert list(shares) == words[:MOST_TRANSLATIONS]
    assert set(shares.values()) == {round(1 / 31, 9)}


def test_a_share_below_one_hundredth_is_left_out():
    assert learned([(["a"], ["b"] * 98 + ["c"])])["a"].keys() == {"b", "c"}  # 98 / 100 and 1 / 100
    assert learned([(["a"], ["b"] * 99 + ["c"])])["a"].keys() == {"b"}


@pytest.mark.parametrize("pairs", [[], [([], [])], [([], ["b"])], [(["a"], [])], [(["a"], []), ([], ["b"])]])
def test_without_a_term_on_both_sides_nothing_is_learned(pairs):
    assert learned(pairs) == {}


@pytest.mark.slow
def test_the_table_of_real_texts_is_that_of_the_loops():
    texts = sample_texts()[0][::60]
    pairs = list(zip(terms([one for one, _ in texts], "en"), terms([other for _, other in texts], "fr"), strict=True))
    expected = kept(reference.model_1(pairs))
    assert len(expected) > 100
    assert_equal(learned(pairs), expected)
    assert_equal(learned(pairs, events_of_a_block=1000), expected)
