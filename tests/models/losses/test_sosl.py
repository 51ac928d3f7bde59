"""Smooth Ordinal Search Loss (eq. 2): its values. `test_proposition_1.py` and `test_declarations.py` have its laws."""

import pytest

from schemas.relevance import MOST_RELEVANT, NOT_RELEVANT, PADDING_LABEL, SOMEWHAT_RELEVANT
from tests.models.losses.listwise import loss_and_gradient

pytestmark = pytest.mark.tensors

THETA = (0.2, 0.7)


@pytest.mark.parametrize(
    ("grade", "score", "expected"),
    [
        (MOST_RELEVANT, 0.5, (0.7 - 0.5) ** 2),
        (MOST_RELEVANT, -1.0, (0.7 + 1) ** 2),
        (SOMEWHAT_RELEVANT, 0.1, (0.2 - 0.1) ** 2),
        (SOMEWHAT_RELEVANT, 0.5, 0),
        (SOMEWHAT_RELEVANT, 0.9, (0.9 - 0.7) ** 2),
        (NOT_RELEVANT, 0.5, (0.5 - 0.2) ** 2),
        (NOT_RELEVANT, 1.0, (1 - 0.2) ** 2),
    ],
)
def test_loss_of_one_document_is_the_squared_distance_to_its_band(grade, score, expected):
    assert loss_and_gradient("sosl", THETA, [grade], [score])[0] == pytest.approx(expected)


def test_loss_of_a_list_is_the_mean_over_its_documents():
    loss, _ = loss_and_gradient("sosl", THETA, [MOST_RELEVANT, NOT_RELEVANT, PADDING_LABEL], [0.5, 0.6, 0.9])
    assert loss == pytest.approx(((0.7 - 0.5) ** 2 + (0.6 - 0.2) ** 2) / 2)
