"""The rarity of terms among the texts of lists."""

import hashlib

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.lexicon.term_weight import idf
from models.lists.mapped_rows import MappedRows


def idf_of_terms(texts: tf.RaggedTensor | MappedRows, terms: int) -> npt.NDArray[np.float32]:
    """The inverse document frequency of each term, see `models.lexicon.term_weight.idf`.

    Texts with the same known terms count once.

    Args:
      texts: the ids of each text's terms: int [texts, (terms)].
      terms: the number of all terms.

    Returns:
      float32 [terms], above 0; a term of no text has df = 0.

    Example:
      >>> texts = tf.ragged.constant([[0, 0, 1], [1], [0, 0, 1]])
      >>> idf_of_terms(texts, terms=2)  # two texts: ln((2 + 1) / (1 + 1/2)), ln((2 + 1) / (2 + 1/2))
      array([0.6931472 , 0.18232156], dtype=float32)
    """
    blocks = texts.blocks() if isinstance(texts, MappedRows) else [(texts.values.numpy(), texts.row_lengths().numpy())]
    frequency = np.zeros(terms, np.int64)
    known: set[bytes] = set()
    for ids, lengths in blocks:
        for text_ids in np.split(ids, np.cumsum(lengths))[:-1]:
            digest = hashlib.blake2b(text_ids.tobytes(), digest_size=16).digest()
            if digest not in known:
                known.add(digest)
                frequency[np.unique(text_ids)] += 1
    rarity: npt.NDArray[np.float32] = idf(len(known), frequency).astype(np.float32)
    return rarity
