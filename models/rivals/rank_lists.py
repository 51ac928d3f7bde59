"""Ranks the test lists by rivals. Never imports TFX."""

import json
import logging
import time
from collections.abc import Iterable, Sequence
from typing import Any

from models.lists.ranking import ranking_run
from models.lists.ranking_lists import RankingLists
from models.rivals.methods import METHODS
from models.rivals.term_lists import TermLists
from models.translators.load_translator import load_translator, with_probe
from models.translators.settings import TranslatorSettings
from schemas import features as f
from schemas.errors import DataError
from schemas.evaluation import PARAMETERS_FILE, RUN_ENDING

log = logging.getLogger("clir.training")


def rank_lists(methods: Sequence[str], texts: TermLists) -> dict[str, str]:
    """Chooses the parameters of each method on the eval lists, and ranks the test lists.

    Args:
      methods: of `METHODS`.
      texts: the lists of every split.

    Returns:
      name to content: a run file for each method, tagged with its name, and the parameters.

    Raises:
      DataError: a split has no lists, or see the method.
    """
    splits = {"train": texts.train, "eval": texts.eval, "test": texts.test}
    empty = [name for name, split in splits.items() if not len(split.lists)]
    if empty:
        raise DataError(
            f"the baselines {', '.join(methods)} need lists in every split; got none in {', '.join(empty)}."
        )
    files: dict[str, str] = {}
    parameters: dict[str, dict[str, Any]] = {}
    for name in methods:
        started = time.process_time()
        ranking = METHODS[name](texts)
        parameters[name] = ranking.parameters
        files[f"{name}{RUN_ENDING}"] = "".join(ranking_run(texts.test.lists, ranking.scores, name))
        seconds = time.process_time() - started
        log.info("%s: %.1f CPU s; chosen on the eval split: %s", name, seconds, ranking.parameters)
    return {**files, PARAMETERS_FILE: json.dumps(parameters, indent=2)}


def translate_queries(
    splits: Iterable[RankingLists], settings: TranslatorSettings, languages: tuple[str, str]
) -> dict[bytes, bytes]:
    """Translates the queries of lists into the documents' language.

    Args:
      splits: lists, as texts.
      settings: of any kind but none; without a probe where nobody has asked the translator yet.
      languages: of the queries, and of the documents.

    Returns:
      the text of each query to its translation.

    Raises:
      DataError: the translator fails, is not allowed, or changes.
    """
    source, target = languages
    if settings.probe is None:
        settings = with_probe(settings, (target, source))  # in a cluster nobody has asked it
    texts = sorted({text for lists in splits for text in lists.query_columns[f.QUERY_TEXT].numpy().tolist()})
    log.info("%s queries to translate", f"{len(texts):,}")
    lines = [" ".join(text.decode().split()) for text in texts]
    translations = load_translator(settings, (target, source)).translate(lines)
    return {text: translation.encode() for text, translation in zip(texts, translations, strict=True)}
