"""The lexicon's own scores as a baseline, alone and beside cross-language latent semantic indexing."""

from collections.abc import Iterator
from functools import cache, partial

from models.lexicon.structured_queries import StructuredQueries
from models.rankers.fixed_scores import with_fixed_scores
from models.rivals.latent import cl_lsi_candidates
from models.rivals.term_lists import Candidate, Ranking, Scores, Split, TermLists, weighted_sum
from models.training.channel_weight import WEIGHTS
from schemas import features as f


def structured_queries(texts: TermLists) -> Ranking:
    """Scores by the channel `lexicon` alone (see `models.lexicon.structured_queries`)."""
    return texts.choose([Candidate({}, partial(_lexicon_scores, texts))])


def cl_lsi_lexicon(texts: TermLists) -> Ranking:
    """Scores by cl_lsi + weight * the channel `lexicon`: two rankers that are learned in seconds, without training."""

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
