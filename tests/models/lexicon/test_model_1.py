"""models/lexicon/model_1.py: the shares that words explain, against loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from models.lexicon import model_1 as subject
from models.lexicon.model_1 import explained_shares
from tests.models.lexicon import reference
from tests.models.lexicon.reference import PAIRS, Table, kept

ITERATIONS = 5
MIN_SHARE, MAX_SHARES = 0.01, 20


def learned(pairs, events_of_a_block=1 << 22) -> Table:
    """The shares of the words of pairs of texts, each pair with a source of its own."""
    words = sorted({word for pair in pairs for text in pair for word in text})
    row_of = {word: number for number, word in enumerate(words)}
    targets = sparse.lil_matrix((len(words), len(pairs)))
    sources = sparse.lil_matrix((len(pairs), len(words)), dtype=np.int32)
    for number, (target, source) in enumerate(pairs):
        for word in target:
            targets[row_of[word], number] = 1
        for word in source:
            sources[number, row_of[word]] += 1
    arguments = (ITERATIONS, MIN_SHARE, MAX_SHARES, events_of_a_block)
    shares = explained_shares(targets.tocsr(), sources.tocsr(), *arguments).tocoo()
    table: dict[str, dict[str, float]] = {}
    for row, column, share in zip(shares.row, shares.col, shares.data, strict=True):
        table.setdefault(words[row], {})[words[column]] = share
    return table


def loop_shares(pairs) -> Table:
    return kept(reference.model_1(pairs, ITERATIONS), MIN_SHARE, MAX_SHARES)


def assert_equal(actual: Table, expected: Table, atol: float = 1e-6) -> None:
    assert actual.keys() == expected.keys()
    for query, shares in expected.items():
        assert actual[query] == pytest.approx(shares, abs=atol)


def test_a_word_of_one_pair_is_shared_by_the_document_s_words_and_null():
    # One query word: each of the two document words, and NULL, generates nothing else, so that t stays 1.
    assert_equal(learned([(["a"], ["b", "b", "c"])]), {"a": {"b": 2 / 4, "c": 1 / 4}})


@given(PAIRS, st.integers(1, 20))
def test_the_table_is_that_of_the_loops_in_one_block_or_several(pairs, events):
    assert_equal(learned(pairs), loop_shares(pairs))
    assert_equal(learned(pairs, events), learned(pairs), atol=1e-9)


@given(PAIRS)
def test_both_ways_of_numbering_give_the_same_table(pairs):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subject, "_CELLS_OF_AN_EVENT", 0)  # sorts, unless there are no events
        by_sorting = learned(pairs)
        patch.setattr(subject, "_CELLS_OF_AN_EVENT", 1 << 30)
        assert learned(pairs) == by_sorting


def test_a_document_of_several_pairs_counts_in_each_of_them():
    pairs = [(["a"], ["x", "y"]), (["a", "b"], ["x", "y"]), (["b"], ["y"])]
    documents = sparse.csr_matrix([[1, 1], [0, 1]])  # the two that there are
    with_documents = sparse.csr_matrix([[2, 0], [1, 1]])  # a and b, so often
    table = loop_shares(pairs)
    expected = [[table[q].get(w, 0) for w in "xy"] for q in "ab"]
    shares = explained_shares(with_documents, documents, ITERATIONS, MIN_SHARE, MAX_SHARES)
    np.testing.assert_allclose(shares.toarray(), expected, atol=1e-9)


def test_a_rare_word_is_not_the_translation_of_all_that_once_stood_beside_it():
    # The garbage collector of Moore 2004: "rare" stands only beside q0 .. q9, each of which stands beside its own word.
    often = [([f"q{n}"], [f"w{n}", "le"]) for n in range(10) for _ in range(5)]
    shares = learned([*often, ([f"q{n}" for n in range(10)], ["rare"])])
    assert all(shares[f"q{n}"][f"w{n}"] > 2 * shares[f"q{n}"].get("rare", 0) for n in range(10))


def test_of_equal_shares_those_of_the_first_document_terms_are_kept():
    words = [f"w{number:02}" for number in range(30)]
    (shares,) = learned([(["a"], words[::-1])]).values()
    assert list(shares) == words[:MAX_SHARES]
    assert set(shares.values()) == {round(1 / 31, 9)}


def test_a_share_below_one_hundredth_is_left_out():
    assert learned([(["a"], ["b"] * 98 + ["c"])])["a"].keys() == {"b", "c"}  # 98 / 100 and 1 / 100
    assert learned([(["a"], ["b"] * 99 + ["c"])])["a"].keys() == {"b"}


@pytest.mark.parametrize("pairs", [[], [([], [])], [([], ["b"])], [(["a"], [])], [(["a"], []), ([], ["b"])]])
def test_without_a_term_on_both_sides_nothing_is_learned(pairs):
    assert learned(pairs) == {}
