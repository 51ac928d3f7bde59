"""The report of few pairs: a column for each number of pairs, and a line for each system in the picture."""

import pytest

from tools.learning_curve import PICTURE, picture, report_text

pytestmark = pytest.mark.stages

FIGURES = {
    "best": {
        10: [{"ndcg_5": 0.4, "p_mr_1": 0.25}, {"ndcg_5": 0.5, "p_mr_1": 0.25}],
        1000: [{"ndcg_5": 0.8, "p_mr_1": 0.75}],
    },
    "lexicon alone": {10: [{"ndcg_5": 0.3, "p_mr_1": 0.125}], 1000: [{"ndcg_5": 0.7, "p_mr_1": 0.5}]},
}


def test_the_tables_show_the_mean_over_the_seeds_and_half_the_range() -> None:
    lines = report_text("Few pairs of xy", FIGURES, "Means over 2 seeds.").splitlines()
    assert "| NDCG@5 | 10 | 1,000 |" in lines
    assert "| best | .450 ± .050 | .800 ± .000 |" in lines
    assert "| lexicon alone | .125 ± .000 | .500 ± .000 |" in lines
    assert f"({PICTURE})" in "\n".join(lines)


def test_the_picture_names_every_system() -> None:
    svg = picture("Few pairs of xy", FIGURES)
    assert svg.startswith("<svg") and all(system in svg for system in FIGURES)
