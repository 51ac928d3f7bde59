"""The ranking metrics, by name, with any cutoff.

A metric is a mean over all queries: a query without a relevant document scores 0, and in ordered pairs a query without
a pair 0.5. With K grades, MR is the highest grade K - 1; relevant are only MR documents, or all documents from grade 1
on. Documents with equal scores have no order: the value of a list is the mean over all their orders (see
`models.evaluation.formulas`). trec_eval orders them by id, which would let the name of a copy decide. In random order
all documents have equal scores.

Importing this file does not import TensorFlow.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple, TypeAlias

from pydantic import AfterValidator

from models.evaluation.formulas import (
    AVERAGE_PRECISION,
    NDCG,
    ORDERED_PAIRS,
    PRECISION,
    RECALL,
    RECIPROCAL_RANK,
    Formula,
)
from schemas.relevance import NOT_RELEVANT, PADDING_LABEL
from schemas.settings import did_you_mean

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Measure(NamedTuple):
    """A metric without its cutoff."""

    formula: Formula
    """The computation."""
    definition: str
    """The definition for readers of a report; {cut} stands for the cutoff."""
    cutoffs: Literal["required", "optional", "none"]
    """Whether the metric has a cutoff."""
    mr_only: bool = False
    """Whether only MR documents are relevant, instead of all documents from grade 1 on."""
    left_out: Literal["MR", "SR"] | None = None
    """The documents that are removed from the list; None: no documents."""


MEASURES: Final[Mapping[str, Measure]] = {
    "p_mr": Measure(PRECISION, "precision of MR documents at {cut}; divides by {cut} even where a list is shorter.",
                    "required", mr_only=True),
    "recall_mr": Measure(RECALL, "share of MR documents among the first {cut}.", "required", mr_only=True),
    "p_r": Measure(PRECISION, "precision of MR and SR documents at {cut}; divides by {cut} even where a list is "
                   "shorter.", "required"),
    "recall": Measure(RECALL, "share of MR and SR documents among the first {cut}.", "required"),
    "ndcg": Measure(NDCG, "linear gain (the grade), discount 1/log2(1 + rank), {cut}; the ideal order is by grade.",
                    "optional"),
    "map": Measure(AVERAGE_PRECISION, "mean average precision over the whole list; MR and SR documents are relevant.",
                   "none"),
    "mrr_mr": Measure(RECIPROCAL_RANK, "mean reciprocal rank of the first MR document; {cut}.", "optional",
                      mr_only=True),
    "mrr_r": Measure(RECIPROCAL_RANK, "mean reciprocal rank of the first MR or SR document; {cut}.", "optional"),
    "ordered_pairs": Measure(ORDERED_PAIRS, "share of the pairs of documents with different grades that are in the "
                             "right order; 0.5 without a pair.", "none"),
    "ordered_pairs_mr": Measure(ORDERED_PAIRS, "the same of the pairs of an MR and an NR document.", "none",
                                mr_only=True, left_out="SR"),
    "ordered_pairs_sr": Measure(ORDERED_PAIRS, "the same without MR documents: the pairs of an SR and an NR document, "
                                "and of SR documents of two grades.", "none", left_out="MR"),
}  # fmt: skip
"""All measures by the metric's name without its cutoff."""

_PAPER_NAMES: Final = {
    "p_mr_1": "P_mr@1",
    "recall_mr_5": "P_mr@5",
    "p_r_5": "P_r@5",
    "ndcg_5": "NDCG@5",
    "map": "MAP",
    "mrr_mr": "MRR_mr",
    "mrr_r": "MRR_r",
}
IR_MEASURES: Final = {"P": "p_r", "R": "recall", "nDCG": "ndcg", "AP": "map", "RR": "mrr_r"}
"""From names in the library ir_measures to measures."""


@dataclass(frozen=True)
class Metric:
    """A measure with its cutoff.

    Attributes:
      measure: the name of the measure.
      cutoff: the number of documents that count, from the top; None for all.

    Example:
      >>> Metric.parse("p_mr_1").expected([[2, 1, 0, 0]], top_grade=2)  # an MR document in one of four ranks
      0.25
    """

    measure: str
    cutoff: int | None = None

    @classmethod
    def parse(cls, name: str) -> "Metric":
        """Returns the metric with a name of ours or of ir_measures.

        Raises:
          ValueError: the metric is unknown, or must not have this cutoff.

        Example:
          >>> [Metric.parse(name).key for name in ("ndcg@20", "ndcg_20", "nDCG@20", "AP", "RR@10")]
          ['ndcg_20', 'ndcg_20', 'ndcg_20', 'map', 'mrr_r_10']
        """
        match = re.fullmatch(r"([A-Za-z_]+?)(?:[@_]([1-9][0-9]{0,3}))?", name)
        measure = IR_MEASURES.get(match[1], match[1]) if match else ""
        cutoff = int(match[2]) if match and match[2] else None
        if measure not in MEASURES:
            names = ", ".join(f"{key}@K" if part.cutoffs == "required" else key for key, part in MEASURES.items())
            raise ValueError(f"must be one of {names}; got {name!r}{did_you_mean(name, [*METRICS, *SEARCH_METRICS])}")
        cutoffs = MEASURES[measure].cutoffs
        if cutoffs == "required" and cutoff is None:
            raise ValueError(f"must have a cutoff, such as {measure}@5; got {name!r}")
        if cutoffs == "none" and cutoff is not None:
            raise ValueError(f"must be {measure}, which has no cutoff; got {name!r}")
        return cls(measure, cutoff)

    @property
    def key(self) -> str:
        """The name in settings and files."""
        return self.measure + (f"_{self.cutoff}" if self.cutoff else "")

    @property
    def paper_name(self) -> str | None:
        """The name in the paper; None for a metric that the paper lacks."""
        return _PAPER_NAMES.get(self.key)

    @property
    def name(self) -> str:
        """The name for readers: the paper's name, else the key."""
        return self.paper_name or self.key

    @property
    def definition(self) -> str:
        """The definition for readers of a report."""
        if self.key == "p_mr_1":
            return "share of queries with the MR document at rank 1."
        required = MEASURES[self.measure].cutoffs == "required"
        cut = str(self.cutoff) if required else f"cut off at {self.cutoff}" if self.cutoff else "no cutoff"
        return MEASURES[self.measure].definition.format(cut=cut)

    def expected(self, tied: Sequence[Sequence[int]], top_grade: int) -> float:
        """The exact mean over all orders of documents with equal scores.

        Args:
          tied: the grades of the documents with each score, in any order, the highest score first.
          top_grade: the MR grade.
        """
        measure = MEASURES[self.measure]
        if measure.left_out:
            tied = [[grade for grade in grades if not self._leaves_out(grade, top_grade)] for grades in tied]
        if measure.mr_only:
            tied = [[int(grade == top_grade) for grade in grades] for grades in tied]
        return measure.formula.expectation([grades for grades in tied if grades], self.cutoff)

    def labels(self, grades: "npt.NDArray[np.float32]", top_grade: int) -> "npt.NDArray[np.float32]":
        """The grades as the formula takes them.

        Args:
          grades: float32 [lists, list_size], padded with PADDING_LABEL.
          top_grade: the MR grade.

        Returns:
          float32 [lists, list_size]: 1 and 0 where only MR documents are relevant, and PADDING_LABEL for left-out
          documents. Up to the cutoff, padding counts as irrelevant documents: P@5 divides by 5.
        """
        import numpy as np

        measure = MEASURES[self.measure]
        labels: npt.NDArray[np.float32] = grades.copy()
        if self.cutoff:
            labels[:, : self.cutoff] = np.maximum(labels[:, : self.cutoff], NOT_RELEVANT)
        if measure.left_out:
            labels[self._leaves_out(labels, top_grade)] = PADDING_LABEL
        if measure.mr_only:
            labels[:] = np.where(labels < NOT_RELEVANT, labels, labels == top_grade)
        return labels

    def _leaves_out(self, grades: Any, top_grade: int) -> Any:
        """Whether a grade, or each grade of an array, is left out."""
        is_mr = grades == top_grade
        is_left_out = MEASURES[self.measure].left_out
        return is_mr if is_left_out == "MR" else (grades > NOT_RELEVANT) & (grades < top_grade)


def _by_key(*names: str) -> dict[str, Metric]:
    metrics = (Metric(match[1], int(match[2]) if match[2] else None) for match in map(_KEY.fullmatch, names) if match)
    return {metric.key: metric for metric in metrics}


_KEY: Final = re.compile(r"([a-z_]+?)(?:_([0-9]+))?")

METRICS: Final = _by_key(
    *("p_mr_1", "recall_mr_5", "p_r_5", "ndcg_5", "map", "mrr_mr", "mrr_r"),
    *("p_r_10", "ordered_pairs", "ordered_pairs_mr", "ordered_pairs_sr"),
)
"""The metrics of lists in every report: the paper's in its order, then those of Polynomial Semantic Indexing (Bai et
al. 2009)."""
SEARCH_METRICS: Final = _by_key(
    *("p_mr_1", "ndcg_5", "ndcg_10", "ndcg_20", "mrr_mr", "mrr_r"),
    *("recall_mr_10", "recall_10", "recall_100", "recall_1000"),
)
"""The metrics of a search of the whole collection, see `models.evaluation.search_metrics`."""


def metric_key(name: str) -> str:
    """Returns the key of a metric; see `Metric.parse`."""
    return Metric.parse(name).key


MetricName: TypeAlias = Annotated[str, AfterValidator(metric_key)]
"""A setting that names a metric, with any cutoff."""


def with_metrics(*names: str) -> list[str]:
    """Returns the keys of `METRICS` and of further metrics, without duplicates."""
    return list(dict.fromkeys([*METRICS, *names]))
