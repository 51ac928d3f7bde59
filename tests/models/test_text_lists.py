"""Query lists as texts."""

from models.text_lists import read_text_lists
from tests.models.synthetic import write_examples


def test_lists_read_are_the_lists_written_sorted_by_query_id(tmp_path):
    def example(query_id, doc_ids, relevance):
        return {
            "query_id": [query_id],
            "query_text": [b"text of " + query_id],
            "query_title": [b"title"],
            "doc_id": doc_ids,
            "doc_text": [b"text of " + doc_id for doc_id in doc_ids],
            "relevance": relevance,
        }

    write_examples(tmp_path / "part-0", [example(b"q3", [b"a", b"b"], [0, 2]), example(b"q1", ["é".encode()], [2])])
    write_examples(tmp_path / "part-1", [example(b"q2", [b"b"], [1])])
    lists = read_text_lists(str(path) for path in tmp_path.iterdir())
    assert [text_list.query_id for text_list in lists] == [b"q1", b"q2", b"q3"]
    last = lists[-1]
    assert (last.query_text, last.doc_ids, last.grades.tolist()) == (b"text of q3", [b"a", b"b"], [0, 2])
    assert last.doc_texts == [b"text of a", b"text of b"]
