"""The table of results: rows, spreads, the best value, baselines, published numbers and tests."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from models.evaluation.metrics import METRICS, SEARCH_METRICS
from schemas.search_report import SearchReport
from smooth_clir.experiments.experiment import Experiment, read_experiment
from smooth_clir.experiments.report.published import read_published
from smooth_clir.experiments.report.significance import query_metrics
from tests.experiments.conftest import results_text, tables
from tests.experiments.experiment_folder import write_experiment

pytestmark = pytest.mark.tensors

ResultsOf = Callable[[str], str]
ExperimentOf = Callable[[str], Experiment]


def test_rows_carry_the_papers_names_and_the_number_of_their_seeds(results_of: ResultsOf) -> None:
    rows = tables(results_of("losses"))[0]
    seeds = {"SOSL": "3", "3Part\\_L2": "2 of 3", "MSE": "3", "PO\\_S": "2 of 3"}
    assert {name: entries[0] for name, entries in rows.items() if entries[0]} == seeds
    heads = (
        "| Encoder | seeds | P\\_mr@1 | P\\_mr@5 | P\\_r@5 | NDCG@5 | MAP | MRR\\_mr | MRR\\_r | p\\_r\\_10 | ordered"
    )
    assert heads in results_of("encoders")


def test_an_entry_is_the_mean_with_the_deviation_and_the_range_of_the_seeds(
    results_of: ResultsOf, experiment_of: ExperimentOf
) -> None:
    row = experiment_of("losses").rows[2]
    values = [cell.metrics["map"] for cell in row.done]
    column = list(METRICS).index("map")
    entry = tables(results_of("losses"))[0]["MSE"][1 + column]
    mean, deviation = np.mean(values), np.std(values, ddof=1)
    assert entry == f"{mean:.3f}↓<br>±{deviation:.3f}<br>{min(values):.3f}–{max(values):.3f}"
    assert "±" not in results_of("one seed")
    # Standard errors are those of the queries' means over the seeds.
    errors = tables(results_of("losses"))[2]
    assert list(errors) == ["SOSL", "3Part\\_L2", "MSE", "PO\\_S"]
    means = np.mean([query_metrics(cell).values["map"] for cell in row.done], axis=0)
    assert errors["MSE"][column] == f"{means.std(ddof=1) / len(means) ** 0.5:.3f}"


@pytest.mark.parametrize("name", ["losses", "encoders", "epsilon", "one seed"])
def test_the_best_value_of_a_column_is_bold(results_of: ResultsOf, name: str) -> None:
    ours = [entries[1:] for entries in tables(results_of(name))[0].values() if entries[0]]
    for column in zip(*ours, strict=True):
        values = [float(re.search(r"0\.\d+", entry)[0]) for entry in column]
        assert [entry.startswith("**") for entry in column] == [value == max(values) for value in values]


def test_baselines_stand_once_below_the_rows_and_are_never_bold(results_of: ResultsOf) -> None:
    rows = tables(results_of("encoders"))[0]
    baselines = ["random order<br>baseline", "BM25<br>baseline"]
    assert [*rows][:5] == ["Average Pooling", "DSSM-CNN", "DSSM-LSTM", *baselines]
    assert "**" not in "".join(rows["BM25<br>baseline"])


def test_rows_with_other_data_have_baselines_of_their_own_and_are_not_compared(results_of: ResultsOf) -> None:
    page = results_of("negatives")
    heads = list(tables(page)[0])
    assert heads[:3] == [
        "NR documents = 20",
        "random order, NR documents = 20<br>baseline",
        "BM25, NR documents = 20<br>baseline",
    ]
    assert len(heads) == 9
    assert "not compared" in page and "reference row" not in page and "**" not in page


def test_published_numbers_stand_in_columns_of_their_own_where_asked(results_of: ResultsOf) -> None:
    text = results_of("losses")
    ours, _, _, beside = tables(text)
    assert "| Metric | SOSL | published in Tables 2 and 3 | 3Part\\_L2 | published in Table 2 | MSE | " in text
    assert "for French documents" in text
    shown = [re.search(r"0\.\d+", entry)[0] for entry in ours["MSE"][1 : 1 + len(beside)]]
    assert [entries[4] for entries in beside.values()] == shown
    assert [entries[5] for entries in beside.values()] == "0.253 0.700 0.603 0.727 0.792 0.443 0.854".split()
    encoders = tables(results_of("encoders"))[-1]
    assert [entries[5] for entries in encoders.values()] == "0.527 0.897 0.319 0.738 0.713 0.685 0.772".split()


@pytest.mark.parametrize("name", ["epsilon", "negatives", "one seed", "nothing done"])
def test_published_numbers_stay_out_where_not_asked_or_of_another_epsilon(results_of: ResultsOf, name: str) -> None:
    assert "published" not in results_of(name)


def test_published_numbers_stand_beside_the_papers_preset_alone(experiment_of: ExperimentOf) -> None:
    experiment = experiment_of("one seed")
    sosl = experiment.cells[0]
    cells = tuple(
        replace(sosl, name=preset, settings={"preset": preset}, config={**sosl.config, "preset": preset})
        for preset in ("best", "paper")
    )
    text = results_text(replace(experiment, cells=cells, published=read_published("wikiclir_fr")))
    assert "| Preset | seeds |" in text
    epsilons = [replace(sosl, name=str(epsilon), settings={"channels.towers.epsilon": epsilon}) for epsilon in (0.5, 1)]
    assert "| ε | seeds |" in results_text(replace(experiment, cells=tuple(epsilons)))  # a Greek letter stays small
    assert "| Metric | preset = paper | published in Tables 2 and 3 |" in text


def test_marks_are_those_of_the_p_values_below(results_of: ResultsOf) -> None:
    rows, p_values, *_ = tables(results_of("losses"))
    assert list(p_values) == ["3Part\\_L2", "MSE", "PO\\_S"]
    for name, (reference, *values) in p_values.items():
        assert reference == "SOSL"
        for entry, reference_entry, value in zip(rows[name][1:], rows["SOSL"][1:], values, strict=True):
            mean, reference_mean = (float(re.search(r"0\.\d+", text)[0]) for text in (entry, reference_entry))
            is_significant = float(value.removeprefix("≤ ")) < 0.05
            assert ("↑" in entry) == (is_significant and mean > reference_mean)
            assert ("↓" in entry) == (is_significant and mean < reference_mean)
    assert not {"↑", "↓"} & {*"".join(rows["SOSL"])}
    assert f"all {3 * len(METRICS)} comparisons" in results_of("losses")


def test_a_row_without_a_finished_cell_keeps_its_place(experiment_of: ExperimentOf) -> None:
    experiment = experiment_of("one seed")
    failed = replace(experiment.cells[0], status="failed")
    text = results_text(replace(experiment, cells=(failed, *experiment.cells[1:])))
    assert tables(text)[0]["SOSL"] == ["0 of 1", *["–"] * len(METRICS)]


def test_a_search_in_the_whole_collection_has_a_table_of_its_own(experiment_of: ExperimentOf) -> None:
    experiment = experiment_of("one seed")
    assert "Search in the whole collection" not in results_text(experiment)
    report = SearchReport.model_construct(
        documents=1200,
        metrics=dict.fromkeys(SEARCH_METRICS, 0.75),
        channels={"lexicon": dict.fromkeys(SEARCH_METRICS, 0.5)},
    )
    searched = replace(experiment.cells[0], search=report)
    text = results_text(replace(experiment, cells=(searched, *experiment.cells[1:])))
    assert "Search in the whole collection (1,200 documents): means over the seeds" in text
    assert "| SOSL |  |" + " 0.750 |" * len(SEARCH_METRICS) in text
    assert "| SOSL | lexicon |" + " 0.500 |" * len(SEARCH_METRICS) in text


def test_each_channel_of_a_score_has_a_line_of_what_it_ranks_alone(tmp_path: Path, results_of: ResultsOf) -> None:
    folder = write_experiment(tmp_path, {"channels.lexicon.kind": ["lexicon", "bm25"], "training.seed": [1, 2]})
    rows, channels, *_ = tables(text := results_text(read_experiment(folder)))
    assert "| Row | channel | P\\_mr@1 |" in text
    assert [*channels] == [*rows][:2]
    scores = [json.loads(path.read_text()) for path in sorted(folder.glob("cells/*lexicon-seed*/metrics.json"))]
    means = [sum(score["channels"]["smooth_cosine"][metric] for score in scores) / 2 for metric in METRICS]
    entries = " | ".join(f"{mean:.3f}" for mean in means)
    assert f"| channels.lexicon.kind = lexicon | smooth cosine | {entries} |" in text
    assert "The channels of the scores" not in results_of("losses")


# Seen and cold documents


def test_seen_and_cold_documents_have_tables_of_their_own_with_floors(
    results_of: ResultsOf, experiment_of: ExperimentOf
) -> None:
    text = results_of("cold")
    _, seen, cold, *_ = tables(text)
    for name, table, queries, word in (("seen", seen, 40, "with"), ("cold", cold, 20, "without")):
        assert f"The {queries} test queries {word} an MR document that training has seen as relevant." in text
        assert [*table] == ["SOSL", "MSE", "random order<br>baseline", "BM25<br>baseline"]
        parts = [getattr(cell.evaluation, name) for cell in experiment_of("cold").rows[0].done]
        for column, metric in enumerate(METRICS, 1):
            assert f"{np.mean([part.metrics[metric] for part in parts]):.3f}" in table["SOSL"][column]
            assert table["random order<br>baseline"][column] == f"{parts[0].baselines['random'][metric]:.3f}"


@pytest.mark.parametrize(("name", "how_many"), [("all seen", "every"), ("all cold", "no")])
def test_where_all_queries_are_on_one_side_a_sentence_says_so(results_of: ResultsOf, name: str, how_many: str) -> None:
    assert f"Training has seen {how_many} test query's MR document as relevant." in results_of(name)
    assert [list(rows)[-1] for rows in tables(results_of(name))] == ["BM25<br>baseline", "SOSL"]
    assert "has seen" not in results_of("losses")  # where evaluations do not tell
