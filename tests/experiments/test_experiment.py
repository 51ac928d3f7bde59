"""Reading an experiment's folder."""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.output_folder import OutputFolder
from schemas.errors import DataError
from smooth_clir.experiments.experiment import Experiment, read_experiment
from smooth_clir.experiments.report.names import settings_label
from smooth_clir.experiments.report.published import read_published
from tests.experiments.experiment_folder import write_experiment

pytestmark = pytest.mark.tensors


def test_rows_are_the_grid_without_the_seed_in_its_order(experiment_of: Callable[[str], Experiment]) -> None:
    experiment = experiment_of("losses")
    assert [(row.label, len(row.cells), len(row.done)) for row in experiment.rows] == [
        *[("SOSL", 3, 3), ("3Part_L2", 3, 2), ("MSE", 3, 3), ("PO_S", 3, 2)]
    ]
    seeds = [replace(cell, settings={"training.seed": number}) for number, cell in enumerate(experiment.cells)]
    (row,) = replace(experiment, cells=tuple(seeds)).rows
    assert (row.label, len(row.cells)) == ("all cells", 12)
    # The collection's domains are unknown in folders of older versions.
    assert (experiment_of("domains").domains, experiment.domains) == (("bible", "health", "news"), ())


def test_published_numbers_are_read_as_written_and_former_settings_are_left_out(
    folders: dict[str, Path], experiment_of: Callable[[str], Experiment], tmp_path: Path
) -> None:
    experiment = experiment_of("domains")
    assert experiment.published == read_published("domains_table_2")
    folder = tmp_path / "old"
    shutil.copytree(folders["domains"], folder)
    OutputFolder(folder, "experiment").write("experiment.json", experiment.to_json())
    assert read_experiment(folder).published == experiment.published
    content = {**json.loads(experiment.to_json()), "psi_table": "6", "domain_table": None, "paper_language": None}
    OutputFolder(folder, "experiment").write("experiment.json", json.dumps({**content, "published": None}))
    assert read_experiment(folder).published is None


@pytest.mark.parametrize(
    ("settings", "label"),
    [
        ({"loss.kind": "sosl", "channels.towers.encoder": "lstm"}, "SOSL, DSSM-LSTM"),
        ({"channels.towers.similarity": "smooth_cosine"}, "smooth cosine"),
        ({"loss.kind": "approx_ndcg"}, "approx_ndcg"),
        ({"channels.towers.epsilon": 1.0}, "ε = 1"),
        ({"training.learning_rate": 0.05}, "training.learning_rate = 0.05"),
        ({"loss.theta": [0.2, 0.7], "training.patience": None}, "loss.theta = [0.2, 0.7], training.patience = null"),
        ({"loss.learn_theta": True}, "loss.learn_theta = true"),
        ({"preset": "best", "loss.kind": "mse"}, "preset = best, MSE"),
        ({"preset": "cossim"}, "preset = CosSim"),
        ({"channels.towers.kind": "duet_distributed", "adversary.weight": 0.25}, "Duet-distributed, w = 0.25"),
        ({"adversary.updates": "alternate", "adversary.weight": 0}, "updates = alternate, w = 0"),
        ({"data.held_out": ["news"], "adversary.held_out_texts": True}, "held out = news, held-out texts = true"),
    ],
)
def test_labels_have_the_papers_words_and_yamls_values(settings: dict[str, object], label: str) -> None:
    assert settings_label(settings) == label


ALIASES = "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12))
"""Twelve lines of YAML that stand for 10^11 values."""
BROKEN = ("", "[]", "{", ALIASES)
METRICS = "metrics.json"
FILES = ("cell.json", "config.yaml", "training.json", METRICS, "stability.json")


def test_a_damaged_or_missing_file_is_named_with_its_fault(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path, {"loss.kind": ["sosl"]})
    damages = [
        *((file, text, "") for file in FILES for text in BROKEN),
        ("stability.json", '{"theorem_3": null}', "gradient_bound"),
        (METRICS, (folder / "cells" / "001-sosl" / METRICS).read_text().replace('"ndcg_5": ', '"ndcg_3": '), "ndcg_5"),
        (METRICS, None, ""),
    ]
    for file, text, fault in damages:
        path = folder / "cells" / "001-sosl" / file
        content = path.read_text()
        path.unlink() if text is None else path.write_text(text)
        with pytest.raises(DataError, match=rf"001-sosl/{file}.*{fault}.*[Rr]un the experiment again"):
            read_experiment(folder)
        path.write_text(content)
    experiment = json.loads((folder / "experiment.json").read_text())
    OutputFolder(folder, "experiment").write("experiment.json", json.dumps({**experiment, "claims": [{"says": "no"}]}))
    with pytest.raises(DataError, match=r"experiment\.json"):
        read_experiment(folder)


def test_a_digit_that_changed_since_a_cell_ended_is_in_no_report(tmp_path: Path) -> None:
    cell = write_experiment(tmp_path, {"loss.kind": ["sosl"]}) / "cells" / "001-sosl"
    contents = {path.name: path.read_text() for path in cell.iterdir()}
    shutil.rmtree(cell)
    recorded = OutputFolder(cell, "cell")
    for name, text in contents.items():
        recorded.write(name, text)
    read_experiment(tmp_path)
    for file in ("config.yaml", "training.json", METRICS, "per_query.tsv", "stability.json"):
        digit = re.search(r"[1-8](?=\D)", contents[file])
        assert digit is not None
        (cell / file).write_text(f"{contents[file][: digit.start()]}9{contents[file][digit.end() :]}")
        with pytest.raises(DataError, match=f"001-sosl/{file} is missing or has changed; run the experiment again"):
            read_experiment(tmp_path)
        (cell / file).write_text(contents[file])
