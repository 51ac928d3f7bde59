"""Compares the scores of a served model with those of the evaluator."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from models.choices import SCORES
from models.exported.model import ExportedModel
from models.lists.feedback import Feedback, similarity_of
from models.lists.ranking import rank
from schemas import file_system
from schemas.errors import DataError
from schemas.passages import is_first_passage
from schemas.record_files import parse_role
from schemas.wikiclir import Text

TOLERANCE: Final = 1e-6
"""Documents whose scores are this close may swap: sums in another order differ in their last digits. A second pass
multiplies these differences by its gain."""

_ANY_GRADE: Final = 1


@dataclass(frozen=True)
class ScoredDocument:
    """A document's two scores for a query."""

    doc_id: str
    evaluated: float
    served: float


@dataclass(frozen=True)
class Inversion:
    """Two documents of a query whose order differs between the evaluator and the served model."""

    query_id: str
    above: ScoredDocument
    """The document that the evaluator ranks higher."""
    below: ScoredDocument


@dataclass(frozen=True)
class Replay:
    """The result of a replay.

    Attributes:
      lists, documents: numbers of lists and documents that were scored again; a document counts once for each list.
      largest_difference: largest difference between the two scores of a document.
      inversions: the inversion of each list whose evaluated scores are furthest apart, if there is one.
    """

    lists: int
    documents: int
    largest_difference: float
    inversions: list[Inversion]


def replay_scores(
    model: ExportedModel,
    run: Mapping[str, Mapping[str, float]],
    queries: Mapping[str, str],
    documents: Mapping[str, str],
    feedback: Feedback,
) -> Replay:
    """Asks a served model for the scores of a run, list by list, and adds the second pass.

    Args:
      model: the served model.
      run: the evaluator's scores: query_id to doc_id to score.
      queries, documents: the text of each id in the run.
      feedback: the second pass.

    Raises:
      DataError: the model cannot be reached, or a score is not finite.
    """
    size, largest, inversions = 0, 0.0, []
    for query_id, ranked in run.items():
        parts = [part for doc_id in ranked for part in model.split(Text(doc_id, "", documents[doc_id], 1))]
        texts = [part.text for part in parts]
        inputs = {"query": np.array([queries[query_id]], object), "documents": np.array([texts], object)}
        served = model.call("score", inputs)[SCORES][0]
        if not np.isfinite(served).all():
            raise DataError(f"the served scores of query {query_id} must be finite; got {served.min()}.")
        if feedback.gain:
            order = rank(served, [part.id.encode() for part in parts])
            served = served + feedback.added(served, order, similarity_of(model.own_vectors(texts)[1]))
        # A document has the score of its best passage.
        served = np.maximum.reduceat(served, [row for row, part in enumerate(parts) if is_first_passage(part.id)])
        evaluated = np.array([*ranked.values()], np.float64)
        size += len(ranked)
        largest = max(largest, float(np.abs(served - evaluated).max()))
        documents_of_inversion = _furthest_inversion([*ranked], evaluated, served, TOLERANCE * (1 + feedback.gain))
        if documents_of_inversion:
            inversions.append(Inversion(query_id, *documents_of_inversion))
    return Replay(len(run), size, largest, inversions)


def _furthest_inversion(
    doc_ids: list[str], evaluated: npt.NDArray[np.float64], served: npt.NDArray[np.float32], tolerance: float
) -> tuple[ScoredDocument, ScoredDocument] | None:
    """Returns the inversion whose evaluated scores are furthest apart, if by more than the tolerance."""
    order = rank(served, [doc_id.encode() for doc_id in doc_ids])
    ranked = evaluated[order]
    min_before = np.minimum.accumulate(ranked)  # the minimum over each document and those served above it
    position = int(np.argmax(ranked - min_before))
    if ranked[position] - min_before[position] <= tolerance:
        return None
    above, below = order[position], order[np.argmin(ranked[:position])]
    first, second = (ScoredDocument(doc_ids[row], float(evaluated[row]), float(served[row])) for row in (above, below))
    return first, second


def read_texts(role: str, files: Iterable[str], ids: Collection[str]) -> dict[str, str]:
    """Returns the texts of the records with these ids, as ingestion reads them.

    Args:
      role: queries or documents.
      files: the role's files, in order.
      ids: ids of the needed records.

    Raises:
      DataError: the files lack one of the records.
    """
    files, texts, seen_ids = [*files], dict[str, str](), set[str]()
    for file in files:
        with file_system.open_file(file, "rb") as stream:
            for record in parse_role(role, stream, file, _ANY_GRADE, seen_ids):
                if isinstance(record, Text) and record.id in ids:
                    texts[record.id] = record.text
    missing = [record_id for record_id in ids if record_id not in texts]
    if missing:
        raise DataError(f"{' and '.join(files)} must hold the {role} of the run; {missing[0]!r} is missing.")
    return texts
