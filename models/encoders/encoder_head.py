"""A trained head over a pre-trained encoder's vectors: a linear map for each side, and the paper's similarity."""

import math
from typing import Any

import tensorflow as tf

from models.layers.dot_product import DotProduct
from models.layers.smooth_cosine import smooth_unit
from models.rankers.scorer import InnerProduct, ScorerInputs
from models.rankers.two_towers import make_similarity
from models.settings import ModelSettings
from schemas import features as f


class EncoderHead(InnerProduct):
    """Scores by the similarity of linear maps of a query's and a document's vectors of a pre-trained encoder.

        q = W_q u_q,  d = W_d u_d            u: the encoder's vector, divided by its length
        score = similarity(q, d)             smooth cosine in the paper (arXiv:2011.00701, eq. 1)
        penalty * (|W_q - I|^2 + |W_d - I|^2) is added to the training loss

    Both maps start from the identity, with which the cosine is the encoder's own. The penalty holds them near it: a
    square matrix of 512 rows has more numbers than a small collection has pairs.

    Args:
      settings: the model's: its similarity.
      penalty: the weight of the squared distance of the maps from the identity.
      **kwargs: see `Scorer`.

    Call arguments:
      features: `query_vector`, float [batch, dim]; `doc_vector`, float [documents, dim]; `document_index`.
    """

    def __init__(self, settings: ModelSettings, penalty: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._penalty = penalty
        is_dot = settings.similarity == "dot"  # nothing bounds the maps
        self.similarity = DotProduct(settings.embedding_dim, math.inf) if is_dot else make_similarity(settings)

    @classmethod
    def make(cls, inputs: ScorerInputs, **own: Any) -> "EncoderHead":
        """Makes the head that a configuration names."""
        return cls(inputs.model, name=inputs.name, **own)

    def build(self, input_shape: Any) -> None:
        """Creates both maps, as the difference from the identity: then a penalty is that of small weights."""
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
    def score_range(self) -> tuple[float, float]:
        """The similarity's range."""
        return self.similarity.score_range

    @property
    def theta_ends(self) -> tuple[float, float]:
        """-1 and 1, as those of the two towers."""
        return -1.0, 1.0

    @property
    def padded_score(self) -> float:
        """The similarity's score of padding."""
        return self.similarity.padded_score


def _mapped(vectors: tf.Tensor, difference: tf.Tensor) -> tf.Tensor:
    """W u with W = I + difference: float [texts, dim] -> float [texts, dim]."""
    unit = smooth_unit(vectors, epsilon=0.0)
    return unit + tf.matmul(unit, difference, transpose_b=True)
