"""models/training/channel_weight.py: the weight that is fitted on the eval split."""

from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from models.evaluation.list_metrics import means, per_query_metrics
from models.rankers.ranker import Ranker
from models.rankers.scorer import Bounds, Scorer
from models.training.channel_weight import CHANNEL, TOWERS, WEIGHTS, Sum, fit_weight
from schemas.relevance import MOST_RELEVANT
from tests.models.synthetic import ranking_lists

pytestmark = [pytest.mark.tensors, pytest.mark.usefixtures("without_graphs")]

SCORES = st.lists(st.lists(st.sampled_from([-0.5, 0.0, 0.1, 0.2, 1.0]), min_size=4, max_size=4), min_size=3, max_size=3)
GRADES = [[2, 1, 0, 0], [0, 2, 0, 1], [1, 1, 2, 0]]


class Column(Scorer):
    """Scores that stand in a column of the lists."""

    def __init__(self, column):
        super().__init__()
        self._column = column

    def call(self, features, training=False):
        return features[self._column]

    @property
    def bounds(self):
        return Bounds(-1.0, 1.0)


def fitted(first, second, grades=GRADES, scale=1.0, candidates=CHANNEL):
    """The weight that is fitted to scores of lists of the same documents."""
    rows = range(len(grades))
    lists = ranking_lists([[row] for row in rows], [[0]] * 4, [[0, 1, 2, 3] for _ in rows], grades)
    columns = {"first": first, "second": second}
    ragged = {name: tf.ragged.constant(scores, tf.float32, ragged_rank=1) for name, scores in columns.items()}
    lists = replace(lists, list_columns={**lists.list_columns, **ragged})
    scores = Sum(lists, Ranker({"first": Column("first")}), Column("second"), scale)
    return fit_weight([scores], MOST_RELEVANT, candidates)


def reference(first, second, weight):
    """Means of ndcg_5 and p_mr_1."""
    scores = [
        np.float32(base) + np.float32(weight) * np.float32(added) for base, added in zip(first, second, strict=True)
    ]
    metrics = means(per_query_metrics([np.array(grades) for grades in GRADES], scores, MOST_RELEVANT))
    return metrics["ndcg_5"], metrics["p_mr_1"]


@settings(max_examples=2)
@given(SCORES, SCORES)
def test_the_curve_holds_the_metrics_of_each_weight_and_the_best_is_the_smallest_of_the_largest(first, second):
    weight = fitted(first, second)
    assert [tried.value for tried in weight.curve] == list(WEIGHTS)
    expected = [reference(first, second, weight) for weight in WEIGHTS]
    np.testing.assert_allclose([(tried.ndcg_5, tried.p_mr_1) for tried in weight.curve], expected)
    values = [ndcg + 0.1 * p_mr for ndcg, p_mr in expected]
    assume(expected[0] != reference([[0.0] * 4] * 3, second, 1.0))
    assert weight.value == WEIGHTS[values.index(max(values))]


def test_a_channel_that_changes_no_order_has_no_weight():
    assert fitted([[0.3, 0.2, 0.1, 0.0]] * 3, [[1.0] * 4] * 3).value == 0


def test_where_either_part_alone_ranks_as_well_as_both_the_weight_in_the_middle_is_taken():
    first, second = [[0.3, 0.2, 0.1, 0.0]], [[0.9, 0.4, 0.2, 0.1]]
    assert fitted(first, second, grades=[[2, 0, 0, 0]]).value == WEIGHTS[len(WEIGHTS) // 2]


def test_a_channel_that_knows_the_grades_has_the_least_weight_that_orders_by_them():
    first = [[0.0, 0.25, 0.25, 0.25]] * 3
    second = [[1.0, 0.0, 0.0, 0.0]] * 3
    weight = fitted(first, second, grades=[[2, 0, 0, 0]] * 3)
    assert weight.value == 0.3
    assert [tried.p_mr_1 for tried in weight.curve] == [weight >= 0.3 for weight in WEIGHTS]


def test_a_right_first_document_counts_beside_ndcg():
    weight = fitted([[0.3, 0.2, 0.1, 0.0]] * 3, [[0.0, 0.0, 0.0, 1.0]] * 3)
    best = max(tried.ndcg_5 + 0.1 * tried.p_mr_1 for tried in weight.curve)
    assert next(tried.value for tried in weight.curve if tried.ndcg_5 + 0.1 * tried.p_mr_1 == best) == weight.value


def test_the_weights_of_both_parts_count():
    first, second = [[0.0, 1.0, 0.0, 0.0]], [[1.0, 0.0, 0.0, 0.0]]
    weight = fitted(first, second, grades=[[2, 0, 0, 0]], scale=0.25)
    assert [tried.p_mr_1 for tried in weight.curve] == [float(tried.value > 0.25) for tried in weight.curve]


def test_towers_keep_their_weight_unless_less_is_clearly_better():
    first, second = [[0.5, 0.0, 0.0, 0.0]], [[0.1, 0.3, 0.0, 0.0]]
    assert fitted(first, second, grades=[[2, 1, 0, 0]], candidates=TOWERS).value == 1.0
    assert fitted(first, [[0.0, 0.7, 0.0, 0.0]], grades=[[2, 0, 0, 0]], candidates=TOWERS).value == 0.0
