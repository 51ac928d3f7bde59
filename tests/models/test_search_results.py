"""What a search came to: which trial is the best, and how it is written."""

import json

from models.search_results import SearchResults, Trial
from models.tuning_settings import Space

WRITTEN = """{
  "metric": "ndcg_5",
  "search": "random",
  "trials": [
    {
      "number": 1,
      "settings": {
        "model.epsilon": 0.25,
        "loss.theta": [
          0.1,
          0.7
        ]
      },
      "value": 0.5,
      "reason": null
    },
    {
      "number": 2,
      "settings": {
        "model.epsilon": 2.0,
        "loss.theta": [
          0.2,
          0.7
        ]
      },
      "value": null,
      "reason": "a score is NaN"
    }
  ],
  "epochs": 3,
  "epsilon": {
    "min": 0.1,
    "max": 10.0,
    "step": null,
    "log": true
  },
  "theta": [
    [
      0.1,
      0.2
    ],
    [
      0.7
    ]
  ]
}"""


def results(*values: float | None) -> SearchResults:
    """A search whose trials reached these values; those without one failed."""
    trials = (
        Trial(number, {"model.epsilon": float(number)}, value, "it failed" if value is None else None)
        for number, value in enumerate(values, 1)
    )
    return SearchResults("ndcg_5", "grid", 1, Space(values=(1.0, 2.0)), None, tuple(trials))


def test_the_best_is_first_and_what_failed_last_and_of_equal_ones_the_first_before_the_others() -> None:
    assert [trial.number for trial in results(0.5, None, 0.0, 0.6, 0.6, None).best_first()] == [4, 5, 1, 3, 2, 6]
    assert results(0.5, None, 0.6, 0.6).describe_best() == "best of 4 trials: epsilon 3 (eval ndcg_5 0.6000)"


def test_the_written_form_keeps_its_keys_and_their_order_and_reads_back_the_same() -> None:
    read = SearchResults.from_dict(json.loads(WRITTEN))
    assert json.dumps(read.as_dict(), indent=2) == WRITTEN
    assert read.epsilon == Space(min=0.1, max=10, log=True)
    assert read.theta == (Space(values=(0.1, 0.2)), Space(values=(0.7,)))
    assert read.best == Trial(1, {"model.epsilon": 0.25, "loss.theta": [0.1, 0.7]}, 0.5, None)


def test_what_was_not_searched_is_null() -> None:
    written = results(0.5).as_dict()
    assert (written["epsilon"], written["theta"]) == ([1.0, 2.0], None)
    assert SearchResults.from_dict(written) == results(0.5)
