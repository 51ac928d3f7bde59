"""The replay of scores: which differences are a failure, and the texts that it needs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from models.lists.feedback import FIRST_PASS, Feedback
from models.lists.ranking import rank
from schemas.errors import DataError
from schemas.passages import PassageSettings
from schemas.wikiclir import Text
from smooth_clir.retrieval.document_ranker import DocumentRanker
from smooth_clir.serving.score_replay import TOLERANCE, Inversion, ScoredDocument, read_texts, replay_scores
from tests.memory_files import in_memory
from tests.models.loaded_once import model_with_words

pytestmark = pytest.mark.tensors

QUERIES = {"q1": "a", "q2": "b"}
RUN = {"q1": {"d1": 0.5, "d2": 0.25, "d3": -1.0}, "q2": {"d2": 0.5, "d1": 0.5}}


class Scores:
    """A served model with a score for each query's text and document's."""

    version, signatures = "1", frozenset({"score"})

    def __init__(self, scores: dict[str, dict[str, float]]) -> None:
        self._scores = {
            QUERIES[query_id]: {f"t{doc_id}": score for doc_id, score in document_scores.items()}
            for query_id, document_scores in scores.items()
        }

    def split(self, document: Text) -> list[Text]:
        return [document]

    def own_vectors(self, texts: list[str]) -> tuple[list[bytes], sparse.csr_matrix]:
        return [b"chat"], sparse.csr_matrix(np.ones((len(texts), 1), np.float32))

    def call(self, signature: str, inputs: Any) -> dict[str, Any]:
        (query,), (documents,) = inputs["query"], inputs["documents"]
        assert signature == "score"
        return {"scores": np.float32([[self._scores[query][text] for text in documents]])}


def replay(
    run: dict[str, dict[str, float]], served: dict[str, dict[str, float]], feedback: Feedback = FIRST_PASS
) -> Any:
    documents = {doc_id: f"t{doc_id}" for scores in run.values() for doc_id in scores}
    return replay_scores(Scores(served), run, QUERIES, documents, feedback)


def test_the_largest_difference_and_the_two_furthest_documents_in_another_order_are_reported() -> None:
    report = replay(RUN, {**RUN, "q1": {"d1": 0.0, "d2": 0.75, "d3": 0.125}})
    assert (report.lists, report.documents, report.largest_difference) == (2, 5, 0.125 + 1.0)
    above, below = ScoredDocument("d1", 0.5, 0.0), ScoredDocument("d3", -1.0, 0.125)
    assert report.inversions == [Inversion("q1", above, below)]


def test_a_document_of_a_model_of_passages_is_replayed_by_its_best_passage() -> None:
    model = model_with_words(feedback=Feedback(4.0), passages=PassageSettings(words=2, overlap=1))
    documents = {"d1": "un chat blanc noir", "d2": "lune", "d3": "chien blanc"}
    ranked = DocumentRanker(model, [Text(doc_id, "", text, 1) for doc_id, text in documents.items()]).rank("cat", 3)
    run = {"q1": {document.doc_id: document.score for document in ranked}}
    report = replay_scores(model, run, {"q1": "cat"}, documents, model.feedback)
    assert (report.documents, report.inversions) == (3, [])
    assert report.largest_difference < 1e-5


def test_a_run_of_a_second_pass_is_compared_after_it() -> None:
    served = {"q1": {"d1": 3.0, "d2": 1.0}}
    gain = 4.0  # the spread of 3 and 1 is 1, and all documents are alike
    run = {"q1": {doc_id: score + gain for doc_id, score in served["q1"].items()}}
    assert replay(run, served, Feedback(gain)).largest_difference == pytest.approx(0, abs=1e-6)
    assert replay(run, served).largest_difference == gain


@pytest.mark.parametrize(("apart", "fails"), [(0.5 * TOLERANCE, False), (2 * TOLERANCE, True)])
def test_documents_that_score_nearly_the_same_may_change_places(apart: float, fails: bool) -> None:
    report = replay({"q1": {"d1": apart, "d2": 0.0}}, {"q1": {"d1": 0.0, "d2": apart}})
    assert bool(report.inversions) == fails


SCORES = st.lists(st.sampled_from([-0.5, 0.0, 4e-7, 8e-7, 1.6e-6, 0.5]), min_size=1, max_size=6)


@given(SCORES, st.randoms())
def test_an_inversion_is_reported_where_any_pair_is_inverted(evaluated: list[float], random: Any) -> None:
    ids = [f"d{number}" for number in range(len(evaluated))]
    served = [random.choice([-0.5, 0.0, 0.5]) for _ in evaluated]
    report = replay({"q1": dict(zip(ids, evaluated, strict=True))}, {"q1": dict(zip(ids, served, strict=True))})
    order = rank(np.float32(served), [doc_id.encode() for doc_id in ids]).tolist()
    gaps = [
        evaluated[lower] - evaluated[upper]
        for position, upper in enumerate(order)
        for lower in order[position + 1 :]
        if evaluated[lower] - evaluated[upper] > TOLERANCE
    ]
    differences = [inversion.above.evaluated - inversion.below.evaluated for inversion in report.inversions]
    assert differences == ([max(gaps)] if gaps else [])


def test_a_score_that_is_not_finite_is_refused() -> None:
    with pytest.raises(DataError, match="q1 .*got nan"):
        replay(RUN, {**RUN, "q1": {"d1": np.nan, "d2": 0.0, "d3": 0.0}})


def test_texts_are_the_first_of_their_ids_and_a_document_that_is_gone_is_named() -> None:
    files = {"one": b"d1\tt\tx\nd2\tt\ty\nbad\n", "two": b"d1\tt\tagain\nd3\tt\tz\n"}

    def read(ids: set[str]) -> dict[str, str]:
        with in_memory(files):
            return read_texts("documents", files, ids)

    assert read({"d1", "d3"}) == {"d1": "x", "d3": "z"}
    with pytest.raises(DataError, match="one and two .*'d4'"):
        read({"d4"})
