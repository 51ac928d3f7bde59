"""models/training/second_pass.py: the second pass that is fitted on the eval split."""

import numpy as np
import pytest
from scipy import sparse

from models.evaluation.fit_number import EvalMetrics
from models.lists.feedback import Feedback, unit_vectors
from models.settings import FeedbackSettings
from models.training.second_pass import DOCUMENTS, GAINS, MIN_GROWTH, fit_second_pass
from schemas.relevance import MOST_RELEVANT
from tests.models.synthetic import ranking_lists

pytestmark = pytest.mark.tensors

GRADES = [[2, 1, 0, 0], [0, 2, 0, 1], [1, 1, 2, 0]]


def fitted(scores, weights, gain="fitted", documents="fitted"):
    """The second pass that is fitted to scores of four documents with these weighted terms, and the value of each."""
    lists = ranking_lists([[row] for row in range(3)], [[0]] * 4, [[0, 1, 2, 3]] * 3, GRADES)
    first = [np.array(list_scores, np.float32) for list_scores in scores]
    vectors = unit_vectors(sparse.csr_matrix(np.array(weights, np.float32)))

    def value(gain, number):
        parts = Feedback(1.0, number).added_to_lists(lists, first, vectors)
        second = [scores + np.float32(gain) * part for scores, part in zip(first, parts, strict=True)]
        return EvalMetrics.measure(lists, second, MOST_RELEVANT).value

    passes = [Feedback(gain, number) for gain in GAINS for number in DOCUMENTS]
    second_pass = fit_second_pass(
        lists, first, vectors, FeedbackSettings(gain=gain, documents=documents), MOST_RELEVANT
    )
    return *second_pass, {feedback: value(*feedback) for feedback in passes}


@pytest.mark.parametrize("seed", range(5))
def test_the_best_gain_and_number_of_documents_are_found_together_and_the_smallest_of_equal_ones(seed):
    random = np.random.default_rng(seed)
    second_pass, curves, values = fitted(random.integers(0, 9, (3, 4)) / 8, random.integers(0, 3, (4, 3)))
    grown = {feedback: value + (0 if feedback.gain else MIN_GROWTH) for feedback, value in values.items()}
    assert second_pass == min(feedback for feedback, value in grown.items() if value == max(grown.values()))
    assert {name: fit.value for name, fit in curves.items()} == {
        "feedback.gain": second_pass.gain,
        "feedback.documents": second_pass.documents,
    }
    for name, tried in (("feedback.gain", GAINS), ("feedback.documents", DOCUMENTS)):
        assert [point.value for point in curves[name].curve] == [*tried]


def test_a_number_of_the_settings_stays():
    scores, weights = [[1.0, 0.5, 0.9, 0]] * 3, [[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]]
    second_pass, curves, _ = fitted(scores, weights, gain=12.0)
    assert (second_pass.gain, curves.keys()) == (12, {"feedback.documents"})
    second_pass, curves, _ = fitted(scores, weights, documents=5)
    assert (second_pass.documents, curves.keys()) == (5, {"feedback.gain"})
    second_pass, curves, _ = fitted(scores, weights, gain=4.0, documents=3)
    assert (second_pass, curves) == (Feedback(4.0, 3), {})


def test_documents_like_none_of_the_best_leave_the_gain_at_0():
    second_pass, *_ = fitted([[1.0, 0.5, 0.25, 0]] * 3, np.zeros((4, 3)))
    assert second_pass == Feedback(0.0, 1)
