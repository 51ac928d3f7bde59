"""models/lexicon/translations.py: both directions of model 1, joined, against loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.lexicon.learn_lexicon import learn_lexicon
from models.lexicon.translations import LEAST_SHARE, MOST_TRANSLATIONS
from models.texts.tokens import ALL_WORDS
from tests.models.lexicon.reference import Table, translations
from tests.models.lexicon.small_lexicon import LANGUAGES, PAIRS, learn, sample_texts, table_of, terms

pytestmark = pytest.mark.tensors


def assert_equal(found: Table, expected: Table) -> None:
    assert found.keys() == expected.keys()
    for query, shares in expected.items():
        assert found[query] == pytest.approx(shares, abs=1e-6)


@given(PAIRS)
def test_the_table_is_that_of_the_loops(pairs):
    assert_equal(table_of(learn(pairs, [])), translations(pairs))


@pytest.mark.stages
def test_the_table_of_real_texts_is_that_of_the_loops():
    texts = sample_texts()[0][::60]
    pairs = list(zip(terms([one for one, _ in texts], "en"), terms([other for _, other in texts], "fr"), strict=True))
    expected = translations(pairs)
    assert len(expected) > 100
    assert_equal(table_of(learn_lexicon("lexicon", LANGUAGES, ALL_WORDS, texts, [])), expected)


@given(PAIRS)
def test_the_shares_of_a_query_term_are_at_most_one(pairs):
    for shares in table_of(learn(pairs, [])).values():
        assert LEAST_SHARE <= min(shares.values()) and sum(shares.values()) < 1
        assert len(shares) <= MOST_TRANSLATIONS


def test_a_translation_that_another_word_explains_better_comes_after_one_of_its_own():
    # "hive" and "honey" stand beside "miel" equally often, but "miel" has "honey" elsewhere, too.
    pairs = [(["honey", "hive"], ["miel", "ruche"])] * 3 + [(["honey"], ["miel"])] * 3
    table = table_of(learn(pairs, []))
    assert max(table["hive"], key=table["hive"].get) == "ruche"
    assert max(table["honey"], key=table["honey"].get) == "miel"


@given(PAIRS, st.data())
def test_a_pair_of_weight_two_counts_like_two_pairs(pairs, data):
    times = [data.draw(st.integers(1, 3)) for _ in pairs]
    weighted = [
        (" ".join(query), " ".join(document), float(count))
        for (query, document), count in zip(pairs, times, strict=True)
    ]
    repeated = [pair for pair, count in zip(pairs, times, strict=True) for _ in range(count)]
    assert_equal(
        table_of(learn_lexicon("lexicon", LANGUAGES, ALL_WORDS, weighted, [])),
        table_of(learn(repeated, [])),
    )


def test_without_pairs_nothing_is_learned():
    assert np.array(learn([], [["a"]]).translations.nnz) == 0
