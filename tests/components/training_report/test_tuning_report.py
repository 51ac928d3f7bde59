"""The report of a search."""

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from components.training_report.tuning_report import paint_trials, to_markdown, tuning_report, with_best_trial
from models.losses.settings import SoftmaxSettings, SoslSettings
from models.rankers.settings import TwoTowersSettings
from models.tuning.results import SearchResults
from models.tuning.settings import Space
from tests.components.training_report.history import search

TRIALS = [
    *[
        ({"channels.towers.epsilon": 0.01, "loss.theta": [0.1, 0.7]}, 0.5),
        ({"channels.towers.epsilon": 0.01, "loss.theta": [0.2, 0.7]}, None),
    ],
    *[
        ({"channels.towers.epsilon": 1.0, "loss.theta": [0.1, 0.7]}, 0.6),
        ({"channels.towers.epsilon": 1.0, "loss.theta": [0.2, 0.7]}, 0.6),
    ],
]
SPACES = {
    "epsilon": Space(min=0.01, max=1.0, step=100.0, log=True),
    "theta": (Space(values=(0.1, 0.2)), Space(values=(0.7,))),
    "reason": "a score | is\nNaN",
}


def panels_of(results: SearchResults) -> list[Axes]:
    figure = Figure()
    paint_trials(results, figure)
    return figure.axes


@pytest.fixture
def results() -> SearchResults:
    """Those of a grid of which one trial failed."""
    return search(*TRIALS, **SPACES)


def test_the_table_has_the_best_first_and_the_failed_last(results: SearchResults) -> None:
    assert to_markdown(results).splitlines()[-6:] == [
        "| trial | channels.towers.epsilon | loss.theta | eval ndcg_5 |",
        "|---:|---:|---:|---:|",
        "| 3 | 1 | 0.1 0.7 | 0.6000 |",
        "| 4 | 1 | 0.2 0.7 | 0.6000 |",
        "| 1 | 0.01 | 0.1 0.7 | 0.5000 |",
        r"| 2 | 0.01 | 0.2 0.7 | failed: a score \| is NaN |",
    ]


def test_the_best_stands_there_as_arguments_that_give_it_exactly() -> None:
    best = {"channels.towers.epsilon": 1 / 3, "loss.theta": [0.1, 0.7]}
    expected = f"--set tuning.search=null --set channels.towers.epsilon={1 / 3!r} --set 'loss.theta=[0.1, 0.7]'"
    assert expected in to_markdown(search(*TRIALS, (best, 0.9), **SPACES))


def test_the_picture_has_a_panel_for_each_number_with_every_trial_that_succeeded(results: SearchResults) -> None:
    panels = panels_of(results)
    assert [panel.get_xlabel() for panel in panels] == ["channels.towers.epsilon", "loss.theta 1", "loss.theta 2"]
    assert [panel.get_xscale() for panel in panels] == ["log", "linear", "linear"]
    for panel, numbers in zip(panels, [(1, 1, 0.01), (0.1, 0.2, 0.1), (0.7, 0.7, 0.7)], strict=True):
        every, best = (collection.get_offsets().tolist() for collection in panel.collections)
        assert every == [[number, value] for number, value in zip(numbers, (0.6, 0.6, 0.5), strict=True)]
        assert best == every[:1]
    (line,) = panels[0].lines
    assert line.get_xydata().tolist() == [[0.01, 0.5], [1, 0.6]]


def test_no_line_joins_numbers_that_were_drawn_from_a_range(results: SearchResults) -> None:
    drawn = results.model_copy(update={"epsilon": Space(min=0.01, max=1.0, log=True)})
    assert not panels_of(drawn)[0].lines


def test_the_texts_are_the_trials_the_table_and_the_drawing(results: SearchResults) -> None:
    texts = tuning_report(results)
    assert texts.keys() == {"tuning/results.json", "tuning/results.md", "tuning/results.svg"}
    assert SearchResults.from_json(texts["tuning/results.json"]) == results
    assert texts["tuning/results.md"] == to_markdown(results)
    assert all(label in texts["tuning/results.svg"] for label in ("channels.towers.epsilon", "eval ndcg_5", "0.50"))


TOWERS, LOSS = TwoTowersSettings(), SoslSettings(theta=(0.2, 0.7))


@pytest.mark.parametrize(
    ("trials", "epsilon", "theta"),
    [
        ([({"channels.towers.epsilon": 0.25}, 0.5)], 0.25, LOSS.theta),
        ([({"channels.towers.epsilon": 0.25, "loss.theta": [0.1, 0.6]}, 0.5)], 0.25, (0.1, 0.6)),
        ([({"loss.theta": [0.1, 0.2]}, 0.4), ({"loss.theta": [0.1, 0.6]}, 0.5)], TOWERS.epsilon, (0.1, 0.6)),
        ([({"channels.towers.epsilon": 1.0}, None), ({"channels.towers.epsilon": 2.0}, 0.1)], 2.0, LOSS.theta),
    ],
)
def test_the_best_trial_s_values_stand_for_those_of_the_settings(trials, epsilon, theta):
    towers, loss = with_best_trial(search(*trials), TOWERS, LOSS)
    assert towers == TOWERS.model_copy(update={"epsilon": epsilon})
    assert loss == LOSS.model_copy(update={"theta": theta}) and isinstance(loss.theta, tuple)


def test_a_loss_without_thresholds_keeps_none():
    loss = SoftmaxSettings()
    assert with_best_trial(search(({"channels.towers.epsilon": 0.25}, 0.5)), TOWERS, loss)[1] == loss
