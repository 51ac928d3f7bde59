"""The page of performance shows the costs that estimates are made of."""

from tools.costs import PAGE, with_costs


def test_the_costs_are_those_of_the_estimates():
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_costs(page), "run python -m tools.costs"
    costs = page.split("<!-- costs -->\n")[1].split("<!-- /costs -->")[0].splitlines()[2:]
    assert len(costs) >= 9
