"""The verdicts on an experiment's claims."""

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.evaluation.significance import Comparison, holm, randomisation_test
from schemas.evaluation import BASELINES_FILE, CHANNELS_FILE
from smooth_clir.experiments.experiment import Experiment
from smooth_clir.experiments.report.claims import CONTRADICTED, HOLDS, OPEN, comparisons, judge, verdict, verdicts
from smooth_clir.experiments.report.significance import query_metrics, system_metric
from smooth_clir.experiments.settings import Claim
from tests.experiments.conftest import LOSSES, tables

pytestmark = pytest.mark.tensors

ExperimentOf = Callable[[str], Experiment]
SOSL, MSE, ORDINAL = ({"loss.kind": name} for name in ("sosl", "mse", "proportional_odds"))


def claim(row: dict[str, Any], *than: dict[str, Any], **content: Any) -> Claim:
    return Claim.model_validate({"says": "a claim", "row": row, "than": [*than], "metrics": ["map"], **content})


def claiming(experiment: Experiment, *claims: Claim) -> Experiment:
    numbered = [claim.model_copy(update={"says": f"claim {number}"}) for number, claim in enumerate(claims)]
    return replace(experiment, claims=tuple(numbered))


def text_of(experiment: Experiment) -> str:
    judged = judge(experiment)
    return "\n\n".join([*verdicts(judged), *comparisons(judged)]).replace("\N{NO-BREAK SPACE}", " ")


def values_of(experiment: Experiment, loss: str) -> Any:
    """A metric of each query, the mean over the row's seeds."""
    cells = [cell for cell in experiment.cells if cell.settings["loss.kind"] == loss and cell.status == "done"]
    return np.mean([query_metrics(cell).values["map"] for cell in cells], axis=0)


VERDICTS = [
    (claim(SOSL, MSE), HOLDS, "1 holds"),
    (claim(MSE, SOSL), CONTRADICTED, "1 is contradicted"),
    (claim(MSE, SOSL, direction="below"), HOLDS, "1 holds"),
    (claim(SOSL, MSE, direction="below"), CONTRADICTED, "1 is contradicted"),
    (claim(MSE, ORDINAL), OPEN, "1 inconclusive"),
    (claim(SOSL, MSE, margin=0.05), HOLDS, "1 holds"),
    (claim(SOSL, MSE, margin=0.9), CONTRADICTED, "1 is contradicted"),
    (claim(SOSL, MSE, metrics=["map", "ndcg_5"]), HOLDS, "2 hold"),
    (claim(MSE, ORDINAL, SOSL), CONTRADICTED, "1 is contradicted, 1 inconclusive"),
    (claim(SOSL, {"loss.kind": "three_part_l2"}, MSE), HOLDS, "2 hold"),
    (claim(SOSL, {"baseline": "random"}), HOLDS, "1 holds"),
    (claim(SOSL, {"baseline": "random"}, direction="below"), CONTRADICTED, "1 is contradicted"),
    (claim(SOSL, {"baseline": "cl_lsi"}), OPEN, "1 inconclusive"),  # it was not evaluated
]


def test_a_claim_has_a_verdict_and_holds_where_all_its_comparisons_do(experiment_of: ExperimentOf) -> None:
    experiment = claiming(experiment_of("losses"), *(stated for stated, *_ in VERDICTS))
    text = text_of(experiment)
    assert [*tables(text)[0].values()] == [expected for _, *expected in VERDICTS]
    assert "| SOSL | CL-LSI | –<br>inconclusive |" in text
    # A row is compared with a baseline query by query.
    baseline = system_metric(experiment.cells[0], "baseline", "random", "map")
    assert baseline is not None
    assert f"| SOSL | random order | {np.mean(values_of(experiment, 'sosl') - baseline):+.3f}<br>holds<br>" in text


def test_differences_and_corrected_p_values_stand_below(experiment_of: ExperimentOf) -> None:
    experiment = experiment_of("losses")
    waiting = [
        cell if cell.settings["training.seed"] == 1 else replace(cell, status="waiting") for cell in experiment.cells
    ]
    experiment = replace(experiment, cells=tuple(waiting))
    text = text_of(claiming(experiment, claim(SOSL, MSE), claim(MSE, ORDINAL, margin=0.01)))
    means = {loss: values_of(experiment, loss) for loss in LOSSES}
    pairs = [(means["sosl"], means["mse"]), (means["mse"], means["proportional_odds"] + 0.01)]
    expected = holm([randomisation_test(*pair, two_sided=True) for pair in pairs])
    rows = re.findall(r"\| (\S+) \| (\S+) \| (\S+)<br>([a-z ]+)<br>p (≤|=) ?([\d.]+) \|", text)
    assert [row[:2] for row in rows] == [("SOSL", "MSE"), ("MSE", "PO\\_S")]
    assert [float(row[2]) for row in rows] == pytest.approx(
        [np.mean(means["sosl"] - means["mse"]), np.mean(means["mse"] - means["proportional_odds"])], abs=5e-4
    )
    assert [float(row[5]) for row in rows] == pytest.approx(expected, abs=5e-5)
    assert rows[0][3:5] == (HOLDS, "≤")
    assert "(number of comparisons: 2)" in text


def test_rows_that_share_no_seed_are_inconclusive(experiment_of: ExperimentOf) -> None:
    cells = [
        replace(cell, status="waiting") if cell.settings["loss.kind"] == "mse" else cell
        for cell in experiment_of("losses").cells
    ]
    text = text_of(claiming(replace(experiment_of("losses"), cells=tuple(cells)), claim(SOSL, MSE)))
    assert [*tables(text)[0].values()] == [[OPEN, "1 inconclusive"]]
    assert "| SOSL | MSE | –<br>inconclusive |" in text


def test_a_baseline_beside_another_row_of_the_same_lists_is_compared_with(
    experiment_of: ExperimentOf, tmp_path: Path
) -> None:
    experiment = claiming(experiment_of("one seed"), claim(SOSL, {"baseline": "lsi"}))
    sosl, softmax = experiment.cells
    beside = replace(softmax, folder=shutil.copytree(softmax.folder, tmp_path / "softmax"))
    path = beside.folder / BASELINES_FILE
    path.write_text(path.read_text().replace("random/", "lsi/"))
    baseline = system_metric(beside, "baseline", "lsi", "map")
    assert baseline is not None
    difference = np.mean(query_metrics(sosl).values["map"] - baseline)
    assert f"| SOSL | LSI | {difference:+.3f}<br>holds<br>" in text_of(replace(experiment, cells=(sosl, beside)))


def test_a_row_is_compared_with_its_own_channels_and_its_first_pass(
    experiment_of: ExperimentOf, tmp_path: Path
) -> None:
    experiment = claiming(experiment_of("one seed"), claim(SOSL, {"channel": "lexicon"}, {"channel": "first_pass"}))
    sosl, softmax = experiment.cells
    copied = replace(sosl, folder=shutil.copytree(sosl.folder, tmp_path / "sosl"))
    random_order = (copied.folder / BASELINES_FILE).read_text()
    (copied.folder / CHANNELS_FILE).write_text(random_order.replace("random/", "lexicon/"))
    difference = np.mean(query_metrics(copied).values["map"] - system_metric(copied, "channel", "lexicon", "map"))
    text = text_of(replace(experiment, cells=(copied, softmax)))
    assert f"| SOSL | its lexicon alone | {difference:+.3f}<br>holds<br>" in text
    assert "| SOSL | its first pass alone | –<br>inconclusive |" in text


def test_rows_may_rank_other_lists_of_the_same_queries(experiment_of: ExperimentOf) -> None:
    few, many = ({"data.used_negatives": number} for number in (20, 40))
    text = text_of(claiming(experiment_of("negatives"), claim(few, many, margin=0.5)))
    assert [*tables(text)[0].values()] == [[CONTRADICTED, "1 is contradicted"]]


def test_without_a_claim_there_is_no_verdict(experiment_of: ExperimentOf) -> None:
    assert text_of(experiment_of("losses")) == ""


@given(st.sampled_from(["above", "below"]), st.floats(0, 1), st.floats(-1, 1), st.floats(0, 1, exclude_min=True))
def test_a_claim_and_its_opposite_never_both_hold(
    direction: str, margin: float, difference: float, p_value: float
) -> None:
    pair = (
        verdict(claim(SOSL, MSE, direction=direction, margin=margin), Comparison(difference, p_value, False)),
        verdict(claim(MSE, SOSL, direction=direction, margin=margin), Comparison(-difference, p_value, False)),
    )
    assert pair != (HOLDS, HOLDS)
    if margin == 0 and difference != 0:
        assert {*pair} in ({HOLDS, CONTRADICTED}, {OPEN})
