"""The report of an experiment: what it shows, and what it escapes."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from experiments.experiment import read_experiment
from experiments.report.figures import loss_figure
from experiments.report.write_report import conditions, report_pictures, stability, write_report
from tests.cli.command import Clir
from tests.experiments.conftest import tables
from tests.experiments.experiment_folder import write_experiment

pytestmark = pytest.mark.tensors

Reported = Callable[[str], Path]


def markdown(folder: Path) -> str:
    return (folder / "report.md").read_text()


@pytest.mark.parametrize(("name", "numbers"), [("losses", "123"), ("nothing done", "1")])
def test_every_picture_of_the_report_is_a_file_beside_it(reported: Reported, name: str, numbers: str) -> None:
    names = re.findall(r"!\[[A-Z][^\]]+\]\(figures/([\w-]+)\.svg\)", markdown(reported(name)))
    assert sorted(names) == sorted(path.stem for path in (reported(name) / "figures").iterdir())
    assert "".join(re.findall(r"figure-(\d)", " ".join(names))) == numbers
    assert ("training" in names) == (name != "nothing done")


def test_settings_along_an_axis_have_the_papers_figures(tmp_path: Path) -> None:
    write_experiment(tmp_path, {"model.epsilon": [0, 0.5], "data.used_negatives": [20, 40]})
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


def test_no_text_of_the_experiment_is_taken_for_markup(reported: Reported) -> None:
    text = markdown(reported("losses"))
    assert text.startswith("# Losses &lt;script>alert(2)&lt;/script>\n")
    assert r"&lt;script>alert(1)&lt;/script> \| at step 3 |" in text
    assert "````text\n# </pre><script>alert(3)</script> ``` **all losses**\n````" in text


# What was run


def test_cells_that_have_not_finished_are_shown_with_their_reasons(reported: Reported) -> None:
    text = markdown(reported("losses"))
    assert "12 cells: 10 done, 1 failed, 1 waiting." in text
    assert "| 005-three\\_part\\_l2-seed2 | failed | not finite:" in text
    assert "| 012-proportional\\_odds-seed3 | waiting | – |" in text


def test_an_experiment_without_a_finished_cell_has_a_report(reported: Reported) -> None:
    text = markdown(reported("nothing done"))
    assert "No cell has finished" in text
    assert "no space left" in text


# The other sections


def test_a_loss_of_whole_lists_has_no_curve_over_one_score(folders: dict[str, Path]) -> None:
    picture = loss_figure(read_experiment(folders["one seed"]).rows)
    assert picture
    assert "SOSL, θ = (0.2, 0.7)" in picture.file
    assert "softmax" not in picture.file


def test_the_commands_that_repeat_a_finished_cell_stand_there(reported: Reported) -> None:
    commands = re.findall(r"^clir run (.*)$", markdown(reported("losses")), re.MULTILINE)
    assert len(commands) == 10
    assert all((reported("losses") / command.split()[0]).is_file() for command in commands)


# What is no good experiment


def test_a_folder_without_an_experiment_is_an_error_of_the_users(clir: Clir, tmp_path: Path) -> None:
    code, out, err = clir("report", tmp_path)
    assert (code, out) == (1, "")
    assert f"{tmp_path}: no experiment.json there" in err


def test_a_report_leads_to_the_page_on_where_we_depart_from_the_paper(
    reported: Reported, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "docs" / "differences.md"
    page.parent.mkdir()
    page.touch()
    folder = shutil.copytree(reported("nothing done"), tmp_path / "runs" / "my losses")
    monkeypatch.setattr("experiments.report.write_report._PROJECT", tmp_path)
    write_report(folder)
    (address,) = re.findall(r"\[differences from the paper\]\(<([^>]+)>\)", markdown(folder))
    assert (folder / address).resolve() == page
    assert "docs/differences.md of this software." in markdown(reported("losses"))  # which lies elsewhere
    assert (Path(__file__).parents[3] / "docs" / "differences.md").is_file()


def conditions_of(folder: Path) -> str:
    return "\n\n".join(conditions(read_experiment(folder).rows)) + "\n"


def search(folder: Path, name: str, **searched: object) -> None:
    """Makes a cell's training one after a search."""
    path = folder / "cells" / name / "training.json"
    values = {key.replace("_", "."): value for key, value in searched.items()}
    path.write_text(json.dumps({**json.loads(path.read_text()), "searched": values}))


def test_where_rows_differ_each_has_its_own_and_a_sentence_has_the_others(tmp_path: Path) -> None:
    write_experiment(tmp_path, {"loss.name": ["sosl", "softmax"], "training.seed": [1, 2]})
    text = conditions_of(tmp_path)
    assert "| Row | loss function | thresholds |" in text
    assert tables(text)[0] == {"SOSL": ["SOSL", "\\[0.2, 0.7\\]"], "softmax": ["softmax", "–"]}
    assert "All rows have preset: paper; encoder: Average Pooling; similarity: smooth cosine; ε: 1; " in text
    assert "epochs: 3; " in text
    assert "test queries: 60." in text


def test_one_row_has_a_sentence_alone(tmp_path: Path) -> None:
    write_experiment(tmp_path, {"loss.name": ["sosl"], "training.seed": [1, 2]})
    text = conditions_of(tmp_path)
    assert "|" not in text
    assert "SOSL has preset: paper; loss function: SOSL; " in text


def test_any_other_setting_in_which_rows_differ_has_a_column(tmp_path: Path) -> None:
    write_experiment(tmp_path, {"loss.name": ["sosl", "softmax"]})
    for name, clip_norm in (("001-sosl", 5.0), ("002-softmax", 1.0)):
        path = tmp_path / "cells" / name / "config.yaml"
        path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), "training": {"clip_norm": clip_norm}}))
    assert "| Row | loss function | training.clip\\_norm | thresholds |" in conditions_of(tmp_path)


def test_without_a_finished_cell_there_is_nothing_to_say(tmp_path: Path) -> None:
    write_experiment(tmp_path, {"loss.name": ["sosl"]}, {"001-sosl": ("waiting", None)})
    assert not [*conditions(read_experiment(tmp_path).rows)]


def test_what_a_search_found_stands_for_what_the_file_gives(tmp_path: Path) -> None:
    write_experiment(tmp_path, {"model.epsilon": [1, 2], "training.seed": [1, 2]})
    search(tmp_path, "001-1-seed1", loss_theta=[0.1, 0.5])
    search(tmp_path, "003-2-seed1", loss_theta=[0.1, 0.5], model_epsilon=0.25)
    rows = tables(conditions_of(tmp_path))[0]
    assert rows["ε = 1"] == ["1"]
    assert rows["ε = 2"] == ["0.25 or 2"]
    assert "thresholds: \\[0.1, 0.5\\] or \\[0.2, 0.7\\]" in conditions_of(tmp_path)


def test_a_curve_is_drawn_with_the_thresholds_that_a_search_found(tmp_path: Path) -> None:
    write_experiment(tmp_path, {"loss.name": ["sosl"], "training.seed": [1]})
    search(tmp_path, "001-sosl-seed1", loss_theta=[0.1, 0.5])
    picture = loss_figure(read_experiment(tmp_path).rows)
    assert picture
    assert "SOSL, θ = (0.1, 0.5)" in picture.file
    assert "(0.2, 0.7)" not in picture.file


def stability_text(folder: Path) -> str:
    return "\n\n".join(stability(read_experiment(folder).rows))


def test_a_row_has_a_line_with_a_dash_for_what_is_infinite_or_unknown(folders: dict[str, Path]) -> None:
    text = stability_text(folders["epsilon"])
    assert "| SOSL, ε = 0 | – | – | 0.31 | 12.5 | 0.02 | 4 | 2 | 0.64 | 123.4 |" in text
    assert "| MSE, ε = 0.5 | 2 | 4 | 0.31 | 12.5 | 0.02 | – | – | 0.64 | 123.4 |" in text


def test_a_sentence_stands_once_with_the_rows_that_it_holds_for(folders: dict[str, Path]) -> None:
    text = stability_text(folders["losses"])
    assert "SOSL. Warning: no score reaches the band of MR documents." in text
    assert "SOSL; 3Part\\_L2; MSE; PO\\_S. Theorem 3, first seed. No loss exceeds 4: the bound says nothing." in text


def test_cells_without_a_report_of_their_stability_leave_the_section_empty(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, {"loss.name": ["sosl"]})
    (folder / "cells" / "001-sosl" / "stability.json").unlink()
    assert "No finished cell has a stability report." in stability_text(folder)
