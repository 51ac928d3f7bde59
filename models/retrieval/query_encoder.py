"""From a query's text to what an index is searched for."""

import numpy as np

from models.exported.model import CallableModel
from models.retrieval.corpus_index import EncodedQuery


class QueryEncoder:
    """Encodes queries with the model that encoded the documents.

    Args:
      model: an exported model whose score is an inner product.

    Attributes:
      words_channel: name of the channel of words that match; None where there is none, or its weight is 0.
    """

    def __init__(self, model: CallableModel) -> None:
        self._model = model
        self._words_weight, name = np.float32(0), ""
        if "words_channel" in model.signatures:
            name = model.call("words_channel", {})["name"].item().decode()
            self._words_weight = np.float32(model.call("channel_weights", {})[name])
        self.words_channel: str | None = name if self._words_weight else None

    def encode(self, query: str) -> EncodedQuery:
        """A query's vector, and its weighted terms."""
        found = {
            name: column[0] for name, column in self._model.call("encode_query", {"query": np.array([query])}).items()
        }
        if not self._words_weight:
            return EncodedQuery(found["vector"], np.zeros(0, object), np.zeros(0, np.float32))
        is_term = found["stems"] != b""
        return EncodedQuery(found["vector"], found["stems"][is_term], found["weights"][is_term] * self._words_weight)
