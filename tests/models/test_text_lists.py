"""Query lists as texts."""

import pytest

from models.text_lists import read_text_lists
from tests.models.synthetic import write_examples


def example(query_id, doc_ids, relevance, places):
    return {
        "query_id": [query_id],
        "query_text": [b"text of " + query_id],
        "query_title": [b"title"],
        "doc_id": doc_ids,
        "doc_text": [b"text of " + doc_id for doc_id in doc_ids],
        "relevance": relevance,
        "negative_place": places,
    }


def test_lists_read_are_the_lists_written_sorted_by_query_id(tmp_path):
    examples = [example(b"q3", [b"a", b"b"], [0, 2], [0, -1]), example(b"q1", ["é".encode()], [2], [-1])]
    write_examples(tmp_path / "part-0", examples)
    write_examples(tmp_path / "part-1", [example(b"q2", [b"b"], [1], [-1])])
    lists = read_text_lists(str(path) for path in tmp_path.iterdir())
    assert [text_list.query_id for text_list in lists] == [b"q1", b"q2", b"q3"]
    last = lists[-1]
    assert (last.query_text, last.doc_ids, last.grades.tolist()) == (b"text of q3", [b"a", b"b"], [0, 2])
    assert last.doc_texts == [b"text of a", b"text of b"]


@pytest.mark.parametrize(
    ("used_negatives", "doc_ids"), [(0, [b"b", b"d"]), (1, [b"b", b"c", b"d"]), (2, [b"a", b"b", b"c", b"d"])]
)
def test_the_first_nr_documents_alone_are_read_and_every_judged_one(tmp_path, used_negatives, doc_ids):
    write_examples(tmp_path / "part", [example(b"q", [b"a", b"b", b"c", b"d"], [0, 2, 0, 0], [1, -1, 0, -1])])
    (one,) = read_text_lists([str(tmp_path / "part")], used_negatives)
    assert one.doc_ids == doc_ids
    assert one.doc_texts == [b"text of " + doc_id for doc_id in doc_ids]
    assert one.grades.tolist() == [2 * (doc_id == b"b") for doc_id in doc_ids]
