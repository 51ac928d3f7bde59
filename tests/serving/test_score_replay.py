"""The replay of scores: which differences are a failure, and the texts that it needs."""

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.retrieval.ranking import rank
from schemas.errors import DataError
from serving.score_replay import TOLERANCE, Inversion, ScoredDocument, read_texts, replay_scores

pytestmark = pytest.mark.tensors

QUERIES = {"q1": "a", "q2": "b"}
RUN = {"q1": {"d1": 0.5, "d2": 0.25, "d3": -1.0}, "q2": {"d2": 0.5, "d1": 0.5}}
DOCUMENTS = {"d1": "x", "d2": "y", "d3": "z"}


class Scores:
    """A served model that has a score for each query's text and document's."""

    version, signatures = "1", frozenset({"score"})

    def __init__(self, scores: dict[str, dict[str, float]]) -> None:
        self._scores = {
            QUERIES[query_id]: {DOCUMENTS[doc_id]: score for doc_id, score in of_query.items()}
            for query_id, of_query in scores.items()
        }

    def call(self, signature: str, inputs: Any) -> dict[str, Any]:
        (query,), (documents,) = inputs["query"], inputs["documents"]
        assert signature == "score"
        return {"scores": np.float32([[self._scores[query][text] for text in documents]])}


def replayed(run: dict[str, dict[str, float]], served: dict[str, dict[str, float]]) -> Any:
    return replay_scores(Scores(served), run, QUERIES, DOCUMENTS)


def test_equal_scores_are_in_order() -> None:
    found = replayed(RUN, RUN)
    assert (found.lists, found.documents, found.largest_difference, found.inversions) == (2, 5, 0, [])


def test_other_scores_in_the_same_order_are_no_failure_and_their_difference_is_reported() -> None:
    found = replayed(RUN, {**RUN, "q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}})
    assert (found.largest_difference, found.inversions) == (3.0 - 0.5, [])


def test_the_two_furthest_documents_in_another_order_are_reported() -> None:
    found = replayed(RUN, {**RUN, "q1": {"d1": 0.0, "d2": 0.75, "d3": 0.125}})
    above, below = ScoredDocument("d1", 0.5, 0.0), ScoredDocument("d3", -1.0, 0.125)
    assert found.inversions == [Inversion("q1", above, below)]


@pytest.mark.parametrize(("apart", "fails"), [(0.5 * TOLERANCE, False), (2 * TOLERANCE, True)])
def test_documents_that_score_nearly_the_same_may_change_places(apart: float, fails: bool) -> None:
    run = {"q1": {"d1": apart, "d2": 0.0}}
    assert bool(replayed(run, {"q1": {"d1": 0.0, "d2": apart}}).inversions) == fails


SCORES = st.lists(st.sampled_from([-0.5, 0.0, 4e-7, 8e-7, 1.6e-6, 0.5]), min_size=1, max_size=6)


@given(SCORES, st.randoms())
def test_an_inversion_is_found_where_any_pair_is_one(evaluated: list[float], random: Any) -> None:
    documents = {f"d{number}": f"t{number}" for number in range(len(evaluated))}
    served = [random.choice([-0.5, 0.0, 0.5]) for _ in evaluated]
    model = Scores({})
    model._scores = {"a": dict(zip(documents.values(), served, strict=True))}
    found = replay_scores(model, {"q1": dict(zip(documents, evaluated, strict=True))}, QUERIES, documents)
    order = rank(np.float32(served), [doc_id.encode() for doc_id in documents]).tolist()
    gaps = [
        evaluated[lower] - evaluated[upper]
        for at, upper in enumerate(order)
        for lower in order[at + 1 :]
        if evaluated[lower] - evaluated[upper] > TOLERANCE
    ]
    assert [one.above.evaluated - one.below.evaluated for one in found.inversions] == ([max(gaps)] if gaps else [])


def test_a_score_that_is_not_finite_is_refused() -> None:
    with pytest.raises(DataError, match="scores of query q1 must be finite; got nan"):
        replayed(RUN, {**RUN, "q1": {"d1": np.nan, "d2": 0.0, "d3": 0.0}})


# Texts


FILES = {"one": b"d1\tt\tx\nd2\tt\ty\nbad\n", "two": b"d1\tt\tagain\nd3\tt\tz\n"}


def test_texts_are_those_of_ingestion_the_first_of_an_id() -> None:
    texts = read_texts("documents", FILES, {"d1", "d3"}, lambda file, _mode: io.BytesIO(FILES[file]))
    assert texts == {"d1": "x", "d3": "z"}


def test_a_document_that_is_gone_is_named() -> None:
    with pytest.raises(DataError, match="one and two must hold the documents of the run; 'd4' is not there"):
        read_texts("documents", FILES, {"d4"}, lambda file, _mode: io.BytesIO(FILES[file]))
