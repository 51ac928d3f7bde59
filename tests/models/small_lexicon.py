"""A small exported model with a channel of words that match."""

from pathlib import Path
from typing import Final

from models.exported.export import export_ranker
from models.lexicon.learn_lexicon import learn_lexicon
from models.lexicon.lexicon import Kind
from models.lists.feedback import FIRST_PASS, Feedback
from models.rankers.ranker import Ranker
from models.texts.tokens import ALL_WORDS
from schemas.passages import PassageSettings
from schemas.word_rules import WordRules
from tests.models.lexicon.small_lexicon import make_channel
from tests.models.made_once import made_once
from tests.models.small_model import features_of, small_text_features, small_towers

PAIRS: Final = (
    ("white cat", "chat blanc"),
    ("dog", "chien"),
    ("white dog", "un chien blanc"),
    ("cat", "un chat"),
    ("white moon", "lune blanc"),
    ("moon over ararat", "lune sur ararat"),
)
"""The towers know the words of the first four alone, and neither knows `un` of queries."""
COLLECTION: Final = [*(document for _, document in PAIRS), "chat chat chat noir", "ararat", "un loup"]


def export_with_words(
    path: Path,
    kind: Kind = "lexicon",
    weight: float = 0.5,
    rules: WordRules = ALL_WORDS,
    languages: tuple[str, str] = ("en", "fr"),
    pairs: tuple[tuple[str, str], ...] = PAIRS,
    feedback: Feedback = FIRST_PASS,
    passages: PassageSettings | None = None,
) -> str:
    """Writes an untrained ranker with such a channel as a SavedModel, and the files of its words beside it."""
    made_once(_export, path, kind, weight, rules, languages, pairs, feedback, passages)
    return str(path)


def _export(
    path: Path,
    kind: Kind,
    weight: float,
    rules: WordRules,
    languages: tuple[str, str],
    pairs: tuple[tuple[str, str], ...],
    feedback: Feedback,
    passages: PassageSettings | None,
) -> None:
    text_features = small_text_features(path.parent, rules=rules)
    channel = make_channel(learn_lexicon(kind, languages, rules, pairs, COLLECTION))
    towers = small_towers(initial_scale=1.0)
    towers(features_of(text_features, ["cat"], [["chat"]]))
    ranker = Ranker({"smooth_cosine": towers, kind: channel}, {"smooth_cosine": 1.0, kind: weight})
    export_ranker(ranker, text_features, str(path), feedback=feedback, passages=passages)
