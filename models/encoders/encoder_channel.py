"""The channel of a pre-trained encoder: the standardised cosine of its vectors."""

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.layers.smooth_cosine import smooth_unit
from models.lists.ranking_lists import RankingLists
from models.rankers.scorer import Bounds, FixedScorer, InnerProduct, ScorerInputs
from schemas import features as f
from schemas.errors import DataError

_Floats: TypeAlias = npt.NDArray[np.float32]

_PAIRS_AT_ONCE: Final = 1 << 16


class EncoderChannel(FixedScorer, InnerProduct):
    """Scores by the standardised cosine of a query's and a document's vectors of a pre-trained encoder.

        score = (cos(v_q, v_d) - mean) / deviation
              = <[u_q / deviation; -mean / deviation], [u_d; 1]>         u = v / |v|

    Mean and deviation are of the cosines of all pairs in the train lists. The ranges of encoders' cosines differ
    widely; standardised, a channel's weight means the same for all encoders.

    Args:
      mean: mean of the cosines.
      deviation: standard deviation of the cosines, above 0.
      **kwargs: see `Scorer`.

    Call arguments:
      features: `query_vector`, float [batch, dim]; `doc_vector`, float [documents, dim]; `document_index`.
    """

    def __init__(self, mean: float, deviation: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.mean, self.deviation = mean, deviation

    @classmethod
    def make(cls, inputs: ScorerInputs) -> "EncoderChannel":
        """Measures mean and deviation on the train lists.

        Raises:
          DataError: all cosines are equal.
        """
        cosines = cosines_of(inputs.train_texts())
        mean, deviation = float(cosines.mean(dtype=np.float64)), float(cosines.std(dtype=np.float64))
        if deviation < 1e-6:
            raise DataError(
                f"the cosines of the channel {inputs.name} must differ in the train lists; all {len(cosines):,} are "
                f"{mean:.6f}. The encoder does not distinguish the documents: check its settings, or leave it out."
            )
        return cls(mean, deviation, name=inputs.name)

    def query_vector(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Returns the queries' side of the inner product, float [batch, dim + 1]."""
        unit = smooth_unit(features[f.QUERY_VECTOR], epsilon=0.0)
        shift = tf.fill([tf.shape(unit)[0], 1], -self.mean)
        return tf.concat([unit, shift], axis=1) / self.deviation

    def document_vector(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Returns the documents' side of the inner product, float [documents, dim + 1]."""
        unit = smooth_unit(features[f.DOC_VECTOR], epsilon=0.0)
        return tf.concat([unit, tf.ones([tf.shape(unit)[0], 1])], axis=1)

    def score_texts(self, features: dict[str, Any]) -> tf.Tensor:
        """Scores each list from the same vectors that the exported model gives."""
        return self._inner_products(features, training=False)

    @property
    def bounds(self) -> Bounds:
        """The standardised cosines -1 and 1."""
        low, high = ((end - self.mean) / self.deviation for end in (-1.0, 1.0))
        return Bounds(low, high)


def cosines_of(lists: RankingLists) -> _Floats:
    """Returns the cosines of all pairs in lists with columns of an encoder's vectors: float32 [pairs]."""
    queries, documents = lists.query_columns[f.QUERY_VECTOR], lists.document_columns[f.DOC_VECTOR]
    query_rows, document_rows = lists.documents.value_rowids().numpy(), lists.documents.flat_values.numpy()
    parts = [
        np.einsum("ij,ij->i", _unit(queries.read(query_rows[pairs])), _unit(documents.read(document_rows[pairs])))
        for start in range(0, len(query_rows), _PAIRS_AT_ONCE)
        for pairs in [slice(start, start + _PAIRS_AT_ONCE)]
    ]
    return np.concatenate([np.zeros(0, np.float32), *parts])


def _unit(vectors: _Floats) -> _Floats:
    unit: _Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    return unit
