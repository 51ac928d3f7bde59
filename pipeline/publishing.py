"""Copies what a run's stages made to where people look for it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from models.lexicon.lexicon import COLLECTION_FILE, STATISTICS_FILE
from pipeline.launching import Outputs
from pipeline.layout import (
    CELL_DIGEST_FILE,
    CELL_FILE,
    CELL_LOG_FILE,
    CONFIG_FILE,
    DATA,
    EVALUATION,
    LEXICON,
    TRAINING,
    WIKIPEDIA,
)
from pipeline.output_folder import OutputFolder

_FOR_STAGES: Final = ("BLESSED", "NOT_BLESSED", COLLECTION_FILE, STATISTICS_FILE)
"""What only other stages read."""

_PLACES: Final = {
    ("WikipediaGen", "wikiclir_files"): f"{WIKIPEDIA}/",
    ("WikiClirExampleGen", "report"): f"{DATA}/",
    ("LexiconGen", "lexicon"): f"{LEXICON}/",
    ("TrainingReport", "report"): "",
    ("Evaluator", "evaluation"): f"{EVALUATION}/",
    ("Gate", "blessing"): f"{EVALUATION}/",
    ("SearchEvaluator", "search_evaluation"): f"{EVALUATION}/",
}
"""Stage and output to the folder that its files are copied to; not every pipeline has every stage."""

_OF_ALL_CELLS: Final = (f"{WIKIPEDIA}/", f"{DATA}/", f"{LEXICON}/")
"""The folders of what the cells of an experiment share."""


def publish(outputs: Mapping[str, Outputs], folder: OutputFolder, is_cell: bool) -> None:
    """Publishes a run's results, in place of those of the run before.

    Args:
      outputs: of every stage.
      folder: of the run.
      is_cell: whether the run is a cell of an experiment, whose results lie side by side, and without what cells share:
        the files that were made of dumps, the report of the data, and the lexicon.
    """
    files = {}
    for (stage, output), place in _PLACES.items():
        if stage not in outputs:
            continue
        (artifact,) = outputs[stage][output]
        source = Path(artifact.uri)
        for path in source.rglob("*"):
            if path.is_file() and path.name not in _FOR_STAGES:
                files[f"{place}{path.relative_to(source)}"] = path
    if is_cell:
        files = {_in_a_cell(name): path for name, path in files.items() if not name.startswith(_OF_ALL_CELLS)}
    folder.publish(files, keep=[CONFIG_FILE, CELL_FILE, CELL_DIGEST_FILE, CELL_LOG_FILE])


def _in_a_cell(name: str) -> str:
    return name.removeprefix(f"{EVALUATION}/").removeprefix(f"{TRAINING}/")
