"""The second pass of a ranker, fitted on the eval split."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from scipy import sparse

from models.choices import FITTED
from models.evaluation.fit_number import MIN_GROWTH, EvalMetrics, best_number
from models.lists.feedback import Feedback, unit_vectors
from models.lists.ranking_lists import RankingLists
from models.rankers.sparse_inner_product import SparseInnerProduct
from models.settings import FeedbackSettings
from models.texts.term_matrix import TermMatrix
from schemas.training_history import Fitted

GAINS: Final = (0.0, 2.0, 4.0, 8.0, 12.0, 20.0, 30.0, 50.0)
DOCUMENTS: Final = (1, 2, 3, 5)

_BATCH: Final = 1024


def fit_second_pass(
    lists: RankingLists,
    scores: Sequence[npt.NDArray[np.float32]],
    vectors: sparse.csr_matrix,
    settings: FeedbackSettings,
    top_grade: int,
) -> tuple[Feedback, dict[str, Fitted]]:
    """Fits the numbers of the second pass that are `fitted`, together, by the largest ndcg_5 + 0.1 p_mr_1.

    The candidates are `GAINS` and `DOCUMENTS`; among equally good ones the smallest gain is taken, and then the
    smallest number of documents. A fitted gain is 0 unless another adds `MIN_GROWTH`. Never on the test split.

    Args:
      lists: lists of the eval split.
      scores: the scores of the lists' documents: [lists], each float32 [list_size].
      vectors: unit vectors of the documents' own terms, float32 [documents, terms].
      settings: the numbers, or `fitted`.
      top_grade: the MR grade.

    Returns:
      the second pass, and each fitted number by its setting, with its curve at the best value of the other number.
    """
    gains = GAINS if settings.gain == FITTED else (float(settings.gain),)
    documents = DOCUMENTS if settings.documents == FITTED else (int(settings.documents),)
    # The added scores are proportional to the gain.
    added = {number: Feedback(1.0, number).added_to_lists(lists, scores, vectors) for number in documents}

    def metrics(gain: float, number: int) -> EvalMetrics:
        second = [first + np.float32(gain) * part for first, part in zip(scores, added[number], strict=True)]
        return EvalMetrics.measure(lists, second, top_grade)

    tried = {(gain, number): metrics(gain, number) for gain in gains for number in documents}
    best = Feedback(*max(tried, key=lambda numbers: tried[numbers].value + (0 if numbers[0] else MIN_GROWTH)))
    fitted = {}
    if settings.gain == FITTED:
        curve = best_number({gain: tried[gain, best.documents] for gain in gains})
        fitted["feedback.gain"] = curve.model_copy(update={"value": best.gain})
    if settings.documents == FITTED:
        fitted["feedback.documents"] = best_number({number: tried[best.gain, number] for number in documents})
    return best, fitted


def own_vectors(channel: SparseInnerProduct, texts: tf.Tensor) -> sparse.csr_matrix:
    """Returns unit vectors of the documents' own terms, as in the exported model.

    Args:
      channel: the channel of matching words.
      texts: string [documents].

    Returns:
      float32 [documents, terms].
    """
    terms = TermMatrix()
    for start in range(0, len(texts), _BATCH):
        stems, weights = channel.document_terms(texts[start : start + _BATCH], own=True)
        terms.add(stems.to_tensor(""), weights.to_tensor(0.0))
    return unit_vectors(terms.rows())
