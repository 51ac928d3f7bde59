"""From a lexicon to the scorer of its kind."""

from models.lexicon.lexicon import Lexicon
from models.lexicon.structured_queries import StructuredQueries
from models.lexicon.tf_idf import TfIdf
from models.rankers.scorer import SparseInnerProduct


def make_channel(lexicon: Lexicon) -> SparseInnerProduct:
    """The channel of words that match, named after its kind."""
    kind = lexicon.record.kind
    return (TfIdf if kind == "tfidf" else StructuredQueries)(lexicon, name=kind)
