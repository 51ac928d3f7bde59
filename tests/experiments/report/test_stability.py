"""The stability section."""

from pathlib import Path

from experiments.experiment import read_experiment
from experiments.report.markdown import as_markdown
from experiments.report.page import Page
from experiments.report.stability import stability
from tests.experiments.experiment_folder import write_experiment


def stability_text(folder: Path) -> str:
    return as_markdown(Page("", (stability(read_experiment(folder).rows),)))


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
