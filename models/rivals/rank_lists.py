"""Ranks the test lists by rivals. Never imports TFX."""

import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Any, Final

from models.lexicon.structured_queries import StructuredQueries
from models.lists.ranking import ranking_run
from models.lists.ranking_lists import RankingLists
from models.rankers.fixed_scores import with_fixed_scores
from models.rivals.latent import cl_lsi, cl_lsi_candidates, cl_lsi_mixed, lsi, lsi_mixed
from models.rivals.pair_weights import hash_kernel, perceptron
from models.rivals.relevance_model import bm25_stems, translated_bm25, translated_rm3
from models.rivals.term_lists import Candidate, Ranking, Scores, Split, TermLists, weighted_sum
from models.rivals.vector_space import query_expansion, tfidf, translated
from models.training.channel_weight import WEIGHTS
from models.translators.settings import TranslatorSettings
from models.translators.translator import load_translator, with_probe
from schemas import features as f
from schemas.errors import DataError
from schemas.evaluation import PARAMETERS_FILE, RUN_ENDING


def structured_queries(texts: TermLists) -> Ranking:
    """Scores by the channel `lexicon` (see `models.lexicon.structured_queries`)."""
    return texts.choose([Candidate({}, partial(_lexicon_scores, texts))])


def cl_lsi_lexicon(texts: TermLists) -> Ranking:
    """Scores by cl_lsi + weight * the channel `lexicon`, which are learned in seconds."""

    def candidates() -> Iterator[Candidate]:
        lexicon_scores = cache(partial(_lexicon_scores, texts))
        for candidate in cl_lsi_candidates(texts):
            latent = cache(candidate.scores)
            for weight in WEIGHTS:
                parts = ((1.0, latent), (weight, lexicon_scores))
                yield Candidate({**candidate.parameters, "weight": weight}, partial(weighted_sum, parts))

    return texts.choose(candidates())


def _lexicon_scores(texts: TermLists, split: Split) -> Scores:
    if texts.lexicon is None:
        raise ValueError("the lexicon's scores need a lexicon; got none.")
    channel = StructuredQueries(texts.lexicon, name="lexicon")
    scored = with_fixed_scores(split.lists, split.lists, [channel]).list_columns[f.fixed_score(channel.name)]
    return split.lists.split(scored.flat_values.numpy())


METHODS: Final[dict[str, Callable[[TermLists], Ranking]]] = {
    method.__name__: method
    for method in (
        *(tfidf, translated, query_expansion, lsi, lsi_mixed, cl_lsi, cl_lsi_mixed, perceptron, hash_kernel),
        *(structured_queries, cl_lsi_lexicon, bm25_stems, translated_bm25, translated_rm3),
    )
}
"""The functions of `models.choices.RIVALS` by name; each chooses its parameters on the eval split and scores the test
lists."""

log = logging.getLogger("clir.training")


def rank_lists(methods: Sequence[str], texts: TermLists) -> dict[str, str]:
    """Chooses the parameters of each method on the eval lists, and ranks the test lists.

    Args:
      methods: names in `METHODS`.
      texts: the lists of every split.

    Returns:
      from name to content: a run file for each method, tagged with its name, and the parameters.

    Raises:
      DataError: a split has no lists, or a method fails.
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
      settings: the translator; without a probe, the translator is probed first.
      languages: ISO 639-1 codes of the queries and the documents.

    Returns:
      from the text of each query to its translation.

    Raises:
      DataError: the translator fails, is not allowed, or changes.
    """
    source, target = languages
    if settings.probe is None:
        settings = with_probe(settings, (target, source))  # as in a cluster
    texts = sorted({text for lists in splits for text in lists.query_columns[f.QUERY_TEXT].numpy().tolist()})
    log.info("%s queries to translate", f"{len(texts):,}")
    lines = [" ".join(text.decode().split()) for text in texts]
    translations = load_translator(settings, (target, source)).translate(lines)
    return {text: translation.encode() for text, translation in zip(texts, translations, strict=True)}
