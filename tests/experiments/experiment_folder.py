"""Experiment folders as `clir experiment` leaves them, without a training: random scores, evaluated as a run's are."""

import json
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from models.evaluation.evaluate_lists import evaluate
from models.evaluation.metrics import METRICS
from models.losses.settings import LossSettings
from pipeline.output_folder import OutputFolder
from schemas.provenance import Provenance
from schemas.stability import Stability, Theorem3
from smooth_clir.experiments.report.published import read_published
from tests.models.synthetic import text_lists

QUERIES = 60
GRADES = np.array([2, 1, 1, 1] + [0] * 12)
DISCRIMINATOR = {
    "train/domain_accuracy": 0.75,
    "train/largest_domain_share": 0.5,
    "train/relevance_gradient_norm": 1.5,
    "train/adversary_gradient_norm": 0.0125,
}
"""The figures of an epoch with an adversary."""
QUALITY = {"sosl": 1.0, "three_part_l2": 0.8, "mse": 0.5, "proportional_odds": 0.5, "cnn": 0.6, "lstm": 0.7}
"""Separation of the grades by a setting."""
PROVENANCE = Provenance(
    commit="0123456789abcdef",
    libraries={"python": "3.10.1", "numpy": "1.26.4"},
    data={"data.queries": "a1"},
    code={"Transform": "c1", "Trainer": "c2"},
    settings={"Transform": "s1", "Trainer": "s2"},
)
THEOREM_3 = Theorem3(
    **{"bound": 123.4, "largest_loss": 4.0, "beta": 0.5, "lipschitz": 4.0, "smoothness": 16.0, "pairs": 1000},
    **{"steps": 100, "step_constant": 0.1, "delta": 0.05, "caveat": "A yardstick."},
    sentence="No loss exceeds 4: the bound says nothing.",
)


def write_experiment(
    folder: Path,
    grid: dict[str, list[Any]],
    unfinished: dict[str, tuple[str, str | None]] | None = None,
    cold_queries: int | None = None,
    published: str | None = None,
    **content: Any,
) -> Path:
    """Writes an experiment of every combination of a grid.

    Args:
      folder: where to.
      grid: dotted settings to their values.
      unfinished: cells that have not finished: name to status and reason.
      cold_queries: how many of the queries are on cold documents; None where evaluations do not know.
      published: name of published numbers.
      content: overrides of experiment.json.
    """
    output, names = OutputFolder(folder, "experiment"), []
    for number, values in enumerate(product(*grid.values()), 1):
        settings = dict(zip(grid, values, strict=True))
        words = [f"seed{value}" if key == "training.seed" else str(value) for key, value in settings.items()]
        names.append("-".join([f"{number:03}", *words]))
        status, reason = (unfinished or {}).get(names[-1], ("done", None))
        cell = {"name": names[-1], "settings": settings, "status": status, "reason": reason}
        cell |= {"seconds": 30.0 + number, "peak_memory_bytes": 2**30 + number * 2**25} if status == "done" else {}
        files = {"cell.json": json.dumps(cell)}
        if status == "done":
            files |= _files_of_a_cell(json.dumps(settings), number, cold_queries, (*METRICS,))
        (folder / "cells" / names[-1]).mkdir(parents=True)
        for name, text in files.items():
            (folder / "cells" / names[-1] / name).write_text(text)
    experiment = {
        "title": "Losses on the sample",
        "collection": "sample (English queries, French documents)",
        "grid": grid,
        "cells": names,
        "file": "title: Losses on the sample\ngrid:\n  loss.kind: [sosl, mse]\n",
        "published": published and read_published(published).model_dump(mode="json"),
    }
    output.write("experiment.json", json.dumps({**experiment, **content}))
    return folder


@cache
def _files_of_a_cell(
    settings_json: str, number: int, cold_queries: int | None, metrics: tuple[str, ...]
) -> dict[str, str]:
    """The files of a finished cell, made once; `metrics` are those of the table, to which a test may add one."""
    settings = json.loads(settings_json)
    epsilon = settings.get("channels.towers.epsilon", 1.0)
    quality = np.prod([QUALITY.get(value, 1) for value in settings.values() if isinstance(value, str)])
    quality *= 0.5 + epsilon * np.exp(-epsilon)
    weight = settings.get("adversary.weight", 0)
    quality *= 1 + weight
    generator = np.random.default_rng(number)
    grades = np.concatenate([GRADES, np.zeros(settings.get("data.used_negatives", 0) or 0, int)])
    lists = text_lists(
        (f"q{query:03}", "", {f"{query}-{row}": (f"{query}-{row}", grade) for row, grade in enumerate(grades)})
        for query in range(QUERIES)
    )
    trained = None
    if cold_queries is not None:
        seen = [f"{query}-0" for query in range(cold_queries, QUERIES)]
        trained = text_lists([("t", "train query", {doc_id: (doc_id, 1) for doc_id in seen})])
    scores = [np.tanh(generator.normal(quality * (grades - 1), 0.7)).astype(np.float32) for _ in range(QUERIES)]
    lexicon = {"lexicon": [-list_scores for list_scores in scores]} if "channels.lexicon.kind" in settings else {}
    channels = {"smooth_cosine": scores, **lexicon}
    evaluation = evaluate(lists, scores, {}, top_grade=2, trained=trained, channels=channels)
    for part in (evaluation.report, evaluation.report.seen, evaluation.report.cold):
        if part:
            part.baselines["bm25"] = {key: 0.4 for key in part.metrics}
    loss = LossSettings.model_validate(settings.get("loss.kind", "sosl")).for_grades(2)
    encoder = settings.get("channels.towers.encoder", "mean")
    towers = {"epsilon": epsilon, "encoder": {"kind": encoder}, "similarity": "smooth_cosine"}
    config = {
        **{"preset": settings.get("preset", "paper"), "data": {"top_grade": 2}},
        **{"channels": {"towers": towers, "lexicon": None}, "loss": loss.model_dump(mode="json")},
        **_adversary(settings),
    }
    counts = {
        str(grade): np.histogram(np.concatenate(scores)[np.tile(grades == grade, QUERIES)], 40, (-1, 1))[0].tolist()
        for grade in range(3)
    }
    history = [
        {
            "epoch": epoch,
            "scores": {"limit": 1.0, "counts": counts},
            "train/loss": 1 / (epoch + number),
            "eval/ndcg_5": 0.2 + epoch / (10 + number),
            **(DISCRIMINATOR if weight else {}),
        }
        for epoch in (1, 2, 3)
    ]
    training = {"train_pairs": 30_000, "best_epoch": 2, "best_value": 0.5, "steps": 200, "theta": None}
    training |= {"pairs_per_second": 1e5 + number, "history": history}
    stability = Stability(
        gradient_bound=1 / epsilon if epsilon else None,
        paper_gradient_bound=2 / epsilon if epsilon else None,
        largest_score_gradient=0.31,
        largest_score_gradient_plain_cosine=12.5,
        clipped_share=0.02,
        loss_lipschitz=4.0 if loss.kind == "sosl" else None,
        loss_smoothness=2.0 if loss.kind == "sosl" else None,
        theorem_3=THEOREM_3,
        largest_score=0.64,
        unreachable=("no score reaches the band of MR documents",) if loss.kind == "sosl" else (),
    )
    return {
        **evaluation.files(),
        "config.yaml": yaml.safe_dump(config),
        "training.json": json.dumps(training),
        "stability.json": stability.to_json(),
        "provenance.json": PROVENANCE.to_json(),
    }


def _adversary(settings: dict[str, Any]) -> dict[str, Any]:
    """The section of the configuration, where a setting is of the adversary."""
    section = {"weight": 0.0, "updates": "simultaneous", "held_out_texts": False}
    varied = {key.partition(".")[2]: value for key, value in settings.items() if key.startswith("adversary.")}
    return {"adversary": {**section, **varied}} if varied else {}
