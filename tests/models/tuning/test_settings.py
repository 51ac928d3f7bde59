"""The spaces of a search: what they hold. Their rules are in `tests/bad_input`."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from models.losses.settings import SoslSettings
from models.tuning.settings import Space, TuningSettings, describe_settings, searched_settings

RANGE = {"min": 0.1, "max": 0.4}


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
    assert all(lower < higher for lower, higher in pairwise(listed))


@pytest.mark.parametrize(
    "space",
    [
        {"min": 0, "max": 1, "step": 5e-324},
        {"min": -1e308, "max": 1e308, "step": 1},
        {"min": 1e-308, "max": 1e308, "step": 1.1, "log": True},
    ],
)
def test_a_range_of_any_number_of_values_is_refused_without_listing_them(space):
    with pytest.raises(ValidationError, match="1000 values"):
        Space.model_validate(space)


def test_what_is_written_to_a_resolved_configuration_reads_back_to_the_same():
    tuning = TuningSettings(
        search="random", trials=3, epsilon=[0.5, 1], theta=[RANGE, {**RANGE, "min": 0.5, "max": 1 - 1e-9}]
    )
    dumped = tuning.model_dump(mode="json")
    assert dumped["epsilon"] == [0.5, 1.0]
    assert TuningSettings(**dumped) == tuning


@given(st.lists(st.lists(st.floats(-1, 1), min_size=1, max_size=3), min_size=1, max_size=4), st.data())
def test_whatever_is_drawn_from_accepted_spaces_the_thresholds_increase(spaces, data):
    try:
        tuning = TuningSettings(theta=[sorted(space) for space in spaces])
    except ValidationError:
        return
    drawn = [data.draw(st.floats(*space.bounds)) for space in tuning.spaces.values()]
    assert SoslSettings(theta=drawn).theta == tuple(drawn)  # which refuses any others


@pytest.mark.parametrize(
    ("settings", "trials"),
    [
        ({"search": "grid", "epsilon": [1, 2], "theta": [[0.1, 0.2, 0.3], [0.7]]}, 6),
        ({"search": "grid", "epsilon": [1, 2], "trials": 5}, 2),
        ({"search": "random", "epsilon": RANGE, "trials": 5}, 5),
        ({"search": "random", "epsilon": RANGE, "theta": [[0.1]], "trials": 5}, 5),
    ],
)
def test_there_are_no_more_trials_than_combinations(settings, trials):
    assert TuningSettings(**settings).max_trials == trials


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, ""),
        ({"epsilon": [0.5], "theta": [[0.25], [0.75]]}, "epsilon 0.5, theta 0.25 0.75"),
        ({"epsilon": [0.5]}, "epsilon 0.5"),
        ({"theta": [[0.25]]}, "theta 0.25"),
    ],
)
def test_a_trial_is_described_in_words(settings, words):
    spaces = TuningSettings(**settings).spaces
    assert describe_settings(searched_settings({name: space.values[0] for name, space in spaces.items()})) == words
