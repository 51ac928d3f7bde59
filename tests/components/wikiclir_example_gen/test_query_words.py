"""Keyword queries: random words of the queries."""

from collections import Counter

import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from components.wikiclir_example_gen.query_words import draw_query_words, with_drawn_words
from models.texts.tokens import tokenize
from schemas.wikiclir import Text

pytestmark = pytest.mark.tensors

words = st.sampled_from(["Wolf", "the", "the", "L'Été", "10²", "北京", "กำ", "½", "—", "שלום,", "naïve."])
texts = st.lists(words, max_size=12).map(" ".join)
queries = st.lists(texts, min_size=1, max_size=5).map(
    lambda texts: {f"q{number}": text for number, text in enumerate(texts)}
)
counts = st.integers(1, 14)


def words_of(text):
    return tokenize(tf.constant([text])).to_list()[0]


def is_part_in_order(few, many):
    remaining = iter(many)
    return all(word in remaining for word in few)


@settings(max_examples=30)
@given(queries, st.tuples(counts, counts).map(sorted), st.integers(0, 9))
def test_a_keyword_query_is_words_of_its_text_in_their_order_and_fewer_are_among_more(queries, few_and_many, seed):
    fewer, more = (draw_query_words(queries, count, seed) for count in few_and_many)
    assert fewer.keys() == queries.keys()
    for query_id, text in queries.items():
        few, many, whole = (words_of(words) for words in (fewer[query_id], more[query_id], text))
        assert len(few) == min(few_and_many[0], len(whole))
        assert is_part_in_order(few, many) and is_part_in_order(many, whole)
        if len(whole) <= few_and_many[0]:
            assert fewer[query_id] == text
    assert draw_query_words(fewer, few_and_many[0], seed) == fewer


def test_a_draw_depends_on_the_seed_and_the_query_alone():
    text = " ".join(f"w{position}" for position in range(40))
    together = draw_query_words({"q1": text, "q2": text}, 5, seed=1)
    assert together == {query_id: draw_query_words({query_id: text}, 5, seed=1)[query_id] for query_id in ("q1", "q2")}
    assert together["q1"] != together["q2"]
    assert draw_query_words({"q1": text}, 5, seed=2)["q1"] != together["q1"]


def test_every_place_is_drawn_equally_often():
    text = " ".join("abcdefgh")
    drawn = draw_query_words({f"q{number}": text for number in range(4000)}, 2, seed=1)
    word_counts = Counter(word for few in drawn.values() for word in few.split())
    # 4,000 draws with the probability 2/8: a standard deviation of 27.
    assert all(count == pytest.approx(1000, abs=4 * 27.4) for count in word_counts.values())
    assert len(word_counts) == 8


def test_more_queries_than_a_batch_keep_their_order_ids_titles_and_lines():
    many = [Text(f"q{number}", f"Title {number}", f"one two three {number}", number) for number in range(1100)]
    drawn = [*with_drawn_words(iter(many), 2, seed=1)]
    texts = draw_query_words({query.id: query.text for query in many}, 2, seed=1)
    assert drawn == [query._replace(text=texts[query.id]) for query in many]
