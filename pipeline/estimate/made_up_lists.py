"""Lists of made-up words, to measure on."""

from typing import Final

import numpy as np
import tensorflow as tf

from models.lists.mapped_rows import MappedRows, RowsFile
from models.lists.ranking_lists import RankingLists
from schemas import features as f

WORDS_OF_A_STEM: Final = 3
_ZIPF: Final = 1.2


def made_up_lists(
    lists: int,
    listed: int,
    documents: int,
    query_words: int,
    document_words: int,
    vocabulary: int,
    top_grade: int,
    has_stems: bool = False,
) -> RankingLists:
    """Lists of random words with Zipf's frequencies, of random documents; the words lie where a Trainer has them.

    Args:
      lists: their number.
      listed: documents of each.
      documents: of which they are drawn; those that no list could need are left out.
      query_words, document_words: of a text.
      vocabulary: the number of words.
      top_grade: a list's first document has it, a tenth of the others 1.
      has_stems: whether words have stems, every three words one.
    """
    generator = np.random.default_rng(0)
    documents = min(documents, lists * listed)

    def words(rows: int, length: int) -> MappedRows:
        ids = np.minimum(generator.zipf(_ZIPF, rows * length), vocabulary) - 1
        file = RowsFile()
        file.add(ids.astype(np.int32), np.full(rows, length, np.int64))
        return file.mapped()

    def stems(column: MappedRows) -> MappedRows:
        file = RowsFile()
        for ids, lengths in column.blocks():
            file.add(ids // WORDS_OF_A_STEM, lengths)
        return file.mapped()

    query_tokens, doc_tokens = words(lists, query_words), words(documents, document_words)
    grades = np.zeros((lists, listed), np.int64)
    grades[:, : 1 + listed // 10] = 1
    grades[:, 0] = top_grade
    places = generator.integers(0, documents, (lists, listed), np.int32)
    return RankingLists(
        query_columns={
            f.QUERY_ID: tf.as_string(tf.range(lists)),
            f.QUERY_TOKENS: query_tokens.tensor(),
            **({f.QUERY_STEMS: stems(query_tokens).tensor()} if has_stems else {}),
        },
        document_columns={
            f.DOC_ID: tf.as_string(tf.range(documents)),
            f.DOC_TOKENS: doc_tokens,
            **({f.DOC_STEMS: stems(doc_tokens)} if has_stems else {}),
        },
        documents=tf.RaggedTensor.from_uniform_row_length(tf.constant(places.reshape(-1)), listed),
        list_columns={f.RELEVANCE: tf.RaggedTensor.from_uniform_row_length(tf.constant(grades.reshape(-1)), listed)},
    )
