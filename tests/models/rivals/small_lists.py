"""Small lists for the rivals, whose texts are given as terms: of two languages, or of one."""

from models.lexicon.lexicon import Lexicon
from models.lists.ranking_lists import RankingLists
from models.rivals.term_lists import TermLists
from models.texts.tokens import ALL_WORDS
from tests.models.lexicon.small_lexicon import learn
from tests.models.synthetic import text_lists

DOCUMENTS = {"d1": "x y", "d2": "y z z", "d3": "w", "d4": "x w v", "d5": "name u"}
GRADES = {"d1": 2, "d2": 1, "d3": 0, "d4": 0, "d5": 0}


def lists(queries: dict[str, str], grades: dict[str, dict[str, int]]) -> RankingLists:
    """Lists of all documents, whose grades are 0 unless they are given by query."""
    return text_lists(
        (query_id, text, {doc_id: (of, grades[query_id].get(doc_id, 0)) for doc_id, of in DOCUMENTS.items()})
        for query_id, text in queries.items()
    )


TRAIN = lists(
    {"q1": "a b", "q2": "b c", "q3": "d", "q4": "e name"},
    {"q1": {"d1": 2, "d4": 1}, "q2": {"d2": 2, "d1": 1}, "q3": {"d3": 2}, "q4": {"d5": 2}},
)
EVAL = lists({"e1": "a c"}, {"e1": {"d1": 2, "d2": 1}})
TEST = lists({"t1": "d a", "t2": "name"}, {"t1": {"d3": 2, "d4": 1}, "t2": {"d5": 2}})
SPLITS = {"train": TRAIN, "eval": EVAL, "test": TEST}
TRANSLATED = {
    query.encode(): translation.encode()
    for query, translation in {
        "a b": "x y", "b c": "y z", "d": "w", "e name": "u name", "a c": "x z", "d a": "w x", "name": "name",
    }.items()
}  # fmt: skip
"""Each query as a translator gives it."""


def lexicon() -> Lexicon:
    """The lexicon of the train pairs."""
    pairs = [(["a", "b"], ["x", "y"]), (["b", "c"], ["y", "z", "z"]), (["d"], ["w"]), (["e", "name"], ["name", "u"])]
    return learn(pairs, [text.split() for text in DOCUMENTS.values()])


def term_lists(languages: tuple[str, str] = ("en", "fr"), **settings: int) -> TermLists:
    """The lists as the rivals take them."""
    learned = lexicon() if languages[0] != languages[1] else None
    arguments = {"top_grade": 2, "vocabulary_size": 100, "seed": 1, **settings}
    return TermLists.read(
        SPLITS, languages, ALL_WORDS, learned, **arguments, collection=DOCUMENTS.values(), translated=TRANSLATED
    )
