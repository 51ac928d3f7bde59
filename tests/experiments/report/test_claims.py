"""The verdicts on an experiment's claims."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.experiment import read_experiment
from experiments.report.claims import CONTRADICTED, HOLDS, OPEN, comparisons, judge, verdict, verdicts
from experiments.report.significance import Comparison, baseline_metric, query_metrics
from experiments.report.write_report import report_text
from experiments.settings import Claim
from models.evaluation.significance import holm, randomisation_test
from schemas.errors import DataError
from schemas.evaluation import BASELINES_FILE
from tests.experiments.conftest import SEEDS, tables
from tests.experiments.experiment_folder import LOSSES, write_experiment

pytestmark = pytest.mark.tensors

SOSL, MSE, ORDINAL = ({"loss.name": name} for name in ("sosl", "mse", "proportional_odds"))


def claim(row: dict[str, Any], *than: dict[str, Any], **content: Any) -> dict[str, Any]:
    says = f"a claim of {len(than)} and {len(content)}"
    return {"says": says, "row": row, "than": [*than], "metrics": ["map"], **content}


def verdicts_of(folder: Path, *stated: dict[str, Any], grid: dict[str, list[Any]] | None = None, **content: Any) -> str:
    write_experiment(folder, grid or {"loss.name": LOSSES, "training.seed": SEEDS}, claims=[*stated], **content)
    judged = judge(read_experiment(folder))
    return "\n\n".join([*verdicts(judged), *comparisons(judged)])


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        (claim(SOSL, MSE), HOLDS),
        (claim(MSE, SOSL), CONTRADICTED),
        (claim(MSE, SOSL, direction="below"), HOLDS),
        (claim(SOSL, MSE, direction="below"), CONTRADICTED),
        (claim(MSE, ORDINAL), OPEN),
        (claim(SOSL, MSE, margin=0.05), HOLDS),
        (claim(SOSL, MSE, margin=0.9), CONTRADICTED),
        (claim(SOSL, MSE, metrics=["map", "ndcg_5"]), HOLDS),
        (claim(MSE, SOSL, ORDINAL), CONTRADICTED),
        (claim(SOSL, {"loss.name": "three_part_l2"}, MSE), HOLDS),
    ],
)
@pytest.mark.stages
def test_a_claim_has_a_verdict(tmp_path: Path, stated: dict[str, Any], expected: str) -> None:
    verdicts, *_ = tables(verdicts_of(tmp_path, stated))
    assert [found for found, _ in verdicts.values()] == [expected]


def test_a_claim_of_several_comparisons_holds_where_all_of_them_do(tmp_path: Path) -> None:
    verdicts, *_ = tables(verdicts_of(tmp_path, claim(SOSL, MSE), claim(MSE, ORDINAL, SOSL)))
    assert list(verdicts.values()) == [
        [HOLDS, "1 holds"],
        [CONTRADICTED, "1 is contradicted, 1 inconclusive"],
    ]


def test_differences_and_corrected_p_values_stand_below(tmp_path: Path) -> None:
    text = verdicts_of(tmp_path, claim(SOSL, MSE), claim(MSE, ORDINAL, margin=0.01))
    cells = {cell.name: query_metrics(cell).values["map"] for cell in read_experiment(tmp_path).cells}
    means = {
        name: np.mean([values for cell, values in cells.items() if f"-{name}-" in cell], axis=0) for name in LOSSES
    }
    pairs = [(means["sosl"], means["mse"]), (means["mse"], means["proportional_odds"] + 0.01)]
    expected = holm([randomisation_test(*pair, two_sided=True) for pair in pairs])
    rows = [
        re.fullmatch(r"\| (\S+) \| (\S+) \| (\S+)<br>([a-z ]+)<br>p (≤|=) ?([\d.]+) \|", line)
        for line in text.replace("\u00a0", " ").splitlines()
    ]
    found = [row.groups() for row in rows if row]
    assert [row[:2] for row in found] == [("SOSL", "MSE"), ("MSE", "PO\\_S")]
    assert [float(row[2]) for row in found] == pytest.approx(
        [np.mean(means["sosl"] - means["mse"]), np.mean(means["mse"] - means["proportional_odds"])], abs=5e-4
    )
    assert [float(row[5]) for row in found] == pytest.approx(expected, abs=5e-5)
    assert found[0][3:5] == (HOLDS, "≤")
    assert "(number of comparisons: 2)" in text


def test_rows_that_share_no_seed_are_inconclusive(tmp_path: Path) -> None:
    unfinished = {f"{number:03}-mse-seed{number - 6}": ("waiting", None) for number in (7, 8, 9)}
    text = verdicts_of(tmp_path, claim(SOSL, MSE), unfinished=unfinished)
    assert [*tables(text)[0].values()] == [[OPEN, "1 inconclusive"]]
    assert "| SOSL | MSE | –<br>inconclusive |" in text


def test_a_row_is_compared_with_a_baseline_query_by_query(tmp_path: Path) -> None:
    above, below = claim(SOSL, {"baseline": "random"}), claim(SOSL, {"baseline": "random"}, direction="below")
    text = verdicts_of(tmp_path, above, below)
    assert [found for found, _ in tables(text)[0].values()] == [HOLDS, CONTRADICTED]
    cells = [cell for cell in read_experiment(tmp_path).cells if "-sosl-" in cell.name]
    of_row = np.mean([query_metrics(cell).values["map"] for cell in cells], axis=0)
    of_baseline = baseline_metric(cells[0], "random", "map")
    assert of_baseline is not None
    assert f"| SOSL | random order | {np.mean(of_row - of_baseline):+.3f}<br>holds<br>" in text


def test_a_baseline_beside_another_row_of_the_same_lists_is_compared_with(tmp_path: Path) -> None:
    write_experiment(
        tmp_path,
        {"loss.name": LOSSES, "training.seed": SEEDS},
        claims=[claim(SOSL, {"baseline": "lsi"})],
    )
    experiment = read_experiment(tmp_path)
    of_row = [query_metrics(cell).values["map"] for cell in experiment.cells if "-sosl-" in cell.name]
    cell = next(cell for cell in experiment.cells if "-mse-" in cell.name)
    path = cell.folder / BASELINES_FILE
    path.write_text(path.read_text().replace("random/", "lsi/"))
    of_baseline = baseline_metric(cell, "lsi", "map")
    assert of_baseline is not None
    text = "\n\n".join(comparisons(judge(experiment)))
    assert f"| SOSL | LSI | {np.mean(np.mean(of_row, axis=0) - of_baseline):+.3f}<br>holds<br>" in text


def test_a_baseline_that_was_not_evaluated_is_inconclusive(tmp_path: Path) -> None:
    text = verdicts_of(tmp_path, claim(SOSL, {"baseline": "cl_lsi"}))
    assert [*tables(text)[0].values()] == [[OPEN, "1 inconclusive"]]
    assert "| SOSL | CL-LSI | –<br>inconclusive |" in text


def test_rows_may_rank_other_lists_of_the_same_queries(tmp_path: Path) -> None:
    few, many = ({"data.used_negatives": number} for number in (20, 40))
    grid = {"data.used_negatives": [20, 40], "training.seed": [1, 2]}
    verdicts, *_ = tables(verdicts_of(tmp_path, claim(few, many, margin=0.5), grid=grid))
    assert [*verdicts.values()] == [[CONTRADICTED, "1 is contradicted"]]


def test_a_report_opens_with_a_summary(tmp_path: Path) -> None:
    write_experiment(tmp_path, {"loss.name": ["sosl", "mse"], "training.seed": [1]}, claims=[claim(SOSL, MSE)])
    headings = re.findall("^## (.*)$", report_text(read_experiment(tmp_path)), re.MULTILINE)
    assert headings[0] == "Summary"


def test_a_damaged_claim_is_an_error_of_the_users(tmp_path: Path) -> None:
    write_experiment(tmp_path, {"loss.name": ["sosl", "mse"]}, claims=[{"says": "nothing"}])
    with pytest.raises(DataError, match="experiment.json: cannot be read .* run the experiment again"):
        read_experiment(tmp_path)


def test_without_a_claim_there_is_no_verdict(folders: dict[str, Path]) -> None:
    judged = judge(read_experiment(folders["losses"]))
    assert [*verdicts(judged), *comparisons(judged)] == []


@given(st.sampled_from(["above", "below"]), st.floats(0, 1), st.floats(-1, 1), st.floats(0, 1, exclude_min=True))
def test_a_claim_and_its_opposite_never_both_hold(
    direction: str, margin: float, difference: float, p_value: float
) -> None:
    stated = Claim.model_validate(claim(SOSL, MSE, direction=direction, margin=margin))
    opposite = Claim.model_validate(claim(MSE, SOSL, direction=direction, margin=margin))
    found = (
        verdict(stated, Comparison(difference, p_value, False)),
        verdict(opposite, Comparison(-difference, p_value, False)),
    )
    assert found != (HOLDS, HOLDS)
    if margin == 0 and difference != 0:
        assert set(found) in ({HOLDS, CONTRADICTED}, {OPEN})
