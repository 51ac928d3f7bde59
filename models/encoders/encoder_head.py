"""A trained head over a pre-trained encoder's vectors: a linear map for each side, and the paper's similarity."""

import math
from typing import Any

import tensorflow as tf

from models.layers.smooth_cosine import smooth_unit
from models.rankers.scorer import Bounds, InnerProduct, Penalised, ScorerInputs
from models.rankers.settings import EncoderHeadSettings
from models.rankers.two_towers import make_similarity
from schemas import features as f


class EncoderHead(InnerProduct, Penalised):
    """Scores by the similarity of linear maps of a query's and a document's vectors of a pre-trained encoder.

        q = W_q u_q,  d = W_d u_d            u: the encoder's vector, divided by its length
        score = similarity(q, d)             smooth cosine in the paper (arXiv:2011.00701, eq. 1)
        penalty * (|W_q - I|^2 + |W_d - I|^2) is added to the training loss

    Both maps start as the identity, which leaves the encoder's cosine unchanged. The penalty keeps them near it,
    because a matrix of 512 x 512 has more numbers than a small collection has pairs.

    Args:
      settings: the similarity and the penalty.
      **kwargs: see `Scorer`.

    Call arguments:
      features: `query_vector`, float [batch, dim]; `doc_vector`, float [documents, dim]; `document_index`.
    """

    def __init__(self, settings: EncoderHeadSettings, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._penalty = settings.penalty
        self.similarity = make_similarity(settings, 1, math.inf)  # nothing bounds the maps

    @classmethod
    def make(cls, inputs: ScorerInputs) -> "EncoderHead":
        """Makes the head from the settings of the towers."""
        return cls(inputs.settings, name=inputs.name)

    def build(self, input_shape: Any) -> None:
        """Creates both maps as differences from the identity, so that the penalty is on the size of weights."""
        dim = input_shape[f.QUERY_VECTOR][-1]
        self.query_map, self.document_map = (
            self.add_weight(name=name, shape=(dim, dim), initializer="zeros") for name in ("query_map", "document_map")
        )
        super().build(input_shape)

    def query_vector(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Returns the similarity's vectors of the mapped queries, float [batch, dim]."""
        return self.similarity.query_vector(_mapped(features[f.QUERY_VECTOR], self.query_map))

    def document_vector(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Returns the similarity's vectors of the mapped documents, float [documents, dim]."""
        return self.similarity.document_vector(_mapped(features[f.DOC_VECTOR], self.document_map))

    def penalty(self) -> tf.Tensor:
        """Returns the penalty of the two maps."""
        maps = (self.query_map, self.document_map)
        return self._penalty * tf.add_n([tf.reduce_sum(tf.square(side)) for side in maps])

    @property
    def bounds(self) -> Bounds:
        """The similarity's range; thresholds have the paper's scale, of cosines, also for the inner product."""
        low, high = self.similarity.score_range
        return Bounds(low, high, theta_ends=(-1.0, 1.0), padded=self.similarity.padded_score)


def _mapped(vectors: tf.Tensor, difference: tf.Tensor) -> tf.Tensor:
    """W u with W = I + difference: float [texts, dim] -> float [texts, dim]."""
    unit = smooth_unit(vectors, epsilon=0.0)
    return unit + tf.matmul(unit, difference, transpose_b=True)
