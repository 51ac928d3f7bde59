"""The measures of run files, by the names and with the values of ir_measures.

Documents are ordered as trec_eval orders them: score descending as float32, ties by document id descending. Documents
without a judgment are not relevant, and a query that a run lacks scores 0.

Importing this file does not import TensorFlow.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from models.evaluation.metrics import IR_MEASURES, MEASURES

Judgments: TypeAlias = Mapping[str, Mapping[str, int]]
"""query_id to doc_id to grade, not below 0."""
Scores: TypeAlias = Mapping[str, Mapping[str, float]]
"""query_id to doc_id to score."""

_NAME: Final = re.compile(rf"({'|'.join(IR_MEASURES)})(?:\(rel=([1-9][0-9]{{0,2}})\))?(?:@([1-9][0-9]{{0,3}}))?")


class RunMeasure(NamedTuple):
    """A measure of a ranking in which documents may be missing.

    Example:
      >>> RunMeasure.parse("nDCG@2").value(["d3", "d1"], {"d1": 2, "d2": 1})  # gain 2 / log2(3), ideal 2 + 1 / log2(3)
      0.4796...
    """

    name: str
    """The name in ir_measures."""
    measure: str
    """A key of `MEASURES`."""
    cutoff: int | None
    """The number of documents that count, from the top; None for all."""
    min_grade: int | None
    """The lowest grade of a relevant document; None where the measure reads grades."""

    @classmethod
    def parse(cls, name: str) -> "RunMeasure":
        """Returns the measure with a name of ir_measures.

        Raises:
          ValueError: the measure is unknown, lacks a cutoff, or cannot have a lowest grade.

        Example:
          >>> RunMeasure.parse("RR(rel=2)@10")
          RunMeasure(name='RR(rel=2)@10', measure='mrr_r', cutoff=10, min_grade=2)
        """
        match = _NAME.fullmatch(name)
        if match is None:
            raise ValueError(
                f"must be one of {', '.join(IR_MEASURES)}, such as nDCG@10, AP, RR(rel=2) or R@100; got {name!r}"
            )
        measure, min_grade, cutoff = IR_MEASURES[match[1]], match[2], match[3]
        if MEASURES[measure].cutoffs == "required" and cutoff is None:
            raise ValueError(f"must have a cutoff, such as {name}@10; got {name!r}")
        if measure == "ndcg" and min_grade is not None:
            raise ValueError(f"must be nDCG without a lowest grade, because it reads all grades; got {name!r}")
        grade = None if measure == "ndcg" else int(min_grade or 1)
        return cls(name, measure, int(cutoff) if cutoff else None, grade)

    def value(self, ranked: Sequence[str], judged: Mapping[str, int]) -> float:
        """The value of a query.

        Args:
          ranked: the ids of the documents, the best first.
          judged: doc_id to grade.
        """
        grades = judged
        if self.min_grade is not None:
            grades = {doc_id: int(grade >= self.min_grade) for doc_id, grade in judged.items()}
        first = ranked[: self.cutoff]
        missed = [grades[doc_id] for doc_id in grades.keys() - set(first)]
        # Missed documents stand beyond the cutoff, so that they count for the ideal order and for recall alone.
        cutoff = self.cutoff or len(first) + len(missed)
        padded = [grades.get(doc_id, 0) for doc_id in first] + [0] * (cutoff - len(first))
        return MEASURES[self.measure].formula.expectation([[grade] for grade in [*padded, *missed]], cutoff)


def values_of_run(
    scores: Scores, judgments: Judgments, measures: Sequence[RunMeasure]
) -> dict[str, npt.NDArray[np.float64]]:
    """The value of every measure for every judged query.

    Args:
      scores: the run.
      judgments: the judgments, at least one for each query.
      measures: the measures.

    Returns:
      name to float [queries], in the order of the judgments.
    """
    values = np.zeros((len(measures), len(judgments)))
    for column, (query_id, judged) in enumerate(judgments.items()):
        ranked = _ranked(scores.get(query_id, {}))
        values[:, column] = [measure.value(ranked, judged) for measure in measures]
    return {measure.name: row for measure, row in zip(measures, values, strict=True)}


def _ranked(scores: Mapping[str, float]) -> list[str]:
    """Returns the documents of a query, the best first."""
    with np.errstate(over="ignore"):
        keys = np.fromiter(scores.values(), np.float64).astype(np.float32).tolist()
    return [doc_id for _, doc_id in sorted(zip(keys, scores, strict=True), reverse=True)]
