"""The lists of a benchmark: a collection's own, or synthetic ones."""

from typing import NamedTuple

from optimizer import LIST_SIZE, LISTS, TOKENS, VOCABULARY, synthetic_lists
from training import read_inputs

from models.lists.ranking_lists import RankingLists
from models.rankers.two_towers import Words
from pipeline.config import load_config


class Given(NamedTuple):
    """Train lists, and the words of both languages."""

    lists: RankingLists
    words: tuple[Words, Words]
    described: str


def given_lists(config_path: str | None) -> Given:
    """Those that the Trainer of the last `clir run` of a configuration read; without one, synthetic ones."""
    if config_path is None:
        words = Words(VOCABULARY)
        return Given(synthetic_lists(), (words, words), f"{LISTS} lists of {LIST_SIZE} texts of {TOKENS} words")
    inputs = read_inputs(config_path, load_config(config_path).output)
    described = f"{config_path}: {len(inputs.train):,} lists of {inputs.train.pairs:,} pairs"
    return Given(inputs.train, (inputs.query_words, inputs.document_words), described)
