"""The vectors of the words of both languages for TensorBoard's projector."""

import os
from typing import Final

import tensorflow as tf
import tensorflow_transform as tft
from tensorboard.plugins import projector

from models.graphs import graph_function
from models.job import TrainingJob
from models.rankers.ranker import Ranker
from models.rankers.scorer import InnerProduct
from models.texts.text_features import TextFeatures
from schemas import features as f

WORDS: Final = 2000
"""Number of the most frequent words of queries, and of documents; TensorBoard loads all of them at once."""
VECTORS_FILE: Final = "word_vectors.tsv"
WORDS_FILE: Final = "words.tsv"


def write_words(
    ranker: Ranker, text_features: TextFeatures, transform: tft.TFTransformOutput, job: TrainingJob, folder: str
) -> None:
    """Writes the vector of each word as a whole query, or a whole document; near words score high together.

    Writes nothing for a scorer without vectors or words.

    Args:
      ranker: the trained ranker.
      text_features: the training's transformation.
      transform: Transform's output, for its vocabularies.
      job: the training's job.
      folder: the folder of the run in TensorBoard.
    """
    scorer = ranker.channels[job.towers.channel]
    if not isinstance(scorer, InnerProduct) or not job.towers.reads_words:
        return

    @graph_function(input_signature=[tf.TensorSpec([None], tf.string)])
    def query_vectors(texts: tf.Tensor) -> tf.Tensor:
        return scorer.query_vector(text_features.query_columns(texts))

    @graph_function(input_signature=[tf.TensorSpec([None], tf.string)])
    def document_vectors(texts: tf.Tensor) -> tf.Tensor:
        return scorer.document_vector(text_features.document_columns(texts))

    sides = (
        ("query", f.QUERY_VOCABULARY, query_vectors),
        ("document", f.DOCUMENT_VOCABULARY, document_vectors),
    )
    with (
        tf.io.gfile.GFile(os.path.join(folder, WORDS_FILE), "w") as words_file,
        tf.io.gfile.GFile(os.path.join(folder, VECTORS_FILE), "w") as vectors_file,
    ):
        words_file.write("word\tside\n")
        for side, vocabulary, vectors_of in sides:
            words = transform.vocabulary_by_name(vocabulary)[:WORDS]
            for word, vector in zip(words, vectors_of(tf.constant(words)).numpy(), strict=True):
                words_file.write(f"{word.decode()}\t{side}\n")
                vectors_file.write("\t".join(f"{value:.5g}" for value in vector) + "\n")
    config = projector.ProjectorConfig()
    config.embeddings.add(tensor_name="words", tensor_path=VECTORS_FILE, metadata_path=WORDS_FILE)
    projector.visualize_embeddings(folder, config)
