"""Small query lists for the tests: any that are spelled out, and some that a ranker can learn."""

import numpy as np
import tensorflow as tf

from models.lists.ranking_lists import RankingLists
from schemas.relevance import MOST_RELEVANT, NOT_RELEVANT, SOMEWHAT_RELEVANT

TOPICS, WORDS_OF_A_TOPIC = 20, 3
VOCABULARY_SIZE = TOPICS * WORDS_OF_A_TOPIC


def ranking_lists(query_tokens, document_tokens, documents, grades):
    """Query lists from nested lists; the queries are called q00, q01, ... and the documents d00, d01, ..."""
    return RankingLists(
        query_columns={
            "query_id": tf.constant([f"q{row:02}" for row in range(len(query_tokens))], tf.string),
            "query_tokens": tf.ragged.constant(query_tokens, tf.int32, ragged_rank=1),
        },
        document_columns={
            "doc_id": tf.constant([f"d{row:02}" for row in range(len(document_tokens))], tf.string),
            "doc_tokens": tf.ragged.constant(document_tokens, tf.int32, ragged_rank=1),
        },
        list_columns={"relevance": tf.ragged.constant(grades, tf.int64, ragged_rank=1)},
        documents=tf.ragged.constant(documents, tf.int32, ragged_rank=1),
    )


def text_lists(lists):
    """Query lists from (query id, query text, documents), sorted by query id; documents are {id: (text, grade)}."""
    lists = sorted(lists)
    texts = {doc_id: text for _, _, documents in lists for doc_id, (text, _) in documents.items()}
    rows = {doc_id: row for row, doc_id in enumerate(texts)}
    return RankingLists(
        query_columns={
            name: tf.constant([row[column] for row in lists], tf.string)
            for column, name in enumerate(["query_id", "query_text"])
        },
        document_columns={
            "doc_id": tf.constant(list(texts), tf.string),
            "doc_text": tf.constant(list(texts.values()), tf.string),
        },
        list_columns={
            "relevance": tf.ragged.constant(
                [[grade for _, grade in documents.values()] for _, _, documents in lists], tf.int64, ragged_rank=1
            )
        },
        documents=tf.ragged.constant(
            [[rows[doc_id] for doc_id in documents] for _, _, documents in lists], tf.int32, ragged_rank=1
        ),
    )


def learnable_lists(count, seed):
    """Lists in which word k of the queries means word k of the documents; they hold 5 or 6 documents.

    Document t has topic t alone and is the MR document of that topic's queries. Their SR document has half its words
    of the next topic.
    """
    random = np.random.default_rng(seed)
    words = np.arange(VOCABULARY_SIZE).reshape(TOPICS, WORDS_OF_A_TOPIC)
    pure = [list(words[topic]) for topic in range(TOPICS)]
    mixed = [[*words[topic][:2], *words[(topic + 1) % TOPICS][:2]] for topic in range(TOPICS)]
    queries, documents, grades = [], [], []
    for row in range(count):
        topic = row % TOPICS
        topics = random.choice([number for number in range(TOPICS) if number != topic], 3 + row % 2, replace=False)
        judged = {topic: MOST_RELEVANT, TOPICS + topic: SOMEWHAT_RELEVANT} | dict.fromkeys(topics, NOT_RELEVANT)
        order = random.permutation(list(judged))
        queries.append(list(random.choice(words[topic], 2)))
        documents.append(list(order))
        grades.append([judged[document] for document in order])
    return ranking_lists(queries, pure + mixed, documents, grades)


def write_examples(path, examples):
    """Writes gzipped TFRecords of `tf.train.Example`s, each given as name to list of bytes or ints."""
    with tf.io.TFRecordWriter(str(path), "GZIP") as writer:
        for example in examples:
            features = {
                name: tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
                if values and isinstance(values[0], bytes)
                else tf.train.Feature(int64_list=tf.train.Int64List(value=values))
                for name, values in example.items()
            }
            record = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(record.SerializeToString())
