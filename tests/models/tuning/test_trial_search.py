"""The search for epsilon and theta: which trials it makes, and how it ends."""

import logging

import keras_tuner
import pytest
from tensorflow import keras

from models.losses.sosl import SmoothOrdinalSearchLoss
from models.objectives.objective import RankingObjective
from models.rankers.ranker import Ranker
from models.rankers.scorer import Words
from models.rankers.settings import TwoTowersSettings
from models.rankers.two_towers import TwoTowers
from models.training.devices import make_strategy
from models.training.list_evaluator import ListEvaluator
from models.training.settings import TrainingSettings
from models.training.train import train
from models.tuning.results import SearchResults, Trial
from models.tuning.settings import Space, TuningSettings
from models.tuning.trial_search import TrialSearch
from schemas.errors import DataError
from schemas.relevance import MOST_RELEVANT
from tests.models.eagerly import EAGERLY
from tests.models.synthetic import VOCABULARY_SIZE, learnable_lists

pytestmark = [pytest.mark.stages, *EAGERLY]

SPACES = {
    "epsilon": {"min": 0.1, "max": 10, "log": True},
    "theta": [{"min": 0.0, "max": 0.4}, {"min": 0.5, "max": 0.9}],
}
BAYESIAN = {"search": "bayesian", "trials": 5, "epsilon": {"min": 0.1, "max": 10, "log": True}}
"""Three trials at random, two by what came of them."""
GRID = {"search": "grid", "epsilon": [0.5, 2], "theta": [[0.1, 0.3], [0.7]]}


def hill(numbers, folder=None):
    """A metric that is best at epsilon 1 and theta 0.2, 0.7."""
    theta = abs(numbers.get("theta_1", 0.2) - 0.2) + abs(numbers.get("theta_2", 0.7) - 0.7)
    return 1 / (1 + abs(numbers["epsilon"] - 1) + theta)


def make(folder, train_trial=hill, seed=1, **values):
    """A search; its folder and KerasTuner's are both under the given one."""
    training = TrainingSettings(seed=seed, epochs=None)
    return TrialSearch(TuningSettings(**values), training, 30, train_trial, str(folder / "kept"), str(folder / "kt"))


def trials(*arguments, **values):
    """The trials of a whole search."""
    search = make(*arguments, **values)
    search.search()
    return search.trials


def test_a_grid_visits_every_combination_once_up_to_its_trials_and_prints_nothing(tmp_path, capsys):
    made = trials(tmp_path, **GRID)
    tried = [(epsilon, theta) for epsilon in (0.5, 2) for theta in (0.1, 0.3)]
    assert made == [
        Trial(
            number=number,
            settings={"channels.towers.epsilon": epsilon, "loss.theta": [theta, 0.7]},
            value=hill({"epsilon": epsilon, "theta_1": theta}),
            reason=None,
        )
        for number, (epsilon, theta) in enumerate(tried, 1)
    ]
    assert trials(tmp_path / "fewer", **GRID, trials=3) == made[:3]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("values", [{"search": "random", "trials": 5, **SPACES}, BAYESIAN])
def test_a_seed_gives_the_same_trials_and_another_seed_others(tmp_path, values):
    first, again, reseeded = (
        trials(tmp_path / name, seed=seed, **values) for name, seed in (("first", 0), ("again", 0), ("other", 1))
    )
    assert len(first) == 5
    assert again == first != reseeded


def test_what_is_drawn_lies_in_its_space_and_a_search_ends_when_there_is_nothing_new(tmp_path):
    for trial in trials(tmp_path, search="random", trials=30, **SPACES):
        low, high = trial.settings["loss.theta"]
        assert 0.1 <= trial.settings["channels.towers.epsilon"] <= 10
        assert 0 <= low <= 0.4 and 0.5 <= high <= 0.9
    assert len(trials(tmp_path / "few", search="random", trials=50, epsilon=[0.5, 1, 2])) == 3


def test_a_bayesian_search_trains_no_numbers_twice(tmp_path):
    trained = []

    def count(numbers, folder):
        trained.append(numbers["epsilon"])
        return hill(numbers)

    made = trials(tmp_path, count, search="bayesian", trials=3, epsilon=[0.5, 1, 2])
    assert sorted(trained) == sorted({trial.settings["channels.towers.epsilon"] for trial in made})


def test_the_best_numbers_are_kerastuner_s(tmp_path):
    search = make(tmp_path, search="grid", epsilon=[0.5, 1, 2])
    search.search()
    assert search.get_best_hyperparameters()[0].values == {"epsilon": 1.0}
    space = Space(values=(0.5, 1.0, 2.0))
    assert search.results() == SearchResults(
        metric="ndcg_5", search="grid", trials=tuple(search.trials), epochs=30, epsilon=space, theta=None
    )
    assert search.results().best.settings == {"channels.towers.epsilon": 1.0}


def fail(epsilons):
    """A training whose scores are no numbers for some epsilons."""

    def train_trial(numbers, folder):
        if numbers["epsilon"] in epsilons:
            raise DataError("a score is NaN")
        return hill(numbers)

    return train_trial


def test_a_trial_that_fails_is_recorded_and_the_others_are_made(tmp_path, caplog):
    with caplog.at_level(logging.INFO, "clir"):
        made = trials(tmp_path, fail({1, 2, 3, 4}), search="grid", epsilon=[1, 2, 3, 4, 5])
    assert made[3] == Trial(number=4, settings={"channels.towers.epsilon": 4.0}, value=None, reason="a score is NaN")
    assert [trial.value for trial in made] == [None] * 4 + [hill({"epsilon": 5})]
    assert caplog.messages == [
        *(f"trial {number}/5: epsilon {number}: failed: a score is NaN" for number in (1, 2, 3, 4)),
        "trial 5/5: epsilon 5: eval ndcg_5 0.2000, best 0.2000",
    ]
    with pytest.raises(DataError, match=r"2 .*a score is NaN"):
        trials(tmp_path / "all", fail({1, 2}), search="grid", epsilon=[1, 2])


def test_a_fault_of_ours_ends_the_search(tmp_path):
    def broken(numbers, folder):
        raise TypeError("a bug")

    with pytest.raises(keras_tuner.errors.FatalError, match="a bug") as raised:
        trials(tmp_path, broken, **GRID)
    assert isinstance(raised.value.__cause__, TypeError)


class Killed(BaseException):
    """A signal from outside."""


@pytest.mark.parametrize("values", [GRID, {"search": "random", "trials": 4, **SPACES}, BAYESIAN])
def test_a_killed_search_goes_on_where_it_was_and_ends_as_if_nothing_had_been(tmp_path, values, caplog):
    undisturbed = trials(tmp_path / "undisturbed", **values)
    killed_at, trained = len(undisturbed) - 1, []

    def train_until_killed(numbers, folder):
        if len(trained) == killed_at - 1:
            raise Killed
        trained.append(numbers)
        return hill(numbers)

    with pytest.raises(Killed):
        trials(tmp_path, train_until_killed, **values)
    trained = []
    caplog.clear()

    def count(numbers, folder):
        trained.append(numbers)
        return hill(numbers)

    with caplog.at_level(logging.INFO, "clir"):
        assert trials(tmp_path, count, **values) == undisturbed
    assert len(trained) == 2
    assert caplog.messages[0] == f"resuming after trial {killed_at - 1} of an earlier run"


def test_trials_are_trainings_whose_epochs_are_logged_with_the_trial(tmp_path, caplog):
    train_lists, eval_lists = learnable_lists(30, seed=1), learnable_lists(20, seed=2)
    settings = TrainingSettings(epochs=1, batch_lists=8, learning_rate=0.3, device="cpu").for_towers(
        TwoTowersSettings()
    )
    strategy = make_strategy(settings)

    def train_trial(numbers, folder):
        with strategy.scope():
            model = TwoTowersSettings(embedding_dim=8, epsilon=numbers["epsilon"])
            words = Words(VOCABULARY_SIZE)
            ranker = Ranker({"smooth_cosine": TwoTowers(words, words, model, seed=settings.seed)})
            loss = SmoothOrdinalSearchLoss(reduction=keras.losses.Reduction.NONE)
            objective = RankingObjective(ranker, loss)
        evaluator = ListEvaluator(ranker, eval_lists, MOST_RELEVANT)
        folders = [f"{folder}/log", f"{folder}/checkpoint"]
        return train(objective, train_lists, evaluator, settings, *folders).best_value

    with caplog.at_level(logging.INFO, "clir"):
        (trial,) = trials(tmp_path, train_trial, search="grid", epsilon=[0.5])
    assert trial.value > 0
    assert any(message.startswith("trial 1/1, epoch 1/1, loss ") for message in caplog.messages)
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["trials.json"]
