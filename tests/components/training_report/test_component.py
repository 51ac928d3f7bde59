"""TrainingReport: the artifact's files, with a search and without."""

from pathlib import Path

import pytest

from components.training_report.stability_report import training_files
from components.training_report.tuning_report import tuning_report
from models.losses.settings import SoslSettings
from models.rankers.settings import TwoTowersSettings
from models.training.settings import TrainingSettings
from tests.components.training_report.history import ROW, history, search

pytestmark = pytest.mark.stages  # it imports TFX

TOWERS, LOSS = TwoTowersSettings(epsilon=0.5), SoslSettings(theta=(0.2, 0.4))
TRAINING = TrainingSettings(learning_rate=0.1, learning_rate_decay=1, embedding_factor=1)
HISTORY = history(ROW).to_json()
VECTORS = '{"query": "Flüsse"}\n'
RESULTS = search(({"channels.towers.epsilon": 1.0}, 0.4), ({"channels.towers.epsilon": 2.0}, 0.5))


@pytest.fixture
def report(tmp_path, make_artifact):
    """Runs the stage beside the files of a training, and of a search; returns the artifact's files."""
    from components.training_report.component import TrainingReport

    def report(results=None, vectors=None):
        run, written = make_artifact("ModelRun", tmp_path), make_artifact("TrainingReport", tmp_path)
        (Path(run.uri) / "training.json").write_text(HISTORY)
        if vectors:
            (Path(run.uri) / "embeddings.json").write_text(vectors)
        tuner_results = None
        if results:
            tuner_results = make_artifact("TunerResults", tmp_path)
            (Path(tuner_results.uri) / "trials.json").write_text(results.to_json())
        TrainingReport.test_call(run, written, TOWERS, LOSS, 2, TRAINING, tuner_results)
        folder = Path(written.uri)
        return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}

    return report


def test_without_a_search_it_reports_the_training_with_the_settings(report):
    assert report() == training_files(HISTORY, TOWERS, LOSS, 2, TRAINING)


def test_after_a_search_it_reports_both_with_the_best_trial_s_values_and_passes_on_the_account_of_vectors(report):
    best = TOWERS.model_copy(update={"epsilon": 2.0})
    expected = training_files(HISTORY, best, LOSS, 2, TRAINING) | {"training/embeddings.json": VECTORS}
    assert report(RESULTS, VECTORS) == expected | tuning_report(RESULTS)
