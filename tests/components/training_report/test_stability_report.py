"""The report on a training's stability: its statements, and the questions that it leaves open."""

import json

import pytest

from components.training_report.stability_report import describe_stability, stability_report, unreachable
from models.losses.declarations import LOSSES
from models.settings import LossSettings, ModelSettings
from schemas.stability import Stability
from tests.components.training_report.history import history

ROWS = [
    {"train/clipped_share": share, "score_gradient/max": ours, "score_gradient/plain_cosine_max": plain}
    for share, ours, plain in [(0.5, 0.2, 9.0), (0.0, 0.4, 3.0)]
]


def report(model=None, loss=None, **values):
    rows = [row | {"score_gradient/bound": 1.0} for row in ROWS]
    return stability_report(model or ModelSettings(), loss or LossSettings(), 0.1, history(*rows, **values))


def test_it_holds_the_bounds_beside_the_observations():
    found = report()
    assert found == Stability(
        gradient_bound=1.0,
        paper_gradient_bound=2.0,
        largest_score_gradient=0.4,
        largest_score_gradient_plain_cosine=9.0,
        clipped_share=0.25,
        loss_lipschitz=2 * (1 + 0.7),
        loss_smoothness=2.0,
        theorem_3=found.theorem_3,
        largest_score=(8 / 9) ** 2,
        unreachable=(),
    )


def test_theorem_3_is_about_the_exported_epoch_and_scaled_by_the_largest_loss():
    theorem = report().theorem_3
    lipschitz, largest = 3.4, 1.7**2
    smoothness = 2 + lipschitz * (2 + 4 / (3 * 3**0.5))
    assert theorem.lipschitz == pytest.approx(lipschitz)
    assert theorem.smoothness == pytest.approx(smoothness)
    product = smoothness / largest * 0.1
    beta = (1 + 1 / product) / 29_999 * (0.2 * (lipschitz / largest) ** 2) ** (1 / (product + 1))
    beta *= 100 ** (product / (product + 1))
    assert theorem.steps == 100
    assert theorem.beta == pytest.approx(largest * beta)
    assert theorem.largest_loss == pytest.approx(largest)


@pytest.mark.parametrize(("pairs", "words"), [(10**6, "the bound is below."), (10, "not below, and says nothing.")])
def test_its_sentence_says_whether_the_bound_says_anything(pairs, words):
    theorem = report(train_pairs=pairs).theorem_3
    assert (theorem.bound < theorem.largest_loss) == (pairs > 10)
    assert words in theorem.sentence


@pytest.mark.parametrize(
    ("model", "loss", "values"),
    [
        ({"similarity": "cosine"}, {}, {}),
        ({"similarity": "dot"}, {}, {}),
        ({"epsilon": 0.0}, {}, {}),
        ({"stem_embeddings": True}, {}, {}),
        ({"word_dropout": 0.25}, {}, {}),
        ({}, {"name": "softmax"}, {}),
        ({}, {"learn_theta": True}, {"theta": [0.1, 0.3]}),
        ({}, {"in_batch": True}, {}),
        ({}, {"softmax_weight": 0.1}, {}),
        ({}, {}, {"train_pairs": 1}),
    ],
)
def test_theorem_3_is_left_out_where_its_constants_are_not_known(model, loss, values):
    found = report(ModelSettings(**model), LossSettings(**loss), **values)
    assert found.theorem_3 is None
    assert "Theorem 3: not evaluated." in describe_stability(found)


def test_constants_of_learned_thresholds_are_those_of_the_exported_epoch():
    assert report(loss=LossSettings(learn_theta=True), theta=[0.1, 0.3]).loss_lipschitz == pytest.approx(2 * 1.3)


@pytest.mark.parametrize(("dim", "lipschitz"), [(1, 2 * (1 + 0.7)), (2, None)])
def test_constants_of_the_loss_are_known_where_no_score_leaves_the_scale_of_the_thresholds(dim, lipschitz):
    assert report(ModelSettings(similarity="dot", embedding_dim=dim)).loss_lipschitz == lipschitz


def test_plain_cosine_has_no_bound():
    found = stability_report(ModelSettings(similarity="cosine"), LossSettings(), 0.1, history(*ROWS))
    assert found.gradient_bound is None
    assert found.paper_gradient_bound is None


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("similarity", ["smooth_cosine", "cosine", "dot"])
def test_every_report_is_json_of_finite_numbers_and_a_page_with_its_warnings(name, similarity):
    found = report(ModelSettings(similarity=similarity), LossSettings(name=name))
    assert Stability.model_validate(json.loads(found.to_json(), parse_constant=pytest.fail)) == found
    page = describe_stability(found)
    assert all(f"- {sentence}.\n" in page for sentence in found.unreachable)
    assert ("## Warnings" in page) == bool(found.unreachable)
    assert "| largest gradient of a score, seen on the eval split | 0.4 |" in page


@pytest.mark.parametrize(
    ("name", "theta", "sentence"),
    [
        ("sosl", None, None),
        ("sosl", (0.2, 0.8), "no score exceeds 0.790; sosl aims at 0.8 or more for grade 2, which cannot be reached"),
        ("sosl", (-0.8, 0), "no score is below -0.790; sosl aims at -0.8 or less for grade 0, which cannot be reached"),
        ("mse", None, "no score exceeds 0.790; mse aims at 0.85 for grade 2, which cannot be reached"),
        ("mse", (0.2, 0.5), None),
        ("mse", (-0.7, 0.5), "no score is below -0.790; mse aims at -0.85 for grade 0, which cannot be reached"),
        (
            "proportional_odds",
            None,
            "no score exceeds 0.790; proportional_odds aims at 0.85 for grade 2, which cannot be reached",
        ),
        (
            "three_part_l2",
            None,
            "no score exceeds 0.790; three_part_l2 aims at 0.9 or more for grade 2, which cannot be reached",
        ),
        ("three_part_l2", (0.2, 0.5, 0.7), None),
        ("softmax", None, None),
    ],
)
def test_a_grade_that_no_score_satisfies_has_a_sentence(name, theta, sentence):
    expected = [f"with embedding_dim 64 and epsilon 1 {sentence}"] if sentence else []
    assert unreachable(ModelSettings(), LossSettings(name=name, theta=theta)) == expected


def test_every_such_grade_has_one():
    sentences = unreachable(ModelSettings(embedding_dim=4), LossSettings(theta=(0.5, 0.7)))  # (2 / 3)^2 = 0.444
    assert [sentence.split(";")[1].split(",")[0] for sentence in sentences] == [
        " sosl aims at 0.5 or more for grade 1",
        " sosl aims at 0.7 or more for grade 2",
    ]


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
@pytest.mark.parametrize("loss", ["sosl", "mse", "proportional_odds", "three_part_l2"])
def test_cosine_and_dot_reach_every_threshold(similarity, loss):
    assert unreachable(ModelSettings(similarity=similarity), LossSettings(name=loss)) == []
