"""Parts that are added by an entry in a table, chosen by name in a configuration file: training, export, serving."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from models import choices
from models.exported.model import LoadedModel
from models.losses.declarations import LOSSES
from models.retrieval.corpus_index import CorpusIndex
from serving.engine import Engine
from tests import added_parts
from tests.cli.command import Clir

pytestmark = pytest.mark.runs

SAMPLE = Path(__file__).parents[2] / "data" / "sample"
DATA = {
    "queries": str(SAMPLE / "wiki_en.queries"),
    "documents": str(SAMPLE / "wiki_fr.documents"),
    "judgments": str(SAMPLE / "en2fr.rel"),
    "query_language": "en",
    "document_language": "fr",
}
QUERY, TEXTS = "a river of molten rock", ["une rivière de lave", "", "le chat"]


@pytest.fixture(autouse=True)
def entries(monkeypatch: pytest.MonkeyPatch) -> None:
    """The entries in the tables, all that the parts need besides their classes."""
    monkeypatch.setitem(choices.SCORERS, "wide", added_parts.SCORER)
    monkeypatch.setitem(LOSSES, "huber", added_parts.LOSS)
    monkeypatch.setitem(choices.OBJECTIVES, "guessing", added_parts.OBJECTIVE)
    monkeypatch.setitem(choices.CHANNELS, "length", added_parts.CHANNEL)
    monkeypatch.setitem(choices.ENCODERS, "linear", added_parts.ENCODER)


def configuration(folder: Path, **sections: object) -> Path:
    file = folder / "run.yaml"
    content = {"preset": "paper", "data": DATA, "output": str(folder / "out"), **sections}
    file.write_text(yaml.safe_dump(content))
    return file


def newest(folder: Path) -> LoadedModel:
    (version,) = (folder / "out" / "artifacts" / "Trainer" / "model").glob("*/Format-Serving")
    return LoadedModel(str(version))


def test_a_scorer_a_loss_an_objective_and_a_channel_are_trained_exported_and_served(tmp_path: Path, clir: Clir) -> None:
    file = configuration(
        tmp_path,
        model={"scorer": "wide", "scorer_settings": {"width": 6}},
        loss={"name": "huber", "settings": {"delta": 0.2}},
        training={"epochs": 3, "learning_rate": 0.2, "objective": "guessing", "objective_settings": {"rate": 0.02}},
        channels={"near": {"kind": "length", "weight": 0.25}},
    )
    done = clir("run", file)
    history = json.loads((tmp_path / "out" / "training" / "training.json").read_text())["history"]
    guesses = [row["train/guess"] for row in history]
    assert guesses[-1] < guesses[0] < np.log(2)  # the second network has learned
    model = newest(tmp_path)
    assert model.channel_weights == {"near": 0.25, "wide": 1.0}
    scores = model.score(QUERY, TEXTS)
    total = np.array(scores["wide"]) + 0.25 * np.array(scores["near"])
    assert scores["scores"][0] == pytest.approx(total[0])
    assert scores["scores"][1] < min(scores["scores"][0], scores["scores"][2]) - 1e6  # the place without a document
    assert [part.name for part in model.parts(QUERY, ["le chat"])[0]] == ["near", "wide"]
    ranked = clir("rank", model.path, "--query", QUERY, "--documents", DATA["documents"], "--top", 2)
    assert (ranked.code, len(ranked.out.splitlines())) == (0, 2 * 2), done.err


@pytest.mark.long
def test_an_encoder_with_unbounded_components_is_indexed_and_its_padding_ranks_last(tmp_path: Path, clir: Clir) -> None:
    file = configuration(
        tmp_path,
        model={"encoder": "linear", "similarity": "dot", "initial_scale": 10.0},
        training={"epochs": 1, "learning_rate": 0.01},
        search={"index": True},
    )
    clir("run", file)
    model = newest(tmp_path)
    scores = model.score(QUERY, TEXTS)["scores"]
    assert max(map(abs, (scores[0], scores[2]))) > 64  # beyond the range of tanh's vectors
    assert scores[1] < min(scores[0], scores[2])
    stability = json.loads((tmp_path / "out" / "training" / "stability.json").read_text())
    assert (stability["largest_score"], stability["gradient_bound"], stability["unreachable"]) == (None, None, [])
    (index,) = (tmp_path / "out" / "artifacts" / "CorpusIndexer" / "index").glob("[0-9]*")
    answer = Engine(model, CorpusIndex(str(index)), "1").search(QUERY, 3, with_snippets=False, with_texts=True)
    expected = model.score(QUERY, [hit.text or "" for hit in answer.results])["scores"]
    assert [hit.score for hit in answer.results] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("sections", "fault"),
    [
        (
            {"model": {"scorer": "wide"}},
            "no index can search this score: the score of wide is no inner product; got true",
        ),
        ({"channels": {"near": {"kind": "length"}}}, "the score of near is no inner product; got true"),
    ],
)
def test_a_model_that_cannot_be_indexed_is_refused_before_anything_runs(
    tmp_path: Path, clir: Clir, sections: dict[str, object], fault: str
) -> None:
    done = clir("run", configuration(tmp_path, **sections, search={"index": True}))
    assert (done.code, (tmp_path / "out").exists()) == (2, False)
    assert fault in done.err


@pytest.mark.parametrize(
    ("sections", "fault"),
    [
        (
            {"model": {"scorer": "tall"}},
            "model.scorer: must be one of two_towers, encoder_head, cossim, duet_distributed, wide; got 'tall'",
        ),
        (
            {"model": {"scorer": "wide", "scorer_settings": {"widths": 3}}},
            "must hold settings of wide, width; got 'widths'",
        ),
        (
            {"training": {"objective": "guess"}},
            "training.objective: must be one of lists, in_batch, drawn, guessing; got 'guess'",
        ),
        ({"loss": {"name": "huber", "settings": {"dleta": 1}}}, "must hold settings of huber, delta; got 'dleta'"),
        ({"loss": {"settings": {"delta": 1}}}, "must be empty for sosl; got 'delta'"),
        ({"training": {"optimizer": "adam"}}, "training.optimizer: must be one of lazy_adam; got 'adam'"),
        (
            {"training": {"objective": "lists"}, "loss": {"in_batch": True}},
            "must be in_batch or null where loss.in_batch",
        ),
        ({"model": {"scorer": "wide"}, "loss": {"in_batch": True}}, "must not be in_batch with model.scorer wide"),
        (
            {"channels": {"near": {"kind": "lengths"}}},
            "must be one of lexicon, bm25, tfidf, cl_lsi, encoder, length; got 'lengths'",
        ),
        ({"channels": {"Near": {"kind": "length"}}}, "must be names of lower-case letters, digits and _; got 'Near'"),
        ({"channels": {"smooth_cosine": {"kind": "length"}}}, "must have names of their own; got smooth_cosine"),
        ({"channels": {"words": {"kind": "bm25"}}}, "must not be of the kind bm25, which lexicon.kind chooses"),
        (
            {"channels": {"near": {"kind": "length", "weight": "much"}}},
            "must be a number from 0 to 1e12, fitted or held_out",
        ),
    ],
)
def test_a_choice_that_cannot_be_is_refused_with_its_place(
    tmp_path: Path, clir: Clir, sections: dict[str, object], fault: str
) -> None:
    done = clir("run", configuration(tmp_path, **sections))
    assert done.code == 2
    assert fault in done.err.replace("\n", " ")
