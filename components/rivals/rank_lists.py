"""Ranks the test lists by rivals. Never imports TFX."""

import json
import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any

from models.lexicon.lexicon import Lexicon
from models.lists.ranking_lists import RankingLists
from models.retrieval.ranking import ranking_run
from models.rivals.methods import METHODS
from models.rivals.term_lists import TermLists
from schemas.errors import DataError
from schemas.evaluation import PARAMETERS_FILE, RUN_ENDING
from schemas.word_rules import WordRules

log = logging.getLogger("clir.training")


def rank_lists(
    methods: Sequence[str],
    splits: Mapping[str, RankingLists],
    lexicon: Lexicon | None,
    languages: tuple[str, str],
    rules: WordRules,
    top_grade: int,
    vocabulary_size: int,
    seed: int,
) -> dict[str, str]:
    """Chooses the parameters of each method on the eval lists, and ranks the test lists.

    Args:
      methods: of `METHODS`.
      splits: the lists of every split, as texts.
      lexicon, languages, rules, top_grade, vocabulary_size, seed: see `TermLists.read`.

    Returns:
      name to content: a run file for each method, tagged with its name, and the parameters.

    Raises:
      DataError: a split has no lists, or see the method.
    """
    empty = [name for name, lists in splits.items() if not len(lists)]
    if empty:
        raise DataError(
            f"the baselines {', '.join(methods)} need lists in every split; got none in {', '.join(empty)}."
        )
    texts = TermLists.read(splits, languages, rules, lexicon, top_grade, vocabulary_size, seed)
    files: dict[str, str] = {}
    parameters: dict[str, dict[str, Any]] = {}
    for name in methods:
        started = time.process_time()
        found = METHODS[name](texts)
        parameters[name] = found.parameters
        files[f"{name}{RUN_ENDING}"] = "".join(ranking_run(splits["test"], found.scores, name))
        log.info("%s: %.1f CPU s; chosen on the eval split: %s", name, time.process_time() - started, found.parameters)
    return {**files, PARAMETERS_FILE: json.dumps(parameters, indent=2)}
