"""Relevance grades of WikiCLIR (Sasaki et al. 2018) and what a label may be.

A collection may have more grades, or two: they are 0 .. `data.top_grade`, and the highest is the MR grade.
"""

from typing import Final

NOT_RELEVANT: Final = 0
"""NR: a document drawn at random."""
SOMEWHAT_RELEVANT: Final = 1
"""SR: a document with mutual links to the MR document."""
MOST_RELEVANT: Final = 2
"""MR: the document with the inter-language link to the query's page."""

PADDING_LABEL: Final = -1
"""The label of a place in a padded list that holds no document (TF-Ranking's convention)."""
