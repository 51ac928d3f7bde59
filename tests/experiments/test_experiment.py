"""Reading an experiment's folder."""

import re
import shutil
from pathlib import Path

import pytest

from experiments.experiment import read_experiment
from experiments.report.names import settings_label
from pipeline.output_folder import OutputFolder
from schemas.errors import DataError
from tests.experiments.experiment_folder import write_experiment

pytestmark = pytest.mark.tensors


def test_rows_are_the_grid_without_the_seed_in_its_order(folders: dict[str, Path]) -> None:
    rows = read_experiment(folders["losses"]).rows
    assert [row.label for row in rows] == ["SOSL", "3Part_L2", "MSE", "PO_S"]
    assert [len(row.cells) for row in rows] == [3, 3, 3, 3]
    assert [len(row.done) for row in rows] == [3, 2, 3, 2]


def test_a_grid_of_seeds_alone_is_one_row(tmp_path: Path) -> None:
    (row,) = read_experiment(write_experiment(tmp_path, {"training.seed": [1, 2]})).rows
    assert (row.label, len(row.cells)) == ("all cells", 2)


@pytest.mark.parametrize(
    ("settings", "label"),
    [
        ({"loss.name": "sosl", "model.encoder": "lstm"}, "SOSL, DSSM-LSTM"),
        ({"model.similarity": "smooth_cosine"}, "smooth cosine"),
        ({"loss.name": "approx_ndcg"}, "approx_ndcg"),
        ({"model.epsilon": 1.0}, "ε = 1"),
        ({"training.learning_rate": 0.05}, "training.learning_rate = 0.05"),
        ({"loss.theta": [0.2, 0.7], "training.patience": None}, "loss.theta = [0.2, 0.7], training.patience = null"),
        ({"loss.learn_theta": True}, "loss.learn_theta = true"),
        ({"preset": "best", "loss.name": "mse"}, "preset = best, MSE"),
        ({"preset": "cossim"}, "preset = CosSim"),
        ({"model.scorer": "duet_distributed", "adversary.weight": 0.25}, "Duet-distributed, w = 0.25"),
        ({"adversary.updates": "alternate", "adversary.weight": 0}, "updates = alternate, w = 0"),
        ({"data.held_out": ["news"], "adversary.held_out_texts": True}, "held out = news, held-out texts = true"),
    ],
)
def test_labels_have_the_papers_words_and_yamls_values(settings: dict[str, object], label: str) -> None:
    assert settings_label(settings) == label


def test_domains_are_read_and_unknown_in_folders_of_older_versions(folders: dict[str, Path]) -> None:
    read = {name: read_experiment(folders[name]) for name in ("domains", "losses")}
    assert {name: (one.domains, one.domain_table) for name, one in read.items()} == {
        "domains": (("bible", "health", "news"), "2"),
        "losses": ((), None),
    }


ALIASES = "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12))
"""Twelve lines of YAML that stand for 10^11 values."""


@pytest.mark.parametrize("text", ["", "[]", "{", pytest.param(ALIASES, id="aliases")])
@pytest.mark.parametrize("file", ["cell.json", "config.yaml", "training.json", "metrics.json", "stability.json"])
def test_a_damaged_file_is_named(tmp_path: Path, file: str, text: str) -> None:
    folder = write_experiment(tmp_path, {"loss.name": ["sosl"]})
    (folder / "cells" / "001-sosl" / file).write_text(text)
    with pytest.raises(DataError, match=rf"001-sosl/{file}: .*[Rr]un the experiment again"):
        read_experiment(folder)


@pytest.mark.parametrize("file", ["config.yaml", "training.json", "metrics.json", "per_query.tsv", "stability.json"])
def test_a_digit_that_changed_since_a_cell_ended_is_in_no_report(tmp_path: Path, file: str) -> None:
    cell = write_experiment(tmp_path, {"loss.name": ["sosl"]}) / "cells" / "001-sosl"
    contents = {path.name: path.read_text() for path in cell.iterdir()}
    shutil.rmtree(cell)
    recorded = OutputFolder(cell, "cell")
    for name, text in contents.items():
        recorded.write(name, text)
    read_experiment(tmp_path)
    digit = re.search(r"[1-8](?=\D)", contents[file])
    assert digit is not None
    (cell / file).write_text(f"{contents[file][: digit.start()]}9{contents[file][digit.end() :]}")
    with pytest.raises(DataError, match=rf"001-sosl/{file}: must be as it was written, and is missing or has changed"):
        read_experiment(tmp_path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, {"loss.name": ["sosl"]})
    (folder / "cells" / "001-sosl" / "metrics.json").unlink()
    with pytest.raises(DataError, match=r"001-sosl/metrics\.json: cannot be read"):
        read_experiment(folder)


def test_a_key_that_a_report_of_stability_lacks_is_named(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, {"loss.name": ["sosl"]})
    (folder / "cells" / "001-sosl" / "stability.json").write_text('{"theorem_3": null}')
    with pytest.raises(DataError, match=r"stability\.json: cannot be read \(gradient_bound: Field required; "):
        read_experiment(folder)


def test_an_evaluation_without_a_metric_is_named(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, {"loss.name": ["sosl"]})
    path = folder / "cells" / "001-sosl" / "metrics.json"
    path.write_text(path.read_text().replace('"ndcg_5": ', '"ndcg_3": '))
    with pytest.raises(DataError, match=r"001-sosl/metrics\.json: must hold ndcg_5; .* Run the experiment again"):
        read_experiment(folder)
