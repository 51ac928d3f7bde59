"""The results on held-out domains: pairs of rows, marks, p-values, and what an unfinished experiment shows."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from models.evaluation.significance import RESOLUTION, holm, randomisation_test, wilcoxon_test
from smooth_clir.experiments.experiment import Experiment, Row
from smooth_clir.experiments.report.domains import SHOWN, domain_blocks, held_out_lines
from smooth_clir.experiments.report.significance import query_metrics
from tests.experiments.conftest import tables

pytestmark = pytest.mark.tensors

ExperimentOf = Callable[[str], Experiment]
With = Callable[..., Experiment]


@pytest.fixture(scope="module")
def experiment(experiment_of: ExperimentOf) -> Experiment:
    """Two domains held out in turn, with and without their texts, with weight 0 and 1; one seed of one row failed."""
    return experiment_of("domains")


@pytest.fixture(scope="module")
def text(experiment: Experiment) -> str:
    return markdown(experiment)


def markdown(experiment: Experiment) -> str:
    return "\n\n".join(domain_blocks(experiment)) + "\n"


def lines_of(text: str, table: int = 0) -> list[list[str]]:
    """The lines of a table without its head; each has all its entries."""
    content = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)[table]
    return [line[2:-2].split(" | ") for line in content.replace("|  |", "| - |").splitlines()[2:]]


def query_means(row: Row, metric: str, seeds: set[int]) -> Any:
    """A metric of each query: its mean over the seeds."""
    cells = [cell for cell in row.done if cell.settings["training.seed"] in seeds]
    return np.mean([query_metrics(cell).values[metric] for cell in cells], axis=0)


@pytest.fixture
def experiment_with(experiment_of: ExperimentOf) -> With:
    """Makes an experiment of cells with these settings, which all have the results of one cell.

    The domain "b" is held out where a cell names none. A cell with the setting `status` has not finished.
    """
    first = experiment_of("one seed").cells[0]

    def experiment_with(
        *cells: Mapping[str, Any],
        variants: Mapping[str, Mapping[str, Any]] | None = None,
        domains: Sequence[str] = ("a", "b"),
    ) -> Experiment:
        made = []
        for number, settings in enumerate({"data.held_out": ["b"], **cell} for cell in cells):
            config: dict[str, Any] = {**first.config}
            status = settings.pop("status", "done")
            for key, value in {**settings, **(variants or {}).get(settings.get("variant", ""), {})}.items():
                section, dot, name = key.partition(".")
                config |= {section: {**config.get(section, {}), name: value}} if dot else {}
            made.append(replace(first, name=f"cell {number}", settings=settings, status=status, config=config))
        return replace(experiment_of("one seed"), cells=tuple(made), domains=tuple(domains))

    return experiment_with


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
    assert "A line w = 0 has no adversary" in text


def test_a_row_stands_beside_the_one_without_its_adversary_and_the_control_of_texts_beside_the_plain_one(
    experiment: Experiment, text: str
) -> None:
    pairs = [(line.row.settings, line.original and line.original.settings) for line in held_out_lines(experiment)]
    key, texts = "adversary.weight", "adversary.held_out_texts"
    assert [((row[texts], row[key]), (original[texts], original[key])) for row, original in pairs if original] == [
        ((False, 1), (False, 0)),
        ((True, 0), (False, 0)),
        ((True, 1), (True, 0)),
    ] * 2
    assert all(original and row["data.held_out"] == original["data.held_out"] for row, original in pairs)
    _, control, adversary, *_ = lines_of(text)
    assert adversary[3:6] == [entry.split(" ")[0] for entry in control[6:]]


def test_an_entry_is_the_mean_over_the_seeds_that_both_have_with_its_change_and_its_mark(
    experiment: Experiment, text: str
) -> None:
    marks, pairs = set(), []
    for line, entries in zip(held_out_lines(experiment), lines_of(text), strict=True):
        assert line.original
        seeds = {1} if entries[2] == "1 of 2" else {1, 2}
        for column, metric in enumerate(SHOWN, 3):
            adversarial, original = (query_means(row, metric, seeds) for row in (line.row, line.original))
            change = 100 * (adversarial.mean() / original.mean() - 1)
            mark = "†" * (wilcoxon_test(adversarial, original) < 0.05)
            assert entries[column] == f"{original.mean():.3f}"
            shown = re.fullmatch(r"(0\.\d{3}) \(([-+]\d+(?:\.\d)?) %\)(†?)", entries[column + 3])
            assert shown and (shown[1], shown[3]) == (f"{adversarial.mean():.3f}", mark)
            assert float(shown[2]) == pytest.approx(change, abs=0.5)
            marks.add(mark)
            pairs.append((adversarial, original))
    assert marks == {"", "†"}
    # Both tests have their p-values, and Holm corrects ours.
    drawn = [randomisation_test(*pair, two_sided=True) for pair in pairs]
    ranked = [f"{p:.4f}" if (p := wilcoxon_test(*pair)) >= 0.0001 else "&lt; 0.0001" for pair in pairs]
    corrected = ["≤ " * (p == RESOLUTION) + f"{after:.4f}" for p, after in zip(drawn, holm(drawn), strict=True)]
    shown = [entry.replace("\N{NO-BREAK SPACE}", " ") for line in lines_of(text, 1) for entry in line[2:]]
    assert (shown[::2], shown[1::2]) == (ranked, corrected)
    assert f"over all {len(pairs)} comparisons" in text


def test_the_discriminators_accuracy_stands_beside_the_largest_share_with_both_gradients(text: str) -> None:
    assert (
        "| accuracy | share of the largest domain | gradient of the ranking loss | gradient of the adversary |" in text
    )
    assert lines_of(text, 2) == [
        [f"{domains}{texts}", "1", "0.75", "0.5", "1.5", "0.0125"]
        for domains in ("(bible, health) → news", "(bible, news) → health")
        for texts in ("", ", with its texts")
    ]


def test_the_weight_above_0_that_is_best_on_the_eval_split_is_named(experiment_with: With) -> None:
    cells = [
        {"data.held_out": [domain], "adversary.weight": weight}
        for domain, weights in (("a", (0, 0.001, 0.25)), ("b", (0, 0.001, 0.25)))
        for weight in weights
    ]
    experiment = experiment_with(*cells)
    values = iter((0.6, 0.5, 0.4, 0.8, 0.7, 0.2))
    trained = [
        replace(c, training=c.training.model_copy(update={"best_value": next(values)})) for c in experiment.cells
    ]  # type: ignore[union-attr]
    text = markdown(replace(experiment, cells=tuple(trained)))
    assert lines_of(text, 2) == [
        ["–", "0", "2", "0.7000"],
        ["–", "0.001", "2", "0.6000, the best above 0"],
        ["–", "0.25", "2", "0.3000"],
    ]
    assert "Cohen et al. choose their weight on validation lists" in text
    assert "The weight on the eval split" not in markdown(experiment_with(*cells[:2], *cells[3:5]))


def test_published_numbers_follow_where_a_table_is_named(experiment: Experiment, text: str) -> None:
    assert "In the form of" not in text
    assert "Held-out domains, in the form of Cohen et al. 2018, Table 2" in text
    assert "| (InsuranceQA, L4) → WebAP |" in text
    without = markdown(replace(experiment, published=None))
    assert "Held-out domains, in the form of Cohen et al. 2018\n" in without
    assert lines_of(without) == lines_of(text)
    assert "WebAP" not in without


def test_the_tables_stand_before_all_rows_which_stay_what_they_are(results_of: Callable[[str], str], text: str) -> None:
    results = results_of("domains")
    assert results.startswith(text.rstrip())
    rows = tables(results.removeprefix(text.rstrip()))[0]
    assert "held out = news, held-out texts = false, w = 0" in rows
    assert rows["held out = health, held-out texts = false, w = 1"][0] == "1 of 2"


# Domains, rankers and unfinished experiments


@pytest.mark.parametrize(
    ("domains", "held_out", "names"),
    [
        (["a", "b"], ["b"], "a → b"),
        (["a", "b", "c", "d"], ["a"], "(b, c, d) → a"),
        (["a", "b", "c", "d", "e"], ["a"], "All\\* → a"),
        (["a", "b", "c"], ["b", "c"], "a → b, c"),
        (["a", "b"], [], "All → All"),
        ([], ["b"], "All\\* → b"),  # an experiment of an older version
    ],
)
def test_source_and_target_are_named(
    experiment_with: With, domains: list[str], held_out: list[str], names: str
) -> None:
    text = markdown(experiment_with({"data.held_out": held_out}, domains=domains))
    assert [line[:3] for line in lines_of(text)] == [[names, "–", "1"]]
    assert ("All\\* are all domains but those held out" in text) == ("\\*" in names)
    assert "with its texts" not in text.lower()


def test_nothing_is_said_where_the_grid_holds_out_nothing_or_no_cell_is_done(
    experiment_of: ExperimentOf, experiment_with: With
) -> None:
    assert [*domain_blocks(experiment_of("losses")), *domain_blocks(experiment_with({"status": "waiting"}))] == []


def test_each_ranker_has_a_table_and_variants_may_name_the_adversary(experiment_with: With) -> None:
    variants = {"Adv": {"adversary.weight": 0.25, "adversary.updates": "alternate"}}
    pairs = [(variant, encoder) for variant in ("Original", "Adv") for encoder in ("mean", "lstm")]
    cells = [{"variant": variant, "channels.towers.encoder": encoder} for variant, encoder in pairs]
    text = markdown(experiment_with(*cells, variants=variants))
    assert re.findall(r"^(.*), in the form of", text, re.MULTILINE) == ["Average Pooling", "DSSM-LSTM"]
    for table in (0, 1):
        ((domains, weight, seeds, *entries),) = lines_of(text, table)
        assert (domains, weight, seeds) == ("a → b", "0.25, updates alternate", "1")
        assert all("%" in entry for entry in entries[3:])
    assert [line[0] for line in lines_of(text, 2)] == ["Average Pooling", "DSSM-LSTM"]


def test_variants_may_be_rankers_each_with_and_without_the_adversary(experiment_with: With) -> None:
    variants = {
        "mean, adversary": {"adversary.weight": 1},
        "cnn": {"channels.towers.encoder": "cnn"},
        "cnn, adversary": {"channels.towers.encoder": "cnn", "adversary.weight": 1},
    }
    lines = held_out_lines(experiment_with(*({"variant": name} for name in ("mean", *variants)), variants=variants))
    originals = [line.original and line.original.settings["variant"] for line in lines]
    assert [(line.ranker, line.row.settings["variant"]) for line in lines] == [
        *[("mean", "mean, adversary"), ("cnn", "cnn, adversary")]
    ]
    assert originals == ["mean", "cnn"]


def test_of_several_rows_without_the_adversary_that_with_the_same_updates_is_the_original(
    experiment_with: With,
) -> None:
    kinds = ("simultaneous", "alternate")
    cells = [{"adversary.updates": updates, "adversary.weight": weight} for updates in kinds for weight in (0, 1)]
    lines = held_out_lines(experiment_with(*cells))
    assert tuple(line.original and line.original.settings["adversary.updates"] for line in lines) == kinds


def test_where_all_rows_have_the_texts_the_control_of_texts_is_the_original(experiment_with: With) -> None:
    experiment = experiment_with(*({"adversary.held_out_texts": True, "adversary.weight": weight} for weight in (0, 1)))
    (line,) = held_out_lines(experiment)
    assert line.original and line.original.settings["adversary.weight"] == 0
    text = markdown(experiment)
    assert [entries[:2] for entries in lines_of(text)] == [["a → b, with its texts", "1"]]
    assert "Original has these vocabularies, too." in text
    assert "A line w = 0" not in text


@pytest.mark.parametrize(
    ("failed", "weight", "seeds", "known"),
    [
        ((2, 3), "–", "2", "original"),  # an original that nothing is beside yet
        ((0, 1), "1", "2", "adversarial"),  # a row whose original has not finished
        ((0, 3), "1", "0 of 2", "original adversarial"),  # rows without a seed in common
    ],
)
def test_unfinished_rows_have_their_means_and_no_change(
    experiment_with: With, failed: tuple[int, int], weight: str, seeds: str, known: str
) -> None:
    cells = [{"adversary.weight": number // 2, "training.seed": 1 + number % 2} for number in range(4)]
    experiment = experiment_with(
        *({**cell, "status": "failed"} if n in failed else cell for n, cell in enumerate(cells))
    )
    ((_, *shown, _, _, original, _, _, adversarial),) = lines_of(markdown(experiment))
    assert shown == [weight, seeds]
    for name, entry in (("original", original), ("adversarial", adversarial)):
        assert re.fullmatch(r"0\.\d{3}" if name in known else "–", entry)
