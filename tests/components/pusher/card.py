"""Small inputs of a model's card."""

from models.evaluation.metrics import METRICS
from pipeline.config import RunConfig, without_folders
from schemas.cut_texts import CutReport, CutTexts
from schemas.evaluation import EvaluationReport, PartReport
from schemas.training_history import Epoch, ScoreCounts, TrainingHistory

SETTINGS = without_folders(
    RunConfig.model_validate(
        {
            "preset": "best",
            "channels": {"lexicon": "lexicon"},
            "feedback": {"gain": 0},
            "data": {
                "queries": "/home/me/secret/wiki_en.queries",
                "documents": "/home/me/secret/wiki|fr`.documents",
                "judgments": "/home/me/secret/en2fr.rel",
                "query_language": "en",
                "document_language": "fr",
                "sha256": {"queries": "ab12"},
            },
            "output": "/home/me/runs/out",
        }
    )
)
DATA = {
    "files": {
        "queries": {"path": "/home/me/secret/wiki_en.queries", "read": 1200, "used": 1190, "drops": []},
        "documents": {"path": "/home/me/secret/wiki|fr`.documents", "read": 300, "used": 300, "drops": []},
    },
    "lists": {"train": 700, "eval": 240, "test": 250},
}


CUT = CutReport(
    limit=200,
    queries=CutTexts(texts=1000, words=9_000),
    documents=CutTexts(texts=300, cut_texts=60, words=80_000, cut_words=8_000),
)
"""Exactly a tenth of the documents' words is cut."""


def history(searched=None, fitted=None) -> TrainingHistory:
    """Three epochs, the second of which is the best."""
    rows = [Epoch(epoch=number, scores=ScoreCounts(limit=1, counts={})) for number in (1, 2, 3)]
    return TrainingHistory(
        train_pairs=31_000,
        best_epoch=2,
        best_value=0.75,
        history=rows,
        pairs_per_second=9.0,
        steps=6,
        theta=None,
        searched=searched or {},
        fitted=fitted or {},
    )


def report(seen=250, cold=0) -> EvaluationReport:
    """The report of this many queries on seen and on cold documents."""

    def part(queries: int) -> PartReport:
        values = dict.fromkeys(METRICS, 0.5) if queries else {}
        return PartReport(queries=queries, metrics=values, reachable=values, baselines={"random": values})

    return EvaluationReport(
        split="test",
        queries=seen + cold,
        queries_without_relevant_document=0,
        paper_names={},
        metrics=dict.fromkeys(METRICS, 0.8),
        reachable=dict.fromkeys(METRICS, 1.0),
        baselines={"random": dict.fromkeys(METRICS, 0.1), "bm25": dict.fromkeys(METRICS, 0.4)},
        channels={"lexicon": dict.fromkeys(METRICS, 0.7)},
        seen=part(seen),
        cold=part(cold),
    )
