"""The table of rivals; importing it imports all of them."""

from collections.abc import Callable
from typing import Final

from models.rivals.latent import cl_lsi, cl_lsi_mixed, lsi, lsi_mixed
from models.rivals.lexicon_scores import cl_lsi_lexicon, structured_queries
from models.rivals.pair_weights import hash_kernel, perceptron
from models.rivals.relevance_model import bm25_stems, translated_bm25, translated_rm3
from models.rivals.term_lists import Ranking, TermLists
from models.rivals.vector_space import query_expansion, tfidf, translated

METHODS: Final[dict[str, Callable[[TermLists], Ranking]]] = {
    method.__name__: method
    for method in (
        tfidf,
        translated,
        query_expansion,
        lsi,
        lsi_mixed,
        cl_lsi,
        cl_lsi_mixed,
        perceptron,
        hash_kernel,
        structured_queries,
        cl_lsi_lexicon,
        bm25_stems,
        translated_bm25,
        translated_rm3,
    )
}
"""Each of `models.choices.RIVALS` by its name: a function that chooses its parameters on the eval split and scores the
test lists."""
