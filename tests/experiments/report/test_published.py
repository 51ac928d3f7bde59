"""Published numbers beside ours: every file of the package, our systems beside it, and what its tables contradict."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from components.settings import BASELINES
from schemas.errors import ConfigError
from smooth_clir.experiments.experiment import Experiment
from smooth_clir.experiments.report.markdown import NOTHING
from smooth_clir.experiments.report.published import PublishedTable, published_blocks, read_published
from smooth_clir.experiments.settings import PUBLISHED
from tests.experiments.conftest import results_text, tables

pytestmark = pytest.mark.tensors

NAMES = sorted(file.stem for file in PUBLISHED.glob("*.yaml"))
LANGUAGES = {"fr": "French", "it": "Italian", "sw": "Swahili", "tl": "Tagalog"}
SYSTEMS = [*(("mse", "mean"), ("proportional_odds", "mean")), ("sosl", "cnn"), ("sosl", "lstm"), ("sosl", "mean")]


def values_of(shown: PublishedTable) -> list[list[str | float]]:
    """The values of each line, without its name and our system."""
    return [[value for value in line[1:] if isinstance(value, str | float)] for line in shown.lines]


@pytest.fixture(scope="module")
def experiment(experiment_of: Callable[[str], Experiment]) -> Experiment:
    """An experiment whose cells have the encoder polynomial, of degree 2 and 3, and are beside CL-LSI."""
    cells = []
    for degree, cell in zip((2, 3), experiment_of("one seed").cells, strict=True):
        assert cell.evaluation is not None
        encoder = {"kind": "polynomial", "degree": degree}
        channels = {"towers": {**cell.config["channels"]["towers"], "encoder": encoder}}
        baselines = {**cell.evaluation.baselines, "cl_lsi": dict.fromkeys(cell.metrics, 0.25)}
        evaluation = cell.evaluation.model_copy(update={"baselines": baselines, "parameters": {"cl_lsi": {"dim": 50}}})
        cells.append(replace(cell, config={**cell.config, "channels": channels}, evaluation=evaluation))
    return replace(experiment_of("one seed"), cells=tuple(cells))


def results_beside(experiment: Experiment, name: str) -> str:
    return results_text(replace(experiment, published=read_published(name)))


# Files


@pytest.mark.parametrize("name", NAMES)
def test_every_file_can_be_read_and_its_baselines_are_ours(name: str) -> None:
    published = read_published(name)
    assert published.held_out == name.startswith("domains_")
    systems = [entry for shown in published.tables for line in shown.lines for entry in line if isinstance(entry, dict)]
    assert {system["baseline"] for system in systems if "baseline" in system} <= {*BASELINES}
    assert bool(systems) != published.held_out


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("source: arXiv", "sources: arXiv", r":3: sources: .*source\?"),
        ("ndcg_5, map", "ndcg5, map", r":8: tables\.0\.metrics\.3: .*ndcg_5\?"),
        ("metrics: [p_mr_1, ", "metrics: [", r":5: tables\.0: metrics must be 7.* got 6"),
        ("0.831, ", "", r":5: tables\.0: a line must have 8 entries and our system; got \['published in Tables 2"),
        ("{loss.kind: mse, channels.towers.encoder.kind: mean}, ", "", r":5: tables\.0: a line must .* our system"),
        ("layout: columns", "layout: rows", r":6: tables\.0\.layout: .*got 'rows'"),
    ],
)
def test_a_fault_of_an_own_file_has_its_place(tmp_path: Path, old: str, new: str, fault: str) -> None:
    text = (PUBLISHED / "wikiclir_fr.yaml").read_text().replace("0.832", "0.831")
    assert old in text
    (tmp_path / "own.yaml").write_text(text)
    assert read_published("own.yaml", tmp_path).tables[0].columns[0] == "Metric"
    (tmp_path / "own.yaml").write_text(text.replace(old, new, 1))
    with pytest.raises(ConfigError, match=rf"own\.yaml{fault}"):
        read_published("own.yaml", tmp_path)


# The paper's tables


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_rows_of_the_paper_are_its_systems_with_possible_values(language: str) -> None:
    (shown,) = read_published(f"wikiclir_{language}").tables
    systems = [entry for line in shown.lines for entry in line if isinstance(entry, dict)]
    assert sorted((*system.values(),) for system in systems) == [*SYSTEMS, ("three_part_l2", "mean")]
    for values in values_of(shown):
        metrics = dict(zip(shown.metrics, map(float, values), strict=True))
        # An MR document at rank 1 stands among the first five, and is the first relevant one.
        assert metrics["p_mr_1"] < metrics["mrr_mr"] < metrics["mrr_r"] < 1
        assert metrics["p_mr_1"] < metrics["recall_mr_5"] < 1
    assert f"for {LANGUAGES[language]} documents" in shown.notes[0]


def test_sosl_with_average_pooling_is_best_as_the_paper_says() -> None:
    # "In all languages and all metrics": but for P_r@5 of Italian, and of Swahili, in its own Table 2.
    better = set()
    for language in LANGUAGES:
        (shown,) = read_published(f"wikiclir_{language}").tables
        sosl, *rivals = values_of(shown)
        for line, values in zip(shown.lines[1:], rivals, strict=True):
            (system,) = (entry for entry in line if isinstance(entry, dict))
            pairs = zip(shown.metrics, map(float, values), map(float, sosl), strict=True)
            better |= {(language, system["loss.kind"], metric) for metric, value, best in pairs if value > best}
    assert better == {(language, loss, "p_r_5") for language in ("it", "sw") for loss in ("mse", "proportional_odds")}


# Polynomial Semantic Indexing


def test_lines_stand_beside_baselines_and_rows_of_their_degree(experiment: Experiment) -> None:
    lines = results_beside(experiment, "psi_table_6").splitlines()
    (cl_lsi,) = (line for line in lines if line.startswith("| CL-LSI JapEng |"))
    assert cl_lsi == "| CL-LSI JapEng | 9.29 % | 0.190 | 0.161 | CL-LSI | 75.00 % | 0.250 | 0.250 |"
    (psi,) = (line for line in lines if line.startswith("| PSI JapEng"))
    sosl = experiment.cells[0].metrics
    assert f"| SOSL | {100 * (1 - sosl['ordered_pairs']):.2f} % | {sosl['map']:.3f} |" in psi
    assert any(re.match(r"\| LSI \(ATLAS .*\| – \| – \| – \| – \|$", line) for line in lines)  # not evaluated
    text = results_beside(experiment, "psi_table_1")
    assert re.search(r"^\| PSI \(k = 2\) \|.* SOSL \|", text, re.MULTILINE)
    assert re.search(r"^\| PSI \(k = 3\) \|.* softmax \|", text, re.MULTILINE)


def test_parameters_of_baselines_are_listed_and_without_a_table_nothing_published(experiment: Experiment) -> None:
    assert "| CL-LSI | dim 50 |" in results_text(experiment)
    assert "Bai et al." not in results_text(experiment)


# Held-out domains


@pytest.mark.parametrize("name", ["domains_table_1", "domains_table_2"])
def test_no_rate_of_held_out_domains_is_above_its_mean_reciprocal_rank(name: str) -> None:
    for entries in values_of(read_published(name).tables[0]):
        values = [float(str(entry).split(" ")[0].rstrip("†")) for entry in entries[-8:] if entry != NOTHING]
        assert all(first < reciprocal < 1 for first, reciprocal in zip(values[::2], values[1::2], strict=True))


def test_the_printed_changes_that_contradict_their_values_are_named() -> None:
    shown, wrong = read_published("domains_table_1").tables
    wrong_changes, changes = [], 0
    for (name, *_), (_, *entries) in zip(shown.lines, values_of(shown), strict=True):
        for column, before, after in zip(shown.columns[4:], entries, entries[2:], strict=False):
            if change := re.fullmatch(r"([\d.]+) \(([-+]?\d*\.?(\d*))%\)†?", str(after)):
                old, new, printed = float(before), float(change[1]), float(change[2])
                decimals = len(change[3]) if "." in change[2] else 0
                changes += 1
                if round(100 * (new / old - 1), decimals) != printed:
                    # The values have four decimals.
                    bounds = [100 * ((new + sign * 5e-5) / (old - sign * 5e-5) - 1) for sign in (-1, 1)]
                    half_unit = 0.5 / 10**decimals
                    may_be_rounding = bounds[0] <= printed + half_unit and printed - half_unit <= bounds[1]
                    reason = "rounded values may explain it" if may_be_rounding else "contradicts them"
                    texts = [f"{change[2]} %", f"{100 * (new / old - 1):+.1f} %", reason]
                    wrong_changes.append((name, column.replace(" Adv", ", Adv"), *texts))
    assert (wrong.lines, changes) == ((*wrong_changes,), 20)
    assert "| All\\* → Sports | CosSim, Adv MRR | +12 % | +14.1 % | contradicts them |" in "\n".join(
        published_blocks(read_published("domains_table_1"), [])
    )


def test_the_reciprocal_ranks_of_sports_stand_again_under_webap() -> None:
    (_, sports, *_), (webap, *_) = (values_of(read_published(f"domains_table_{n}").tables[0]) for n in (1, 2))
    assert [webap[5], str(webap[7]).rstrip("†")] == [sports[6], str(sports[8]).split(" ")[0]]
    for name in ("domains_table_1", "domains_table_2"):
        text = "\n".join(published_blocks(read_published(name), []))
        assert "0.4567 and 0.5011, are those for All\\* → Sports in Table 1" in text
        assert len(tables(text + "\n")) == (2 if name.endswith("1") else 1)
