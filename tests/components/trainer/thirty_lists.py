"""Thirty lists that a ranker learns in a few steps, and the stages of a configuration that train on them."""

from collections.abc import Callable
from typing import Any, Final

DOMAINS: Final = ("arts", "places", "science")
TOPICS: Final = {
    "painter canvas museum": "peintre toile musée",
    "river bridge valley": "rivière pont vallée",
    "planet orbit telescope": "planète orbite télescope",
    "violin concert melody": "violon concert mélodie",
    "harbour island sailor": "port île marin",
    "volcano lava crater": "volcan lave cratère",
    "novel poet library": "roman poète bibliothèque",
    "desert dune camel": "désert dune chameau",
    "whale plankton reef": "baleine plancton récif",
    "theatre actor stage": "théâtre acteur scène",
}
"""The words of a topic's queries, and those of its documents; topic k belongs to domain k % 3."""
QUERIES: Final = ("the {} and a {}", "its {} near the {}", "{} or {} with a new word")


def _document(topic: int, other: int) -> str:
    words = [*TOPICS.values()]
    return f"Un texte de {words[topic]}, l'un des {words[other].split()[0]} d'hier."


DOCUMENTS: Final = {
    **{f"d{topic}": _document(topic, topic) for topic in range(len(TOPICS))},
    **{f"e{topic}": _document((topic + 1) % len(TOPICS), topic) for topic in range(len(TOPICS))},
}
"""Document d of a topic is all its own and most relevant; document e has one of its words and is somewhat relevant."""


def lists_of(number: int, held_out_grades: Callable[[int], int] = lambda grade: grade) -> dict[str, Any]:
    """The lists of a split: query id to (text, {document id: (text, grade)})."""
    lists = {}
    for row in range(number):
        topic, form = row % len(TOPICS), row // len(TOPICS)
        words = [*TOPICS][topic].split()
        domain = DOMAINS[topic % 3]
        grades = {f"d{topic}": 2, f"e{topic}": 1, f"d{(topic + 3) % 10}": 0, f"e{(topic + 5) % 10}": 0}
        if domain == DOMAINS[2]:
            grades = {doc_id: held_out_grades(grade) for doc_id, grade in grades.items()}
        text = QUERIES[form].format(words[form], words[(form + 1) % 3])
        lists[f"{domain}/{row}"] = (text, {doc_id: (DOCUMENTS[doc_id], grade) for doc_id, grade in grades.items()})
    return lists
