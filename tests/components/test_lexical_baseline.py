"""LexicalBaseline: a TREC run over the test lists."""

from pathlib import Path

import pytest

from models.texts.tokens import ALL_WORDS
from schemas.trec import parse_run
from smooth_clir.retrieval.bm25 import score_by_bm25
from tests.models.synthetic import text_lists

pytestmark = pytest.mark.stages

COLLECTION = {
    "d1": "Le loup (Canis lupus) vit en meute",
    "d2": "Canis lupus",
    "d3": "Canis lupus",
    "d4": "La tour Eiffel",
    "d10": "La Seine",
    "d11": "Canis canis canis",
}
LISTS = {
    "q2": ("Canis lupus is the grey wolf", ["d1", "d2", "d3", "d4", "d10"]),
    "q1": ("Nothing shared", ["d4", "d10", "d2"]),
}


@pytest.fixture(scope="module")
def lines(tmp_path_factory, make_artifact, make_collection, make_examples):
    """The lines of the run file."""
    from components.lexical_baseline import LexicalBaseline

    folder = tmp_path_factory.mktemp("baseline")
    lists = {
        query_id: (text, {doc_id: (COLLECTION[doc_id], 0) for doc_id in doc_ids})
        for query_id, (text, doc_ids) in LISTS.items()
    }
    # Titles say nothing, and a broken line is left out.
    documents = ["d12\ttwo fields\n", *(f"{doc_id}\tCanis lupus\t{text}\n" for doc_id, text in COLLECTION.items())]
    examples, run = make_examples(folder, lists), make_artifact("RankingRun", folder)
    collection = make_collection(folder, {"documents": "".join(documents).encode()})
    LexicalBaseline.test_call(examples, collection, run, apply=map, rules=ALL_WORDS)
    return (Path(run.uri) / "run.trec").read_text().splitlines()


def test_scores_are_those_of_the_whole_collection(lines):
    text, doc_ids = LISTS["q2"]
    lists = text_lists([("q2", text, {doc_id: (COLLECTION[doc_id], 0) for doc_id in doc_ids})])
    (scores,) = score_by_bm25(lists, COLLECTION.values(), ALL_WORDS)
    expected = dict(zip(doc_ids, scores, strict=True))
    assert parse_run(lines, "run.trec").scores["q2"] == pytest.approx(expected, rel=1e-8)


def test_every_document_of_every_test_list_stands_by_score_then_document_id_descending(lines):
    ranked = {query_id: list(scores) for query_id, scores in parse_run(lines, "run.trec").scores.items()}
    # d2 and d3 tie, and so do the documents that share no word.
    assert ranked == {"q1": ["d4", "d2", "d10"], "q2": ["d3", "d2", "d1", "d4", "d10"]}
    assert [line.split()[3] for line in lines] == ["1", "2", "3", "1", "2", "3", "4", "5"]
