"""A small collection: 40 queries, each with one MR and two SR documents among 60."""

import pytest

QUERIES = [f"{q}\tTitle {q}\tThe text of query {q}" for q in range(40, 0, -1)]  # the file's order is not that of ids
DOCUMENTS = [f"d{d}\tTitre {d}\tLe texte du document {d}" for d in range(60)]
JUDGMENTS = [f"{q}\td{q + place}\t{grade}" for q in range(1, 41) for place, grade in enumerate([2, 1, 1])]


@pytest.fixture(scope="session")
def collection() -> dict[str, list[str]]:
    """The lines of each role's file."""
    return {"queries": QUERIES, "documents": DOCUMENTS, "judgments": JUDGMENTS}
