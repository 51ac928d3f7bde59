"""What a run costs: sums of quantities of the collection, each with a coefficient that was fitted."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pipeline.estimate.collection_size import CollectionSize
    from pipeline.estimate.training_step import TrainingStep

ONCE: Final = "once"
WITH_LEXICON: Final = "with a lexicon"
DOCUMENTS: Final = "million documents"
DOCUMENT_WORDS: Final = "million words of all documents"
LEXICON_DOCUMENT_WORDS: Final = "million words of all documents, with a lexicon"
LISTED_WORDS: Final = "million words of listed documents"
LISTS: Final = "million lists"
TEST_LISTS: Final = "million test lists"
LEXICON_TEST_LISTS: Final = "million test lists, with a lexicon"
TEST_WORDS: Final = "million words of test lists"
LEXICON_TEST_WORDS: Final = "million words of test lists, with a lexicon"
LEXICON_EVAL_WORDS: Final = "million words of eval lists, with a lexicon"
PAIRS: Final = "million pairs"
CANDIDATES: Final = "million candidates"
WEIGHTS: Final = "million weights"
EPOCHS: Final = "epoch"
DOCUMENT_BYTES: Final = "GB of documents"
LISTED_BYTES: Final = "GB of listed documents"

STAGES_OF_PART: Final[Mapping[str, tuple[str, ...]]] = {
    "data": (
        "inputs", "CollectionGen", "WikiClirExampleGen", "ImportSchemaGen", "StatisticsGen", "ExampleValidator",
        "Transform",
    ),
    "BM25": ("LexicalBaseline",),
    "lexicon": ("LexiconGen",),
    "training": ("Trainer",),
    "paper's training": ("PaperTrainer",),
    "evaluation": ("TrainingReport", "TrainedBaseline", "Evaluator", "Gate", "Pusher"),
    "index": ("CorpusIndexer", "IndexPusher", "SearchEvaluator"),
}  # fmt: skip
"""The parts of a run, and the stages that they are."""

QUANTITIES_OF_PART: Final[Mapping[str, tuple[str, ...]]] = {
    "start": (ONCE,),
    "data": (ONCE, DOCUMENT_WORDS, LISTED_WORDS, PAIRS, CANDIDATES),
    "BM25": (ONCE, DOCUMENT_WORDS, TEST_WORDS),
    "lexicon": (ONCE, DOCUMENT_WORDS, LISTS),
    "training": (ONCE, WITH_LEXICON, EPOCHS, PAIRS, LEXICON_EVAL_WORDS),
    "evaluation": (ONCE, TEST_LISTS, LEXICON_TEST_WORDS),
    "index": (ONCE, DOCUMENTS, LEXICON_DOCUMENT_WORDS, TEST_LISTS, LEXICON_TEST_LISTS),
    "memory": (ONCE, DOCUMENT_WORDS, LISTED_WORDS, PAIRS, WEIGHTS),
    "disk": (ONCE, DOCUMENT_BYTES, LISTED_BYTES, PAIRS, WEIGHTS),
    "disk of the index": (ONCE, DOCUMENTS, LEXICON_DOCUMENT_WORDS),
}
"""What each part's seconds are fitted to, or the bytes of memory and disk. Training's come on top of its steps."""

COSTS: Final[Mapping[str, Mapping[str, float]]] = {
    "start": {ONCE: 3.32},
    "data": {ONCE: 1.93, DOCUMENT_WORDS: 0.226, LISTED_WORDS: 0.114, PAIRS: 20.2, CANDIDATES: 5.89},
    "BM25": {ONCE: 0.282, DOCUMENT_WORDS: 0.093, TEST_WORDS: 0.0727},
    "lexicon": {ONCE: 0.454, DOCUMENT_WORDS: 0.187, LISTS: 109},
    "training": {ONCE: 1.51, WITH_LEXICON: 3.17, EPOCHS: 0.0681, PAIRS: 9.09, LEXICON_EVAL_WORDS: 0.98},
    "evaluation": {ONCE: 0.708, TEST_LISTS: 1_260, LEXICON_TEST_WORDS: 0.661},
    "index": {
        ONCE: 1.46,
        DOCUMENTS: 86.5,
        LEXICON_DOCUMENT_WORDS: 1.47,
        TEST_LISTS: 1_000,
        LEXICON_TEST_LISTS: 14_400,
    },
    "memory": {ONCE: 9.5e8, LISTED_WORDS: 1.3e7, PAIRS: 2.17e7, WEIGHTS: 2.96e7},
    "disk": {DOCUMENT_BYTES: 7.28e8, LISTED_BYTES: 1.1e9, PAIRS: 3.63e7, WEIGHTS: 5.42e6},
    "disk of the index": {ONCE: 7.4e6, DOCUMENTS: 1.65e9, LEXICON_DOCUMENT_WORDS: 2.68e7},
}
"""By part: the seconds, or bytes, that one of a quantity takes. `benchmarks/estimate.py` fits them."""


def quantities(size: "CollectionSize", step: "TrainingStep", has_lexicon: bool) -> dict[str, float]:
    """The quantities of a run.

    Args:
      size: of its collection.
      step: of its training.
      has_lexicon: whether the score has a channel of words that match.
    """
    number = {
        DOCUMENTS: size.documents,
        LISTS: sum(size.lists.values()),
        TEST_LISTS: size.lists["test"],
        PAIRS: sum(size.pairs.values()),
        CANDIDATES: size.candidates,
        WEIGHTS: step.weights,
        DOCUMENT_WORDS: size.documents * size.document_words,
        LISTED_WORDS: sum(size.pairs.values()) * size.document_words,
        TEST_WORDS: size.pairs["test"] * size.document_words,
    }
    of_lexicon = {
        LEXICON_DOCUMENT_WORDS: number[DOCUMENT_WORDS],
        LEXICON_EVAL_WORDS: size.pairs["eval"] * size.document_words,
        LEXICON_TEST_LISTS: size.lists["test"],
        LEXICON_TEST_WORDS: number[TEST_WORDS],
    }
    return {
        ONCE: 1.0,
        EPOCHS: step.epochs,
        WITH_LEXICON: float(has_lexicon),
        DOCUMENT_BYTES: size.document_bytes / 1e9,
        LISTED_BYTES: size.document_bytes / max(size.documents, 1) * sum(size.pairs.values()) / 1e9,
        **{name: count / 1e6 for name, count in number.items()},
        **{name: has_lexicon * count / 1e6 for name, count in of_lexicon.items()},
    }


def cost(part: str, of: Mapping[str, float]) -> float:
    """The seconds of a part on the reference machine, or the bytes of `memory` and `disk`.

    Args:
      part: of `QUANTITIES_OF_PART`.
      of: the quantities.
    """
    return sum(coefficient * of[name] for name, coefficient in COSTS[part].items())
