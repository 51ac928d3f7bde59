"""Makes keyword queries of randomly drawn words of each text."""

import random
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

import tensorflow as tf

from models.texts.tokens import tokenize
from schemas.splits import stable_hash
from schemas.wikiclir import Text
from schemas.word_rules import WordRules

_BATCH: Final = 512


def draw_query_words(texts: Mapping[str, str], count: int, seed: int, segmented: bool = False) -> dict[str, str]:
    """Draws words of each query, each position at most once, and keeps them in the order of the text.

    The words are those of `tokenize`, which also parts texts without spaces. The draw depends only on the seed, the
    query's id and its number of words; the words of a smaller `count` are among those of a larger one. Source: Bai et
    al. 2009 (Polynomial Semantic Indexing), Table 4.

    Args:
      texts: query_id to text.
      count: the number of words. A text with as many words or fewer stays as it is.
      seed: the seed of the run.
      segmented: whether only white space parts words.

    Returns:
      query_id to the words, with a space between two of them.

    Example:
      >>> draw_query_words({"q1": "Molten rock, that flows.", "q2": "Wolf!"}, count=2, seed=1)
      {'q1': 'rock flows', 'q2': 'Wolf!'}
    """
    drawn = {}
    words_of = tokenize(tf.constant([*texts.values()], tf.string), WordRules(segmented=segmented)).to_list()
    for (query_id, text), words in zip(texts.items(), words_of, strict=True):
        positions = [*range(len(words))]
        random.Random(stable_hash("words", str(seed), query_id)).shuffle(positions)
        few = b" ".join(words[position] for position in sorted(positions[:count])).decode()
        drawn[query_id] = few if len(words) > count else text
    return drawn


def with_drawn_words(queries: Iterable[Text], count: int, seed: int, segmented: bool = False) -> Iterator[Text]:
    """Yields the queries with drawn words as their texts; see `draw_query_words`."""
    queries = iter(queries)
    while batch := [*islice(queries, _BATCH)]:
        drawn = draw_query_words({query.id: query.text for query in batch}, count, seed, segmented)
        yield from (query._replace(text=drawn[query.id]) for query in batch)
