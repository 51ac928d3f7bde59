"""The report on a training's stability: its statements, and the questions that it leaves open."""

import json

import pytest

from components.training_report.stability_report import (
    describe_stability,
    stability_report,
    training_files,
    unreachable,
)
from models.losses.settings import LossSettings, SoslSettings
from models.rankers.settings import TwoTowersSettings
from models.training.settings import TrainingSettings
from schemas.stability import Stability
from tests.components.training_report.history import ROW, history

ROWS = [
    {"train/clipped_share": share, "score_gradient/max": ours, "score_gradient/plain_cosine_max": plain}
    for share, ours, plain in [(0.5, 0.2, 9.0), (0.0, 0.4, 3.0)]
]


def report(towers=None, loss=None, **values):
    rows = [row | {"score_gradient/bound": 1.0} for row in ROWS]
    return stability_report(towers or TwoTowersSettings(), loss or SoslSettings(), 2, 0.1, history(*rows, **values))


def test_it_holds_the_bounds_beside_the_observations_and_theorem_3_at_the_exported_epoch():
    lipschitz, smoothness, largest = 2 * (1 + 0.7), 2.0, 1.7**2
    account = report()
    theorem = account.theorem_3
    assert account == Stability(
        gradient_bound=1.0,
        paper_gradient_bound=2.0,
        largest_score_gradient=0.4,
        largest_score_gradient_plain_cosine=9.0,
        clipped_share=0.25,
        loss_lipschitz=lipschitz,
        loss_smoothness=smoothness,
        theorem_3=theorem,
        largest_score=(8 / 9) ** 2,
        unreachable=(),
    )
    smoothness += lipschitz * (2 + 4 / (3 * 3**0.5))
    assert theorem.lipschitz == pytest.approx(lipschitz)
    assert theorem.smoothness == pytest.approx(smoothness)
    product = smoothness / largest * 0.1
    beta = (1 + 1 / product) / 29_999 * (0.2 * (lipschitz / largest) ** 2) ** (1 / (product + 1))
    beta *= 100 ** (product / (product + 1))
    assert theorem.steps == 100
    assert theorem.beta == pytest.approx(largest * beta)  # scaled by the largest loss
    assert theorem.largest_loss == pytest.approx(largest)


@pytest.mark.parametrize(("pairs", "is_below"), [(10**6, True), (10, False)])
def test_its_sentence_says_whether_the_bound_says_anything(pairs, is_below):
    theorem = report(train_pairs=pairs).theorem_3
    assert (theorem.bound < theorem.largest_loss) == is_below
    assert ("says nothing" not in theorem.sentence) == is_below


@pytest.mark.parametrize(
    ("towers", "loss", "values"),
    [
        ({"similarity": "cosine"}, {}, {}),
        ({"similarity": "dot"}, {}, {}),
        ({"epsilon": 0.0}, {}, {}),
        ({"encoder": {"stem_embeddings": True}}, {}, {}),
        ({"encoder": {"word_dropout": 0.25}}, {}, {}),
        ({}, {"kind": "softmax"}, {}),
        ({}, {"learn_theta": True}, {"theta": [0.1, 0.3]}),
        ({}, {"in_batch": True}, {}),
        ({}, {"softmax_weight": 0.1}, {}),
        ({}, {}, {"train_pairs": 1}),
    ],
)
def test_theorem_3_is_left_out_where_its_constants_are_not_known(towers, loss, values):
    account = report(TwoTowersSettings(**towers), LossSettings.model_validate(loss), **values)
    assert account.theorem_3 is None
    assert "Theorem 3: not evaluated." in describe_stability(account)


def test_constants_of_learned_thresholds_are_those_of_the_exported_epoch():
    assert report(loss=SoslSettings(learn_theta=True), theta=[0.1, 0.3]).loss_lipschitz == pytest.approx(2 * 1.3)


@pytest.mark.parametrize(("dim", "lipschitz"), [(1, 2 * (1 + 0.7)), (2, None)])
def test_constants_of_the_loss_are_known_where_no_score_leaves_the_scale_of_the_thresholds(dim, lipschitz):
    assert report(TwoTowersSettings(similarity="dot", embedding_dim=dim)).loss_lipschitz == lipschitz


def test_plain_cosine_has_no_bound():
    account = stability_report(TwoTowersSettings(similarity="cosine"), SoslSettings(), 2, 0.1, history(*ROWS))
    assert (account.gradient_bound, account.paper_gradient_bound) == (None, None)


@pytest.mark.parametrize("name", LossSettings.kinds)
@pytest.mark.parametrize("similarity", ["smooth_cosine", "cosine", "dot"])
def test_every_report_is_json_of_finite_numbers_and_a_page_with_its_warnings(name, similarity):
    account = report(TwoTowersSettings(similarity=similarity), LossSettings.model_validate(name))
    assert Stability.model_validate(json.loads(account.to_json(), parse_constant=pytest.fail)) == account
    page = describe_stability(account)
    assert all(f"- {sentence}.\n" in page for sentence in account.unreachable)
    assert ("## Warnings" in page) == bool(account.unreachable)
    assert "| 0.4 |" in page
    if similarity != "smooth_cosine":  # cosine and dot reach every threshold
        assert account.unreachable == ()


@pytest.mark.parametrize(
    ("name", "theta", "limit", "aim"),
    [
        ("sosl", (0.2, 0.8), "exceeds 0.790", "0.8 or more for grade 2"),
        ("sosl", (-0.8, 0), "is below -0.790", "-0.8 or less for grade 0"),
        ("mse", None, "exceeds 0.790", "0.85 for grade 2"),
        ("mse", (-0.7, 0.5), "is below -0.790", "-0.85 for grade 0"),
        ("proportional_odds", None, "exceeds 0.790", "0.85 for grade 2"),
        ("three_part_l2", None, "exceeds 0.790", "0.9 or more for grade 2"),
        *[("sosl", None, None, None), ("mse", (0.2, 0.5), None, None), ("softmax", None, None, None)],
        ("three_part_l2", (0.2, 0.5, 0.7), None, None),
    ],
)
def test_a_grade_that_no_score_satisfies_has_a_sentence(name, theta, limit, aim):
    sentence = f"with embedding_dim 64 and epsilon 1 no score {limit}; {name} aims at {aim}, which cannot be reached"
    loss = LossSettings.model_validate({"kind": name, **({"theta": theta} if theta else {})})
    assert unreachable(TwoTowersSettings(), loss, 2) == [sentence] * bool(limit)


def test_every_such_grade_has_a_sentence():
    sentences = unreachable(TwoTowersSettings(embedding_dim=4), SoslSettings(theta=(0.5, 0.7)), 2)  # (2 / 3)^2 = 0.444
    assert ["0.5 or more for grade 1" in sentences[0], "0.7 or more for grade 2" in sentences[1]] == [True, True]


TOWERS, LOSS = TwoTowersSettings(), SoslSettings(theta=(0.2, 0.7))
HISTORY = history(ROW, ROW)
TRAINING = TrainingSettings(learning_rate=0.1, learning_rate_decay=0.5, embedding_factor=3)


def test_the_history_stays_byte_by_byte_as_the_trainer_wrote_it():
    text = json.dumps(json.loads(HISTORY.to_json()), indent=3) + "\n\n"
    assert training_files(text, TOWERS, LOSS, 2, TRAINING)["training/training.json"] == text


def test_the_stability_is_that_at_the_word_embeddings_first_step_size():
    files = training_files(HISTORY.to_json(), TOWERS, LOSS, 2, TRAINING)
    report = stability_report(TOWERS, LOSS, 2, 0.1 * 3, HISTORY)
    assert files.keys() == {"training/training.json", "training/stability.json", "training/stability.md"}
    assert files["training/stability.json"] == report.to_json()
    assert report.theorem_3.step_constant == 0.1 * 3
    assert files["training/stability.md"] == describe_stability(report)
