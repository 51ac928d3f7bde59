"""Transform's graph as the transformation that is saved along with a model."""

import tensorflow as tf
import tensorflow_transform as tft

from models.lists import Column
from models.text_features import TextFeatures
from schemas import features as f


class TransformedTexts(TextFeatures):
    """What Transform makes of a text alone.

    Args:
      transform: its output.
    """

    def __init__(self, transform: tft.TFTransformOutput) -> None:
        super().__init__()
        self._layer = transform.transform_features_layer()

    def of_queries(self, texts: tf.Tensor) -> dict[str, Column]:
        """The query columns that follow from texts."""
        # The layer leaves out what needs another feature.
        columns: dict[str, Column] = self._layer({f.QUERY_TEXT: texts})
        return columns

    def of_documents(self, texts: tf.Tensor) -> dict[str, Column]:
        """The document columns that follow from texts: each is a list of its own."""
        columns = self._layer({f.DOC_TEXT: tf.RaggedTensor.from_uniform_row_length(texts, 1)})
        return {name: column.merge_dims(0, 1) for name, column in columns.items()}
