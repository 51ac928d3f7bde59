"""What a report says that each row was trained with."""

import json
from pathlib import Path

import yaml

from experiments.experiment import read_experiment
from experiments.report.conditions import conditions
from experiments.report.loss_figure import loss_figure
from experiments.report.markdown import as_markdown
from experiments.report.page import Page, Section
from tests.experiments.conftest import tables
from tests.experiments.experiment_folder import write_experiment


def conditions_of(folder: Path) -> str:
    blocks = tuple(conditions(read_experiment(folder).rows))
    return as_markdown(Page("A page", (Section("run", "What was run", blocks),)))


def search(folder: Path, name: str, **searched: object) -> None:
    """Makes a cell's training one after a search."""
    path = folder / "cells" / name / "training.json"
    found = {key.replace("_", "."): value for key, value in searched.items()}
    path.write_text(json.dumps({**json.loads(path.read_text()), "searched": found}))


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
