"""The results of a search: the best trial, and the written form."""

import json

from models.tuning.results import SearchResults, Trial
from models.tuning.settings import Space

WRITTEN = {
    "metric": "ndcg_5",
    "search": "random",
    "trials": [
        {
            "number": 1,
            "settings": {"channels.towers.epsilon": 0.25, "loss.theta": [0.1, 0.7]},
            "value": 0.5,
            "reason": None,
        },
        {"number": 2, "settings": {"channels.towers.epsilon": 2.0}, "value": None, "reason": "a score is NaN"},
    ],
    "epochs": 3,
    "epsilon": {"min": 0.1, "max": 10.0, "step": None, "log": True},
    "theta": [[0.1, 0.2], [0.7]],
}


def results(*values: float | None) -> SearchResults:
    """A search whose trials reached these values; those without one failed."""
    trials = (
        Trial(number=number, settings={"channels.towers.epsilon": float(number)}, value=value, reason=None)
        for number, value in enumerate(values, 1)
    )
    return SearchResults(
        metric="ndcg_5", search="grid", trials=tuple(trials), epochs=1, epsilon=Space(values=(1.0, 2.0)), theta=None
    )


def test_the_best_is_first_and_what_failed_last_and_of_equal_ones_the_first_before_the_others() -> None:
    assert [trial.number for trial in results(0.5, None, 0.0, 0.6, 0.6, None).best_first()] == [4, 5, 1, 3, 2, 6]
    assert results(0.5, None, 0.6, 0.6).describe_best() == "best of 4 trials: epsilon 3 (eval ndcg_5 0.6000)"


def test_the_written_form_keeps_its_keys_and_their_order_and_reads_back_the_same() -> None:
    text = json.dumps(WRITTEN, indent=2) + "\n"
    read = SearchResults.from_json(text)
    assert read.to_json() == text
    assert read.epsilon == Space(min=0.1, max=10, log=True)
    assert read.theta == (Space(values=(0.1, 0.2)), Space(values=(0.7,)))
    assert read.best.settings == {"channels.towers.epsilon": 0.25, "loss.theta": [0.1, 0.7]}
