"""The report of an experiment: what it shows, and what it escapes."""

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from schemas.errors import DataError
from smooth_clir.experiments.cell import Cell
from smooth_clir.experiments.experiment import Experiment, read_experiment
from smooth_clir.experiments.report.figures import loss_figure
from smooth_clir.experiments.report.write_report import conditions, report_pictures, stability, write_report
from tests.cli.command import Clir
from tests.experiments.conftest import tables
from tests.experiments.experiment_folder import write_experiment

pytestmark = pytest.mark.tensors

Reported = Callable[[str], Path]
ExperimentOf = Callable[[str], Experiment]


def markdown(folder: Path) -> str:
    return (folder / "report.md").read_text()


@pytest.mark.parametrize(("name", "numbers"), [("losses", "23"), ("nothing done", "")])
def test_every_picture_of_the_report_is_a_file_beside_it(reported: Reported, name: str, numbers: str) -> None:
    names = re.findall(r"!\[[A-Z][^\]]+\]\(figures/([\w-]+)\.svg\)", markdown(reported(name)))
    assert sorted(names) == sorted(path.stem for path in reported(name).glob("figures/*"))
    assert "".join(re.findall(r"figure-(\d)", " ".join(names))) == numbers
    assert ("training" in names) == (name != "nothing done")


def test_settings_along_an_axis_have_the_papers_figures(tmp_path: Path) -> None:
    write_experiment(tmp_path, {"channels.towers.epsilon": [0, 0.5], "data.used_negatives": [20, 40]})
    names = [picture.name for picture in report_pictures(read_experiment(tmp_path).rows)]
    assert names == ["summary", *(f"figure-{number}" for number in range(1, 6)), "training"]


def test_the_same_experiment_gives_the_same_bytes_in_another_folder(
    clir: Clir, reported: Reported, tmp_path: Path
) -> None:
    again = shutil.copytree(reported("losses"), tmp_path / "elsewhere", ignore=shutil.ignore_patterns("report.*"))
    code, out, err = clir("report", again)
    assert (code, out) == (0, "")
    assert err.endswith(": report.md\n")
    for path in (path for path in again.rglob("*") if path.is_file()):
        assert path.read_bytes() == (reported("losses") / path.relative_to(again)).read_bytes()


def test_a_report_shows_what_was_run_and_takes_no_text_for_markup(reported: Reported) -> None:
    text = markdown(reported("losses"))
    assert text.startswith("# Losses &lt;script>alert(2)&lt;/script>\n\n## Summary\n")
    assert "````text\n# </pre><script>alert(3)</script> ``` **all losses**\n````" in text
    # Cells that have not finished, with their reasons, and the commands that repeat the others.
    assert "12 cells: 10 done, 1 failed, 1 waiting." in text
    assert (
        "| 005-three\\_part\\_l2-seed2 | failed | not finite: &lt;script>alert(1)&lt;/script> \\| at step 3 |" in text
    )
    assert "| 012-proportional\\_odds-seed3 | waiting | – |" in text
    commands = re.findall(r"^clir run (.*)$", text, re.MULTILINE)
    assert len(commands) == 10
    assert all((reported("losses") / command.split()[0]).is_file() for command in commands)
    # Elsewhere than in the project it names the page on where we depart from the paper.
    assert "docs/differences.md of this software." in text
    assert (Path(__file__).parents[3] / "docs" / "differences.md").is_file()


def test_an_experiment_without_a_finished_cell_has_a_report(reported: Reported) -> None:
    text = markdown(reported("nothing done"))
    assert "No cell has finished" in text and "no space left" in text


# The other sections


def test_a_loss_of_whole_lists_has_no_curve_over_one_score(experiment_of: ExperimentOf) -> None:
    picture = loss_figure(experiment_of("one seed").rows)
    assert picture
    assert "SOSL, θ = (0.2, 0.7)" in picture.file
    assert "softmax" not in picture.file


# What is no good experiment


def test_a_folder_without_an_experiment_is_an_error_of_the_users(clir: Clir, tmp_path: Path) -> None:
    code, out, err = clir("report", tmp_path)
    assert (code, out) == (1, "")
    assert f"{tmp_path} has no experiment.json" in err


def test_a_folder_of_an_earlier_version_is_an_error_that_names_a_former_setting(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, {"loss.kind": ["sosl"]})
    (folder / "cells" / "001-sosl" / "config.yaml").write_text("loss: {name: sosl}\n")
    with pytest.raises(DataError, match=r"earlier version, such as loss\.name; run the experiment again"):
        write_report(folder)


def test_a_report_leads_to_the_page_on_where_we_depart_from_the_paper(
    reported: Reported, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "docs" / "differences.md"
    page.parent.mkdir()
    page.touch()
    folder = shutil.copytree(reported("nothing done"), tmp_path / "runs" / "my losses")
    monkeypatch.setattr("smooth_clir.experiments.report.write_report._PROJECT", tmp_path)
    write_report(folder)
    (address,) = re.findall(r"\[differences from the paper\]\(<([^>]+)>\)", markdown(folder))
    assert (folder / address).resolve() == page


# Conditions and stability


def conditions_of(experiment: Experiment, *cells: Cell) -> str:
    return "\n\n".join(conditions(replace(experiment, cells=cells or experiment.cells).rows)) + "\n"


def after_search(cell: Cell, searched: dict[str, object]) -> Cell:
    """A cell whose training came after a search."""
    assert cell.training
    return replace(cell, training=cell.training.model_copy(update={"searched": searched}))


def test_where_rows_differ_each_has_its_own_and_a_sentence_has_the_others(experiment_of: ExperimentOf) -> None:
    experiment = experiment_of("one seed")
    text = conditions_of(experiment)
    assert "| Row | loss function | thresholds |" in text
    assert tables(text)[0] == {"SOSL": ["SOSL", "\\[0.2, 0.7\\]"], "softmax": ["softmax", "–"]}
    assert "All rows have preset: paper; encoder: Average Pooling; similarity: smooth cosine; ε: 1; " in text
    assert "epochs: 3; " in text and "test queries: 60." in text
    # Any other setting in which the rows differ has a column.
    sosl, softmax = (
        replace(cell, config={**cell.config, "training": {"clip_norm": clip_norm}})
        for cell, clip_norm in zip(experiment.cells, (5.0, 1.0), strict=True)
    )
    assert "| Row | loss function | training.clip\\_norm | thresholds |" in conditions_of(experiment, sosl, softmax)
    # One row has a sentence alone.
    assert conditions_of(experiment, sosl).startswith("SOSL has preset: paper; loss function: SOSL; ")
    assert "|" not in conditions_of(experiment, sosl)
    assert conditions_of(experiment, replace(sosl, status="waiting")) == "\n"


def test_a_setting_of_some_kinds_is_a_column_where_rows_that_have_it_differ_and_a_kind_also_beside_none(
    experiment_of: ExperimentOf,
) -> None:
    experiment = experiment_of("one seed")
    sosl, softmax = experiment.cells
    third = replace(sosl, settings={"preset": "best"})

    def columns(*encoders: dict[str, object] | None) -> str:
        cells = (
            replace(cell, config={**cell.config, "channels": {**cell.config["channels"], "encoder": encoder}})
            for cell, encoder in zip((sosl, softmax, third), encoders, strict=False)
        )
        return conditions_of(experiment, *cells).splitlines()[2]

    vectors, endpoint = {"kind": "vectors", "batch": 64}, {"kind": "endpoint", "batch": 64, "retries": 5}
    assert columns(None, vectors) == "| Row | loss function | channels.encoder.kind | thresholds |"
    assert columns(vectors, endpoint) == columns(None, vectors, endpoint) == columns(None, vectors)
    text = "| Row | loss function | channels.encoder.kind | channels.encoder.retries | thresholds |"
    assert columns(vectors, endpoint, {**endpoint, "retries": 7}) == text


def test_what_a_search_found_stands_for_what_the_file_gives(experiment_of: ExperimentOf) -> None:
    experiment = experiment_of("losses")
    first, second, third, *_ = experiment.cells  # three seeds of SOSL
    searched = after_search(first, {"loss.theta": [0.1, 0.5], "channels.towers.epsilon": 0.25})
    text = conditions_of(experiment, searched, second, third)
    assert "ε: 0.25 or 1; " in text and "thresholds: \\[0.1, 0.5\\] or \\[0.2, 0.7\\]" in text
    picture = loss_figure(replace(experiment, cells=(searched,)).rows)
    assert picture and "SOSL, θ = (0.1, 0.5)" in picture.file and "(0.2, 0.7)" not in picture.file


def stability_text(experiment: Experiment) -> str:
    return "\n\n".join(stability(experiment.rows))


def test_a_row_has_a_line_with_a_dash_for_what_is_infinite_or_unknown(experiment_of: ExperimentOf) -> None:
    text = stability_text(experiment_of("epsilon"))
    assert "| SOSL, ε = 0 | – | – | 0.31 | 12.5 | 0.02 | 4 | 2 | 0.64 | 123.4 |" in text
    assert "| MSE, ε = 0.5 | 2 | 4 | 0.31 | 12.5 | 0.02 | – | – | 0.64 | 123.4 |" in text
    # The largest value of the seeds is shown, and a sentence stands once with the rows that it holds for.
    first, *cells = experiment_of("losses").cells
    assert first.stability
    first = replace(first, stability=first.stability.model_copy(update={"clipped_share": 0.5}))
    text = stability_text(replace(experiment_of("losses"), cells=(first, *cells)))
    assert "| SOSL | 1 | 2 | 0.31 | 12.5 | 0.5 |" in text
    assert "SOSL. Warning: no score reaches the band of MR documents." in text
    assert "SOSL; 3Part\\_L2; MSE; PO\\_S. Theorem 3, first seed. No loss exceeds 4: the bound says nothing." in text


def test_cells_without_a_report_of_their_stability_leave_the_section_empty(experiment_of: ExperimentOf) -> None:
    cells = [replace(cell, stability=None) for cell in experiment_of("one seed").cells]
    assert stability_text(replace(experiment_of("one seed"), cells=tuple(cells))) == (
        "No finished cell has a stability report."
    )
