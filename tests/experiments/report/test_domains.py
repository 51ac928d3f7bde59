"""The results on held-out domains: pairs of rows, marks, p-values, and what an unfinished experiment shows."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.experiment import Experiment, Row, read_experiment
from experiments.report.domains import SHOWN, domain_blocks
from experiments.report.held_out_lines import held_out_lines
from experiments.report.significance import query_metrics
from models.evaluation.significance import RESOLUTION, holm, randomisation_test, wilcoxon_test
from tests.experiments.conftest import tables
from tests.experiments.experiment_folder import write_experiment

pytestmark = pytest.mark.tensors


@pytest.fixture(scope="module")
def experiment(folders: dict[str, Path]) -> Experiment:
    """Two domains held out in turn, with and without their texts, with weight 0 and 1; one seed of one row failed."""
    return read_experiment(folders["domains"])


@pytest.fixture(scope="module")
def text(experiment: Experiment) -> str:
    return markdown(experiment)


def markdown(experiment: Experiment) -> str:
    return "\n\n".join(domain_blocks(experiment)) + "\n"


def lines_of(text: str, table: int = 0) -> list[list[str]]:
    """The lines of a table without its head; each has all its entries."""
    found = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    return [line[2:-2].split(" | ") for line in found[table].replace("|  |", "| - |").splitlines()[2:]]


def of_queries(row: Row, metric: str, seeds: set[int]) -> Any:
    """A metric of each query: its mean over the seeds."""
    cells = [cell for cell in row.done if cell.settings["training.seed"] in seeds]
    return np.mean([query_metrics(cell).values[metric] for cell in cells], axis=0)


def small_experiment(folder: Path, grid: dict[str, list[Any]], **content: Any) -> Experiment:
    return read_experiment(write_experiment(folder, grid, **content))


# The form


def test_a_line_names_source_and_target_weight_and_seeds(text: str) -> None:
    assert (
        "| source → target | w | seeds | Original P\\_mr@1 | Original MRR\\_mr | Original NDCG@5 | Adv P\\_mr@1 |"
        in text
    )
    assert [line[:3] for line in lines_of(text)] == [
        ["(bible, health) → news", "1", "2"],
        ["(bible, health) → news, with its texts", "0", "2"],
        ["-", "1", "2"],
        ["(bible, news) → health", "1", "1 of 2"],
        ["(bible, news) → health, with its texts", "0", "2"],
        ["-", "1", "2"],
    ]


def test_a_row_stands_beside_the_one_without_its_adversary_and_the_control_of_texts_beside_the_plain_one(
    experiment: Experiment, text: str
) -> None:
    pairs = [(line.row.settings, line.original and line.original.settings) for line in held_out_lines(experiment)]
    key, texts = "adversary.weight", "adversary.held_out_texts"
    assert [((row[texts], row[key]), (other[texts], other[key])) for row, other in pairs if other] == [
        ((False, 1), (False, 0)),
        ((True, 0), (False, 0)),
        ((True, 1), (True, 0)),
    ] * 2
    assert all(other and row["data.held_out"] == other["data.held_out"] for row, other in pairs)
    _, control, adversary, *_ = lines_of(text)
    assert adversary[3:6] == [entry.split(" ")[0] for entry in control[6:]]


def test_an_entry_is_the_mean_over_the_seeds_that_both_have_with_its_change_and_its_mark(
    experiment: Experiment, text: str
) -> None:
    lines = held_out_lines(experiment)
    marks = set()
    for line, entries in zip(lines, lines_of(text), strict=True):
        assert line.original
        seeds = {1} if entries[2] == "1 of 2" else {1, 2}
        for place, metric in enumerate(SHOWN):
            ours, other = (of_queries(row, metric, seeds) for row in (line.row, line.original))
            change = 100 * (ours.mean() / other.mean() - 1)
            mark = "†" * (wilcoxon_test(ours, other) < 0.05)
            assert entries[3 + place] == f"{other.mean():.3f}"
            shown = re.fullmatch(r"(0\.\d{3}) \(([-+]\d+(?:\.\d)?) %\)(†?)", entries[6 + place])
            assert shown and (shown[1], shown[3]) == (f"{ours.mean():.3f}", mark)
            assert float(shown[2]) == pytest.approx(change, abs=0.5)
            marks.add(mark)
    assert marks == {"", "†"}


def test_both_tests_have_their_p_values_and_holm_corrects_ours(experiment: Experiment, text: str) -> None:
    lines = held_out_lines(experiment)
    seeds = [{1} if line[2] == "1 of 2" else {1, 2} for line in lines_of(text)]
    values = [
        [of_queries(row, metric, of_line) for row in (line.row, line.original) if row]
        for line, of_line in zip(lines, seeds, strict=True)
        for metric in SHOWN
    ]
    ours = [randomisation_test(*pair, two_sided=True) for pair in values]
    corrected = [
        f"≤ {after:.4f}" if p_value == RESOLUTION else f"{after:.4f}"
        for p_value, after in zip(ours, holm(ours), strict=True)
    ]
    theirs = [f"{p:.4f}" if (p := wilcoxon_test(*pair)) >= 0.0001 else "&lt; 0.0001" for pair in values]
    shown = [entry.replace("\N{NO-BREAK SPACE}", " ") for line in lines_of(text, 1) for entry in line[2:]]
    assert shown == [one for pair in zip(theirs, corrected, strict=True) for one in pair]
    assert f"over all {len(values)} comparisons" in text


def test_the_discriminators_accuracy_stands_beside_the_largest_share_with_both_gradients(text: str) -> None:
    assert (
        "| accuracy | share of the largest domain | gradient of the ranking loss | gradient of the adversary |" in text
    )
    assert lines_of(text, 2) == [
        [f"{domains}{texts}", "1", "0.75", "0.5", "1.5", "0.0125"]
        for domains in ("(bible, health) → news", "(bible, news) → health")
        for texts in ("", ", with its texts")
    ]


def test_the_lines_of_weight_0_are_explained(text: str) -> None:
    assert "A line w = 0 has no adversary: it shows what these vocabularies alone change." in text


def test_published_numbers_follow_where_a_table_is_named(experiment: Experiment, text: str) -> None:
    assert "In the form of" not in text
    assert "Held-out domains, in the form of Cohen et al. 2018, Table 2" in text
    assert "| (InsuranceQA, L4) → WebAP |" in text
    without = markdown(replace(experiment, domain_table=None))
    assert "Held-out domains, in the form of Cohen et al. 2018\n" in without
    assert lines_of(without) == lines_of(text)
    assert "WebAP" not in without


def test_the_tables_stand_before_all_rows_which_stay_what_they_are(results_of: Callable[[str], str], text: str) -> None:
    whole = results_of("domains")
    assert whole.startswith(text.rstrip())
    rows = tables(whole.removeprefix(text.rstrip()))[0]
    assert "held out = news, held-out texts = false, w = 0" in rows
    assert rows["held out = health, held-out texts = false, w = 1"][0] == "1 of 2"


# Domains


@pytest.mark.parametrize(
    ("domains", "held_out", "named"),
    [
        (["a", "b"], ["b"], "a → b"),
        (["a", "b", "c", "d"], ["a"], "(b, c, d) → a"),
        (["a", "b", "c", "d", "e"], ["a"], "All\\* → a"),
        (["a", "b", "c"], ["b", "c"], "a → b, c"),
        (["a", "b"], [], "All → All"),
        ([], ["b"], "All\\* → b"),  # an experiment of an older version
    ],
)
def test_source_and_target_are_named(tmp_path: Path, domains: list[str], held_out: list[str], named: str) -> None:
    text = markdown(small_experiment(tmp_path, {"data.held_out": [held_out]}, domains=domains))
    assert [line[:3] for line in lines_of(text)] == [[named, "–", "1"]]
    assert ("All\\* are all domains but those held out" in text) == ("\\*" in named)
    assert "with its texts" not in text.lower()


@pytest.mark.parametrize("name", ["losses", "nothing done"])
def test_nothing_is_said_where_the_grid_holds_out_nothing(folders: dict[str, Path], name: str) -> None:
    assert [*domain_blocks(read_experiment(folders[name]))] == []


# Rankers


def test_each_ranker_has_a_table_and_variants_may_name_the_adversary(tmp_path: Path) -> None:
    grid = {"data.held_out": [["b"]], "variant": ["Original", "Adv"], "model.encoder": ["mean", "lstm"]}
    adversary = {"adversary.weight": 0.25, "adversary.updates": "alternate"}
    text = markdown(small_experiment(tmp_path, grid, variants={"Adv": adversary}, domains=["a", "b"]))
    assert re.findall(r"^(.*), in the form of", text, re.MULTILINE) == ["Average Pooling", "DSSM-LSTM"]
    for table in (0, 1):
        ((domains, weight, seeds, *entries),) = lines_of(text, table)
        assert (domains, weight, seeds) == ("a → b", "0.25, updates alternate", "1")
        assert all("%" in entry for entry in entries[3:])
    assert [line[0] for line in lines_of(text, 2)] == ["Average Pooling", "DSSM-LSTM"]


def test_variants_may_be_rankers_each_with_and_without_the_adversary(tmp_path: Path) -> None:
    grid = {"data.held_out": [["b"]], "variant": ["mean", "mean, adversary", "cnn", "cnn, adversary"]}
    variants = {
        "mean, adversary": {"adversary.weight": 1},
        "cnn": {"model.encoder": "cnn"},
        "cnn, adversary": {"model.encoder": "cnn", "adversary.weight": 1},
    }
    lines = held_out_lines(small_experiment(tmp_path, grid, variants=variants))
    assert [(line.ranker, line.row.settings["variant"]) for line in lines] == [
        ("mean", "mean, adversary"),
        ("cnn", "cnn, adversary"),
    ]
    assert [line.original and line.original.settings["variant"] for line in lines] == ["mean", "cnn"]


def test_of_several_rows_without_the_adversary_that_with_the_same_updates_is_the_original(tmp_path: Path) -> None:
    grid = {
        "data.held_out": [["b"]],
        "adversary.updates": ["simultaneous", "alternate"],
        "adversary.weight": [0, 1],
    }
    lines = held_out_lines(small_experiment(tmp_path, grid))
    assert [line.original and line.original.settings["adversary.updates"] for line in lines] == [
        "simultaneous",
        "alternate",
    ]


def test_where_all_rows_have_the_texts_the_control_of_texts_is_the_original(tmp_path: Path) -> None:
    grid = {"data.held_out": [["b"]], "adversary.held_out_texts": [True], "adversary.weight": [0, 1]}
    experiment = small_experiment(tmp_path, grid, domains=["a", "b"])
    (line,) = held_out_lines(experiment)
    assert line.original and (line.row.settings["adversary.weight"], line.original.setting("adversary.weight")) == (
        1,
        0,
    )
    text = markdown(experiment)
    assert [one[:2] for one in lines_of(text)] == [["a → b, with its texts", "1"]]
    assert "Original has these vocabularies, too." in text
    assert "A line w = 0" not in text


# Unfinished experiments


def unfinished(folder: Path, *cells: str) -> list[list[str]]:
    """The lines of an experiment of an original and a row with an adversary, where cells have failed."""
    grid = {"data.held_out": [["b"]], "adversary.weight": [0, 1], "training.seed": [1, 2]}
    experiment = small_experiment(folder, grid, unfinished={cell: ("failed", "a reason") for cell in cells})
    return lines_of(markdown(experiment))


def test_an_original_that_nothing_is_beside_yet_has_a_line(tmp_path: Path) -> None:
    ((_, weight, seeds, *entries),) = unfinished(tmp_path, "003-['b']-1-seed1", "004-['b']-1-seed2")
    assert (weight, seeds, entries[3:]) == ("–", "2", ["–"] * 3)
    assert all(re.fullmatch(r"0\.\d{3}", entry) for entry in entries[:3])


def test_a_row_whose_original_has_not_finished_has_no_change(tmp_path: Path) -> None:
    ((_, weight, seeds, *entries),) = unfinished(tmp_path, "001-['b']-0-seed1", "002-['b']-0-seed2")
    assert (weight, seeds, entries[:3]) == ("1", "2", ["–"] * 3)
    assert all(re.fullmatch(r"0\.\d{3}", entry) for entry in entries[3:])


def test_rows_without_a_seed_in_common_have_no_change(tmp_path: Path) -> None:
    ((_, weight, seeds, *entries),) = unfinished(tmp_path, "001-['b']-0-seed1", "004-['b']-1-seed2")
    assert (weight, seeds) == ("1", "0 of 2")
    assert all(re.fullmatch(r"0\.\d{3}", entry) for entry in entries)
