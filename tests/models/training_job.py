"""A training's job, of which a test gives only what it is about."""

from typing import Any

from models.job import TrainingJob
from schemas.word_rules import WordRules


def training_job(**settings: Any) -> TrainingJob:
    """The job of a training on English queries and French documents."""
    return TrainingJob(**{"languages": ("en", "fr"), "rules": WordRules(), "top_grade": 2, **settings})
