"""Relevance grades of WikiCLIR (Sasaki et al. 2018), their names, and the label of padding.

A collection may have more grades, or two: they are 0 .. `data.top_grade`, and the highest is the MR grade.
"""

from typing import Final

NOT_RELEVANT: Final = 0
"""NR: a document drawn at random."""
SOMEWHAT_RELEVANT: Final = 1
"""SR: a document with mutual links to the MR document."""
MOST_RELEVANT: Final = 2
"""MR: the document with the inter-language link to the query's page."""

MAX_GRADE: Final = 100
"""The largest `data.top_grade`."""

PADDING_LABEL: Final = -1
"""The label of padding in a list (TF-Ranking's convention)."""


def grade_name(grade: int, top_grade: int) -> str:
    """The name of a grade: MR for the top grade, NR for 0, SR between.

    Example:
      >>> [grade_name(grade, 2) for grade in range(3)], grade_name(1, 3)
      (['NR', 'SR', 'MR'], 'SR, grade 1')
    """
    return "MR" if grade == top_grade else "NR" if grade == 0 else "SR" if top_grade == 2 else f"SR, grade {grade}"
