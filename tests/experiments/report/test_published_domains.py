"""The published numbers of held-out domains, and what contradicts them."""

from typing import get_args

import pytest

from smooth_clir.experiments.report.markdown import NOTHING
from smooth_clir.experiments.report.published_domains import (
    COLUMNS,
    PUBLISHED_DOMAINS,
    RANKERS,
    published_domain_blocks,
    wrong_changes,
)
from smooth_clir.experiments.settings import ExperimentSettings


def test_every_table_may_be_named() -> None:
    choices, _ = get_args(ExperimentSettings.model_fields["domain_table"].annotation)
    assert get_args(choices) == (*PUBLISHED_DOMAINS,)


@pytest.mark.parametrize("name", PUBLISHED_DOMAINS)
def test_a_line_has_the_columns_of_both_rankers_and_no_rate_above_its_mean_reciprocal_rank(name: str) -> None:
    for line in PUBLISHED_DOMAINS[name]:
        assert len(line.entries) == len(RANKERS) * len(COLUMNS)
        values = [float(one.split(" ")[0].rstrip("†")) for one in line.entries if one != NOTHING]
        assert all(first < reciprocal < 1 for first, reciprocal in zip(values[::2], values[1::2], strict=True))


def test_the_changes_that_contradict_their_values_are_named() -> None:
    wrong = [
        (change.domains, change.column, change.printed, round(change.change, 1), change.may_be_rounding)
        for change in wrong_changes()
    ]
    assert wrong == [
        ("All → All", "CosSim, Adv P@1", "3", -0.4, False),
        ("All* → Sports", "CosSim, Adv MRR", "+12", 14.1, False),
        ("All* → Politics", "CosSim, Adv P@1", "+16", 15.5, True),  # .35804 of .30996 is +15.51 %
        ("All* → Politics", "Duet-Dist., Adv MRR", "+3", 1.0, False),
    ]
    assert sum("%" in entry for line in PUBLISHED_DOMAINS["1"] for entry in line.entries) == 20


@pytest.mark.parametrize("name", PUBLISHED_DOMAINS)
def test_a_note_says_what_contradicts_itself(name: str) -> None:
    text = "\n".join(published_domain_blocks(name))
    assert "0.4567 and 0.5011, are those for All\\* → Sports in Table 1" in text
    assert ("| All\\* → Sports | CosSim, Adv MRR | +12 % | +14.1 % | contradicts them |" in text) == (name == "1")
    assert ("The caption of Table 1 speaks of collections" in text) == (name == "1")
    # The MRRs of Sports stand again under WebAP.
    (sports,) = (line for line in PUBLISHED_DOMAINS["1"] if line.domains == "All* → Sports")
    (webap,) = (line for line in PUBLISHED_DOMAINS["2"] if line.domains.endswith("WebAP"))
    assert [webap.entries[5], webap.entries[7].rstrip("†")] == [sports.entries[5], sports.entries[7].split(" ")[0]]
