"""Query lists: read from transformed examples, and batched with each document once."""

from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from models.lists import ranking_lists as lists
from models.lists.ranking_lists import IDS_SPEC, TEXT_SPEC, read_lists
from schemas.domains import DomainFilter
from schemas.passages import passage_id
from tests.models.synthetic import ranking_lists, write_examples

pytestmark = pytest.mark.tensors

# As `TFTransformOutput.transformed_feature_spec` has them.
SPEC = {
    "query_id": tf.io.FixedLenFeature([], tf.string),
    "query_domain": tf.io.FixedLenFeature([], tf.string),
    "query_tokens": tf.io.RaggedFeature(tf.int64, row_splits_dtype=tf.int64),
    "doc_id": tf.io.RaggedFeature(tf.string, row_splits_dtype=tf.int64),
    "doc_tokens": tf.io.RaggedFeature(
        tf.int64,
        value_key="doc_tokens$ragged_values",
        partitions=[tf.io.RaggedFeature.RowLengths("doc_tokens$row_lengths_1")],
        row_splits_dtype=tf.int64,
    ),
    "relevance": tf.io.RaggedFeature(tf.int64, row_splits_dtype=tf.int64),
    "negative_place": tf.io.RaggedFeature(tf.int64, row_splits_dtype=tf.int64),
}
DOMAINS = {b"q1": b"news", b"q2": b"health", b"q3": b"news"}
DOCUMENTS = {b"a": [1, 2], b"b": [], b"c": [3], b"d": [4, 4]}
LISTS = {  # query_id: (query_tokens, doc_ids, relevance, negative_place)
    b"q3": ([7], [b"a", b"b"], [2, 0], [-1, 0]),
    b"q1": ([], [b"c"], [2], [-1]),
    b"q2": ([8, 9], [b"b", b"d", b"a", b"c"], [0, 1, 2, 0], [1, -1, -1, 0]),
}


def transformed(query_id):
    tokens, doc_ids, relevance, negative_places = LISTS[query_id]
    return {
        "query_id": [query_id],
        "query_domain": [DOMAINS[query_id]],
        "query_tokens": tokens,
        "doc_id": doc_ids,
        "doc_tokens$ragged_values": [token for doc_id in doc_ids for token in DOCUMENTS[doc_id]],
        "doc_tokens$row_lengths_1": [len(DOCUMENTS[doc_id]) for doc_id in doc_ids],
        "relevance": relevance,
        "negative_place": negative_places,
    }


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / "part-0.gz", tmp_path / "part-1.gz"]
    write_examples(paths[0], [transformed(b"q3"), transformed(b"q1")])
    write_examples(paths[1], [transformed(b"q2")])
    return [str(path) for path in paths]


def tokens_of(read):
    """The tokens of each distinct document."""
    doc_ids, tokens = (read.document_columns[name] for name in ("doc_id", "doc_tokens"))
    return dict(zip(doc_ids.numpy(), tokens.tensor().to_list(), strict=True))


@pytest.mark.parametrize("parse_batch", [1, 2, 512])
def test_lists_read_are_the_lists_written_sorted_by_query_id(files, parse_batch, monkeypatch):
    monkeypatch.setattr(lists, "_PARSE_BATCH", parse_batch)
    read = read_lists(files, SPEC)
    assert read.query_ids == sorted(LISTS)
    for row, query_id in enumerate(read.query_ids):
        tokens, doc_ids, relevance, _ = LISTS[query_id]
        assert read.query_columns["query_tokens"][row].numpy().tolist() == tokens
        assert read.doc_ids[row] == doc_ids
        assert read.grades[row].tolist() == relevance
    assert len(read.document_columns["doc_id"]) == len(DOCUMENTS)  # each distinct document once
    assert tokens_of(read) == DOCUMENTS
    assert (len(read), read.pairs) == (3, 2 + 1 + 4)


@pytest.mark.parametrize(
    ("used_negatives", "doc_ids"),
    [
        (0, [[b"c"], [b"d", b"a"], [b"a"]]),
        (1, [[b"c"], [b"d", b"a", b"c"], [b"a", b"b"]]),
        (9, [[b"c"], [b"b", b"d", b"a", b"c"], [b"a", b"b"]]),
    ],
)
def test_the_first_nr_documents_alone_are_read_and_every_judged_one(files, used_negatives, doc_ids):
    read = read_lists(files, SPEC, used_negatives)
    assert read.doc_ids == doc_ids
    grades = [dict(zip(LISTS[query_id][1], LISTS[query_id][2], strict=True)) for query_id in read.query_ids]
    assert [list_grades.tolist() for list_grades in read.grades] == [
        [grade_of[doc_id] for doc_id in ids] for grade_of, ids in zip(grades, doc_ids, strict=True)
    ]
    assert tokens_of(read) == {doc_id: DOCUMENTS[doc_id] for ids in doc_ids for doc_id in ids}


@pytest.mark.parametrize("spec", [SPEC, TEXT_SPEC, IDS_SPEC], ids=["tokens", "texts", "ids"])
def test_no_files_have_no_lists(spec):
    read = read_lists([], spec)
    assert (len(read), read.pairs, read.query_ids, read.doc_ids, read.grades) == (0, 0, [], [], [])


def test_lists_of_texts_are_read_as_those_of_tokens(tmp_path):
    def example(query_id, doc_ids, relevance, negative_places):
        texts = {"query_text": [b"text of " + query_id], "doc_text": [b"text of " + doc_id for doc_id in doc_ids]}
        ids = {"query_id": [query_id], "query_domain": [b""], "query_title": [b"title"], "doc_id": doc_ids}
        return {**ids, **texts, "relevance": relevance, "negative_place": negative_places}

    write_examples(tmp_path / "part-0", [example(b"q2", [b"b", b"a"], [0, 2], [0, -1])])
    write_examples(tmp_path / "part-1", [example(b"q1", ["é".encode(), b"a", b"c"], [2, 0, 0], [-1, 1, 0])])
    read = read_lists(map(str, tmp_path.iterdir()), used_negatives=1)
    assert read.query_columns["query_text"].numpy().tolist() == [b"text of q1", b"text of q2"]
    assert read.doc_ids == [["é".encode(), b"c"], [b"b", b"a"]]
    texts = dict(zip(*(read.document_columns[name].numpy() for name in ("doc_id", "doc_text")), strict=True))
    assert texts == {doc_id: b"text of " + doc_id for doc_id in [b"a", b"b", b"c", "é".encode()]}


def test_a_column_more_comes_with_the_lists_of_its_query_its_documents_or_its_places(tmp_path):
    languages = {b"a": b"fr", b"b": b"de"}

    def example(query_id, doc_ids, domains):
        document_languages = [languages[doc_id] for doc_id in doc_ids]
        zeros = [0] * len(doc_ids)
        columns = {"query_language": [b"en of " + query_id], "doc_language": document_languages, "domain": domains}
        ids = {"query_id": [query_id], "doc_id": doc_ids}
        return {**ids, **columns, "relevance": zeros, "negative_place": list(range(len(doc_ids)))}

    write_examples(tmp_path / "part", [example(b"q2", [b"a", b"b"], [5, 6]), example(b"q1", [b"b"], [7])])
    ragged = {
        name: tf.io.RaggedFeature(dtype, row_splits_dtype=tf.int64)
        for dtype, names in [
            (tf.string, ["doc_id", "doc_language"]),
            (tf.int64, ["relevance", "negative_place", "domain"]),
        ]
        for name in names
    }
    single = {name: tf.io.FixedLenFeature([], tf.string) for name in ("query_id", "query_language")}
    read = read_lists([str(tmp_path / "part")], single | ragged)
    features, _ = read.batch(tf.constant([0, 1]))
    assert features["query_language"].numpy().tolist() == [b"en of q1", b"en of q2"]
    assert features["domain"].numpy().tolist() == [[7, 0], [5, 6]]
    index, shown = features["document_index"].numpy(), features["doc_language"].numpy()
    assert [shown[row] for row in (index[0, 0], index[1, 0], index[1, 1])] == [b"de", b"fr", b"de"]
    less = read_lists([str(tmp_path / "part")], single | ragged, used_negatives=1)
    assert less.batch(tf.constant([1]))[0]["domain"].numpy().tolist() == [[5]]


def test_judgments_are_read_without_the_texts(files):
    read = read_lists(files, IDS_SPEC, used_negatives=0)
    assert (read.doc_ids, [*map(list, read.grades)]) == ([[b"c"], [b"d", b"a"], [b"a"]], [[2], [1, 2], [2]])
    columns = {*read.query_columns, *read.document_columns, *read.list_columns}
    assert columns == {"query_id", "query_domain", "doc_id", "relevance"}


@pytest.mark.parametrize("spec", [SPEC, IDS_SPEC], ids=["tokens", "ids"])
def test_lists_of_some_domains_alone_are_read(files, spec):
    news, without_news = (
        read_lists(files, spec, domains=DomainFilter(frozenset([b"news"]), kept)) for kept in (True, False)
    )
    assert (news.query_ids, news.domains) == ([b"q1", b"q3"], ["news", "news"])
    assert news.doc_ids == [[b"c"], [b"a", b"b"]]
    assert (without_news.query_ids, without_news.doc_ids) == ([b"q2"], [[b"b", b"d", b"a", b"c"]])
    if spec is SPEC:
        assert tokens_of(news) == {doc_id: DOCUMENTS[doc_id] for doc_id in (b"a", b"b", b"c")}


def test_a_batch_names_the_domains_of_its_lists_where_there_are_several(files):
    read = read_lists(files, SPEC)
    numbers = read.batch(tf.constant([2, 1, 0]))[0]["query_domain"].numpy().tolist()
    assert [numbers[0] == number for number in numbers] == [True, False, True]
    news = read_lists(files, SPEC, domains=DomainFilter(frozenset([b"news"]), are_kept=True))
    assert "query_domain" not in news.batch(tf.constant([0, 1]))[0]


@st.composite
def lists_of_few_documents(draw):
    lists = draw(
        st.lists(st.dictionaries(st.integers(0, 5), st.integers(0, 2), min_size=1, max_size=5), min_size=1, max_size=6)
    )
    return ranking_lists(
        [[]] * len(lists), [[row] for row in range(6)], [[*row] for row in lists], [[*row.values()] for row in lists]
    )


@settings(max_examples=10)
@given(lists_of_few_documents())
def test_judged_negatives_leave_out_every_document_that_is_never_relevant_and_nothing_else(every):
    relevant = {
        doc_id
        for ids, grades in zip(every.doc_ids, every.grades, strict=True)
        for doc_id, grade in zip(ids, grades, strict=True)
        if grade > 0
    }
    judged = every.with_judged_negatives()
    assert set(judged.document_columns["doc_id"].numpy().tolist()) == relevant
    for row, ids in enumerate(every.doc_ids):
        kept = [(doc_id, grade) for doc_id, grade in zip(ids, every.grades[row], strict=True) if doc_id in relevant]
        assert [*zip(judged.doc_ids[row], judged.grades[row], strict=True)] == kept
    doc_ids, tokens = (judged.document_columns[name] for name in ("doc_id", "doc_tokens"))
    assert tokens.to_list() == [[int(doc_id[1:])] for doc_id in doc_ids.numpy()]
    assert judged.with_judged_negatives().digest() == judged.digest()


def test_random_documents_are_of_the_query_s_own_domain_and_no_grade_and_no_order_decides_them(files):
    lists = read_lists(files, SPEC)
    drawn = lists.with_random_documents(seed=3)
    domain_ids = {"news": {b"a", b"b", b"c"}, "health": {b"a", b"b", b"c", b"d"}}
    for domain, ids in zip(drawn.domains, drawn.doc_ids, strict=True):
        assert len(ids) == 2
        assert {*ids} <= domain_ids[domain]
    assert not np.concatenate(drawn.grades).any()
    reversed_lists = replace(
        lists,
        documents=tf.reverse(lists.documents, [1]),
        list_columns={"relevance": tf.ragged.map_flat_values(lambda grade: 2 - grade, lists.list_columns["relevance"])},
    )
    assert reversed_lists.with_random_documents(seed=3).doc_ids == drawn.doc_ids
    assert {*map(str, (lists.with_random_documents(seed).doc_ids for seed in range(5)))} != {str(drawn.doc_ids)}


@pytest.fixture(scope="module")
def three_lists():
    return ranking_lists(
        query_tokens=[[0], [1, 1], []],
        document_tokens=[[5], [6, 6], [], [7]],
        documents=[[0, 1], [1, 3, 0], [2]],
        grades=[[2, 0], [0, 1, 2], [2]],
    )


def test_batch_holds_its_lists_padded_with_minus_one_and_each_of_its_distinct_documents_once(three_lists):
    features, labels = three_lists.batch(tf.constant([1, 2]))
    assert features["query_tokens"].to_list() == [[1, 1], []]
    assert labels.numpy().tolist() == [[0, 1, 2], [2, -1, -1]]
    assert (features["document_index"].numpy() >= 0).tolist() == [[True, True, True], [True, False, False]]
    features, _ = three_lists.batch(tf.constant([1, 0]))
    tokens, index = features["doc_tokens"].to_list(), features["document_index"].numpy()
    assert sorted(tokens) == [[5], [6, 6], [7]]
    assert [tokens[row] for row in index[0]] == [[6, 6], [7], [5]]
    assert [tokens[row] for row in index[1, :2]] == [[5], [6, 6]]


def test_the_digest_changes_with_anything_that_training_reads():
    tokens, documents = [[1, 2], [3]], [[4], [5, 6]]
    documents_of, grades = [[0, 1], [1]], [[2, 0], [2]]
    same, *changed = [
        ranking_lists(tokens, documents, documents_of, grades),
        ranking_lists([[1], [2, 3]], documents, documents_of, grades),
        ranking_lists(tokens, [[4, 5], [6]], documents_of, grades),
        ranking_lists(tokens, documents, [[1, 0], [1]], grades),
        ranking_lists(tokens, documents, documents_of, [[2, 1], [2]]),
    ]
    ids = {**same.query_columns, "query_id": tf.constant(["q00", "q02"])}
    changed.append(replace(same, query_columns=ids))
    assert same.digest() == ranking_lists(tokens, documents, documents_of, grades).digest()
    assert len({same.digest(), *(lists.digest() for lists in changed)}) == 6


SCORES = st.lists(st.floats(-9, 9, width=32), min_size=1, max_size=3)


@given(st.lists(st.lists(SCORES, min_size=1, max_size=3), min_size=1, max_size=3))
def test_a_document_has_the_score_of_its_best_passage(scores):
    """`scores`: of each passage of each document of each list."""
    passages = [(f"d{number}", part) for number, parts in enumerate(chain(*scores)) for part in range(len(parts))]
    rows, documents, grades = iter(range(len(passages))), [], []
    for parts_of_list in scores:
        documents.append([next(rows) for parts in parts_of_list for _ in parts])
        grades.append([number for number, parts in enumerate(parts_of_list) for _ in parts])
    passage_lists = ranking_lists([[0]] * len(scores), [[0]] * len(passages), documents, grades)
    ids = tf.constant([passage_id(*passage) for passage in passages], tf.string)
    passage_lists = replace(passage_lists, document_columns={**passage_lists.document_columns, "doc_id": ids})
    best = passage_lists.best_passages([np.float32([*chain(*parts_of_list)]) for parts_of_list in scores])
    assert [part.tolist() for part in best] == [[max(parts) for parts in parts_of_list] for parts_of_list in scores]
    whole = passage_lists.whole_documents
    names = iter(f"d{number}".encode() for number in range(len(passages)))
    assert whole.doc_ids == [[next(names) for _ in parts_of_list] for parts_of_list in scores]
    assert [part.tolist() for part in whole.grades] == [[*range(len(parts_of_list))] for parts_of_list in scores]
    assert whole.whole_documents is whole


def test_whole_documents_have_their_own_scores():
    documents = ranking_lists([[0]], [[0], [0]], [[0, 1]], [[2, 0]])
    scores = [np.float32([1, 2])]
    assert documents.whole_documents is documents and documents.best_passages(scores) is scores
