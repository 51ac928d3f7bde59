"""The spaces of a search: what they hold, and what they refuse in which words."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from models.settings import LossSettings, ModelSettings
from models.tuning.settings import Space, TuningSettings, describe_settings, searched_settings

RANGE = {"min": 0.1, "max": 0.4}
EPSILON = "must be 0, or lie in 1e-06 .. 1e+06, so that float32 can add it to norms of 1"


def refused(**values):
    """The places and messages of the faults."""
    with pytest.raises(ValidationError) as raised:
        TuningSettings(**values)
    return {
        ".".join(map(str, fault["loc"])): fault["msg"].removeprefix("Value error, ") for fault in raised.value.errors()
    }


def test_without_a_search_nothing_needs_to_be_declared():
    assert TuningSettings().spaces == {}


def test_spaces_may_stay_declared_while_the_search_is_off():
    assert TuningSettings(epsilon=RANGE).search is None


@pytest.mark.parametrize(
    ("space", "listed"),
    [
        ([1], (1.0,)),
        ([0, 0.5], (0.0, 0.5)),
        ({**RANGE, "step": 0.1}, (0.1, 0.2, 0.3, 0.4)),
        ({**RANGE, "step": 0.2}, (0.1, 0.3)),
        ({**RANGE, "step": 1}, (0.1,)),
        ({"min": 0.01, "max": 10, "step": 10, "log": True}, (0.01, 0.1, 1.0, 10.0)),
        (RANGE, None),
    ],
)
def test_a_space_lists_its_values(space, listed):
    assert Space.model_validate(space).listed == listed


@given(st.floats(0.001, 1), st.floats(1.001, 100), st.floats(0.2, 10), st.booleans())
def test_a_listed_range_increases_within_its_bounds(low, high, step, log):
    listed = Space(min=low, max=high, step=step + log, log=log).listed
    assert listed[0] == pytest.approx(low) and listed[-1] <= high
    assert all(one < next_one for one, next_one in pairwise(listed))


def test_what_is_written_to_a_resolved_configuration_reads_back_to_the_same():
    tuning = TuningSettings(
        search="random", trials=3, epsilon=[0.5, 1], theta=[RANGE, {**RANGE, "min": 0.5, "max": 1 - 1e-9}]
    )
    dumped = tuning.model_dump(mode="json")
    assert dumped["epsilon"] == [0.5, 1.0]
    assert TuningSettings(**dumped) == tuning


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (0.5, "must be a list of values, or min and max; got 0.5"),
        ([], "must hold values that increase strictly; got []"),
        ([1, 0.5], "must hold values that increase strictly; got [1.0, 0.5]"),
        ([1, 1], "must hold values that increase strictly; got [1.0, 1.0]"),
        ({}, "must be a list of values, or min below max; got min None and max None"),
        ({"min": 2, "max": 1}, "must be a list of values, or min below max; got min 2.0 and max 1.0"),
        ({"min": 0, "max": 1, "log": True}, "log needs min > 0 and step > 1; got min 0.0 and step None"),
        ({"min": 1, "max": 9, "log": True, "step": 1}, "log needs min > 0 and step > 1; got min 1.0 and step 1.0"),
        ({"min": 0, "max": 1, "step": 1e-9}, "step must be so large that there are at most 1000 values; got 1e-09"),
        ({"min": 0, "max": 1, "step": 5e-324}, "step must be so large that there are at most 1000 values; got 5e-324"),
        ({"min": -1e308, "max": 1e308, "step": 1}, "step must be so large that there are at most 1000 values; got 1.0"),
        (
            {"min": 1e-308, "max": 1e308, "step": 1.1, "log": True},
            "step must be so large that there are at most 1000 values; got 1.1",
        ),
        ({"values": [1], "min": 0}, "must be a list of values, or min and max; got both"),
        ({**RANGE, "stp": 1}, "has no key 'stp'; known: values, min, max, step, log; did you mean step?"),
    ],
)
def test_what_is_no_space_is_refused(space, message):
    assert refused(epsilon=space) == {"epsilon": message}


def test_a_value_that_is_no_number_is_refused_at_its_place():
    assert list(refused(theta=[[0.1, "x"]])) == ["theta.0.values.1"]


@pytest.mark.parametrize(
    ("values", "place", "message"),
    [
        ({"search": "grid"}, "", "must hold epsilon or theta, the values that a grid search tries; got neither"),
        ({"search": "random", "epsilon": RANGE}, "trials", "must be given for a random search; got null"),
        ({"search": "bayesian", "epsilon": RANGE}, "trials", "must be given for a bayesian search; got null"),
        ({"search": "grid", "epsilon": RANGE}, "epsilon", "must have step for a grid; got min 0.1 and max 0.4 alone"),
        ({"search": "grid", "theta": [RANGE]}, "theta", "must have step for a grid; got min 0.1 and max 0.4 alone"),
        ({"epsilon": [-0.1, 1]}, "epsilon", f"{EPSILON}; got -0.1"),
        ({"epsilon": [0, 1e-300, 1]}, "epsilon", f"{EPSILON}; got 1e-300"),
        ({"epsilon": [1, 1e7]}, "epsilon", f"{EPSILON}; got 10000000.0"),
        ({"epsilon": {"min": 1e-300, "max": 1, "log": True}}, "epsilon", f"{EPSILON}; got 1e-300"),
        ({"epsilon": {"min": 0, "max": 1e-4, "step": 5e-7}}, "epsilon", f"{EPSILON}; got 5e-07"),
    ],
)  # fmt: skip
def test_a_search_that_cannot_be_made_is_refused(values, place, message):
    assert refused(**values) == {place: message}


@pytest.mark.parametrize(
    "theta", [[[0.2, 0.5], [0.4, 0.7]], [[0.5], [0.5]], [[0.7], [0.2]], [[-1, 0]], [[0.2], [0.7, 1]], [RANGE, RANGE]]
)
def test_spaces_of_thresholds_that_overlap_or_leave_the_open_interval_are_refused(theta):
    assert (
        "must hold spaces that follow one another within (-1, 1), so that thresholds increase"
        in refused(theta=theta)["theta"]
    )


def test_faults_are_reported_together():
    faults = refused(search="random", epochs=0, epsilon=[-1], theta=[[0.7], [0.2]])
    assert set(faults) == {"trials", "epochs", "epsilon", "theta"}


@given(st.lists(st.lists(st.floats(-1, 1), min_size=1, max_size=3), min_size=1, max_size=4), st.data())
def test_whatever_is_drawn_from_accepted_spaces_the_thresholds_increase(spaces, data):
    try:
        tuning = TuningSettings(theta=[sorted(space) for space in spaces])
    except ValidationError:
        return
    drawn = [data.draw(st.floats(*space.bounds)) for space in tuning.spaces.values()]
    assert LossSettings(name="sosl", theta=drawn).theta == tuple(drawn)  # which refuses any others


@pytest.mark.parametrize(
    ("values", "most"),
    [
        ({"search": "grid", "epsilon": [1, 2], "theta": [[0.1, 0.2, 0.3], [0.7]]}, 6),
        ({"search": "grid", "epsilon": [1, 2], "trials": 5}, 2),
        ({"search": "random", "epsilon": RANGE, "trials": 5}, 5),
        ({"search": "random", "epsilon": RANGE, "theta": [[0.1]], "trials": 5}, 5),
    ],
)
def test_there_are_no_more_trials_than_combinations(values, most):
    assert TuningSettings(**values).most_trials == most


def test_thresholds_must_be_those_of_the_loss():
    tuning = TuningSettings(theta=[[0.1], [0.2], [0.3]])
    assert tuning.fault_for(ModelSettings(), LossSettings(name="three_part_l2")) is None
    assert TuningSettings().fault_for(ModelSettings(), LossSettings(name="softmax")) is None
    assert tuning.fault_for(ModelSettings(), LossSettings(name="softmax")) == (
        "theta must be null for softmax, which has no thresholds; got 3 spaces"
    )
    assert tuning.fault_for(ModelSettings(), LossSettings()) == (
        "theta must hold a space for each threshold of loss.theta, [0.2, 0.7]; got 3"
    )


@pytest.mark.parametrize("settings", [{"similarity": "cosine"}, {"similarity": "dot"}, {"scorer": "cossim"}])
def test_epsilon_is_searched_for_the_smooth_cosine_alone(settings):
    tuning, model = TuningSettings(epsilon=[0.5, 1.0]), ModelSettings(**settings)
    assert tuning.fault_for(ModelSettings(), LossSettings()) is None
    assert tuning.fault_for(model, LossSettings()) == (
        f"epsilon must be null where model.similarity is not smooth_cosine; got a space for {model.channel}"
    )


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"epsilon": [0.5], "theta": [[0.25], [0.75]]}, "epsilon 0.5, theta 0.25 0.75"),
        ({"epsilon": [0.5]}, "epsilon 0.5"),
        ({"theta": [[0.25]]}, "theta 0.25"),
    ],
)
def test_a_trial_is_described_in_words(values, said):
    spaces = TuningSettings(**values).spaces
    assert describe_settings(searched_settings({name: space.values[0] for name, space in spaces.items()})) == said
