"""The rankers of Cohen et al. 2018 on the sample, by their presets: from files to a report, a model and a search."""

import json
from pathlib import Path

import numpy as np
import pytest

from models.exported.model import LoadedModel
from tests.e2e.process import SampleRun, forked

pytestmark = pytest.mark.long

QUERY, TEXTS = "a river of molten rock", ["une rivière de lave", "", "le chat"]


def run_of(preset: str, folder: Path, *settings: str) -> SampleRun:
    chosen = (f"preset={preset}", "evaluation.baselines=[bm25]", "evaluation.minimums={}", *settings)
    run = SampleRun(folder / "out", "configs/sample.yaml", *(part for one in chosen for part in ("--set", one)))
    assert run.code == 0, run.err
    return run


def test_duet_is_trained_on_drawn_documents_and_its_model_scores_alone(tmp_path: Path) -> None:
    run = run_of("duet_distributed", tmp_path, "training.epochs=2")
    history = json.loads((run.output / "training" / "training.json").read_text())["history"]
    assert history[-1]["train/loss"] < history[0]["train/loss"] < np.log(1 + 4) + 0.1
    stability = json.loads((run.output / "training" / "stability.json").read_text())
    assert (stability["largest_score"], stability["gradient_bound"]) == (None, None)
    (version,) = run.versions
    scores = LoadedModel(str(version)).score(QUERY, TEXTS)
    assert scores.keys() == {"scores", "duet_distributed"}
    assert scores["scores"][1] < min(scores["scores"][0], scores["scores"][2]) - 1e6  # the place without a document


def test_cossim_is_trained_on_drawn_documents_and_an_index_searches_it(tmp_path: Path) -> None:
    run = run_of("cossim", tmp_path, "training.epochs=1", "data.max_document_tokens=20", "search.index=true")
    (version,) = run.versions
    scores = LoadedModel(str(version)).score(QUERY, TEXTS)
    assert scores.keys() == {"scores", "cossim"}
    assert max(map(abs, scores["scores"])) <= 1 + 1e-6
    done = forked("search", run.output, QUERY, "--json")
    assert done.code == 0, done.err
    values = [hit["score"] for hit in json.loads(done.out)["results"]]
    assert values == sorted(values, reverse=True)
