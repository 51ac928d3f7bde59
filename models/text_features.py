"""From raw texts to the features that training reads."""

from abc import ABC, abstractmethod

import tensorflow as tf

from models.lists import Column


class TextFeatures(tf.Module, ABC):
    """The training's own transformation of texts, to be saved along with a model.

    It tracks its vocabularies, which become assets of the SavedModel.
    """

    @abstractmethod
    def of_queries(self, texts: tf.Tensor) -> dict[str, Column]:
        """The query columns that follow from texts, string [batch]."""

    @abstractmethod
    def of_documents(self, texts: tf.Tensor) -> dict[str, Column]:
        """The document columns that follow from texts, string [documents]."""
