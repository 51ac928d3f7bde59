"""Experiments of every kind that a report meets, each written once a session; TensorFlow is imported on use."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from smooth_clir.experiments.experiment import Experiment, read_experiment
from smooth_clir.experiments.report.results import results

LOSSES = ["sosl", "three_part_l2", "mse", "proportional_odds"]
EXPERIMENTS = {
    "losses": dict(
        grid={"loss.kind": LOSSES, "training.seed": [1, 2, 3]},
        unfinished={
            "005-three_part_l2-seed2": ("failed", "not finite: <script>alert(1)</script> |\nat step 3"),
            "012-proportional_odds-seed3": ("waiting", None),
        },
        title="Losses <script>alert(2)</script>",
        published="wikiclir_fr",
        file="# </pre><script>alert(3)</script> ``` **all losses**\n",
    ),
    "encoders": dict(
        grid={"channels.towers.encoder": ["mean", "cnn", "lstm"], "training.seed": [1, 2]}, published="wikiclir_sw"
    ),
    "epsilon": dict(
        grid={"loss.kind": ["sosl", "mse"], "channels.towers.epsilon": [0, 0.5, 2.0]}, published="wikiclir_fr"
    ),
    "negatives": dict(grid={"data.used_negatives": [20, 40, 80], "training.seed": [1, 2]}),
    "one seed": dict(grid={"loss.kind": ["sosl", "softmax"]}),
    "cold": dict(grid={"loss.kind": ["sosl", "mse"], "training.seed": [1, 2]}, cold_queries=20),
    "all seen": dict(grid={"loss.kind": ["sosl"]}, cold_queries=0),
    "all cold": dict(grid={"loss.kind": ["sosl"]}, cold_queries=60),
    "domains": dict(
        grid={
            "data.held_out": [["news"], ["health"]],
            "adversary.held_out_texts": [False, True],
            "adversary.weight": [0, 1],
            "training.seed": [1, 2],
        },
        unfinished={"012-['health']-False-1-seed2": ("failed", "no memory")},
        domains=["bible", "health", "news"],
        published="domains_table_2",
    ),
    "nothing done": dict(
        grid={"loss.kind": ["sosl", "mse"]},
        unfinished={"001-sosl": ("failed", "no space left"), "002-mse": ("waiting", None)},
    ),
}


class Folders(dict[str, Path]):
    """Experiment folders by name, without reports; each is written when a test first asks for it."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def __missing__(self, name: str) -> Path:
        from tests.experiments.experiment_folder import write_experiment

        self[name] = write_experiment(self._root / name, **EXPERIMENTS[name])
        return self[name]


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    return Folders(tmp_path_factory.mktemp("experiments"))


@pytest.fixture(scope="session")
def experiment_of(folders: Folders) -> Callable[[str], Experiment]:
    """An experiment by its name, read once."""
    return cache(lambda name: read_experiment(folders[name]))


@pytest.fixture(scope="session")
def reported(folders: Folders) -> Callable[[str], Path]:
    """An experiment's folder with its report, which is written when a test first asks for it."""

    from smooth_clir.experiments.report.write_report import write_report

    @cache
    def report(name: str) -> Path:
        write_report(folders[name])
        return folders[name]

    return report


@pytest.fixture(scope="session")
def results_of(experiment_of: Callable[[str], Experiment]) -> Callable[[str], str]:
    """The results of an experiment as Markdown, without what else is in a report."""
    return cache(lambda name: results_text(experiment_of(name)))


def results_text(experiment: Experiment) -> str:
    return "\n\n".join(results(experiment)) + "\n"


def tables(text: str) -> list[dict[str, list[str]]]:
    """The tables in a Markdown text: the first entry of a line to the others."""
    return [
        {head: entries for head, *entries in (re.split(r" (?<!\\)\| ", line[2:-2]) for line in table.splitlines()[2:])}
        for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    ]
