"""The formulas once more, in float64 and without TensorFlow: what the models are compared with."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Interval = tuple[float, float]

ENDS = (-1.0, 1.0)
"""The ends of a cosine's scale."""


def smooth_cosine(query: npt.ArrayLike, document: npt.ArrayLike, epsilon: float) -> float:
    """arXiv:2011.00701, eq. 1; 0 where it would be 0 / 0."""
    query, document = np.asarray(query, np.float64), np.asarray(document, np.float64)
    denominator = (np.linalg.norm(query) + epsilon) * (np.linalg.norm(document) + epsilon)
    return float(query @ document / denominator) if denominator else 0.0


def dot(query: npt.ArrayLike, document: npt.ArrayLike) -> float:
    """The inner product."""
    return float(np.asarray(query, np.float64) @ np.asarray(document, np.float64))


def mean_embedding(table: npt.ArrayLike, tokens: Sequence[int]) -> Vector:
    """tanh of the mean of the rows of a text's tokens; zero for a text without tokens."""
    return np.tanh(_mean_of_rows(table, tokens))


def mean_embedding_with_stems(
    table: npt.ArrayLike, stem_table: npt.ArrayLike, tokens: Sequence[int], stems: Sequence[int]
) -> Vector:
    """tanh of the sum of the two means, of the rows of a text's tokens and of those of its stems."""
    return np.tanh(_mean_of_rows(table, tokens) + _mean_of_rows(stem_table, stems))


def _mean_of_rows(table: npt.ArrayLike, rows: Sequence[int]) -> Vector:
    return np.asarray(table, np.float64)[list(rows)].sum(axis=0) / max(len(rows), 1)


def mean_by_idf_with_stems(
    table: npt.ArrayLike,
    stem_table: npt.ArrayLike,
    idf: npt.ArrayLike,
    stem_idf: npt.ArrayLike,
    tokens: Sequence[int],
    stems: Sequence[int],
) -> Vector:
    """tanh of the sum of two means weighted by idf, of the rows of a text's tokens and of those of its stems."""
    means = []
    for vectors, frequencies, ids in ((table, idf, tokens), (stem_table, stem_idf, stems)):
        weights, rows = (np.asarray(values, np.float64)[list(ids)] for values in (frequencies, vectors))
        means.append(weights @ rows / (weights.sum() or 1.0))
    return np.tanh(means[0] + means[1])


def tf_idf(idf: npt.ArrayLike, tokens: Sequence[int]) -> Vector:
    """A text's vector of tf * idf, of unit length; zero for a text without tokens."""
    weights = np.bincount(np.asarray(tokens, int), minlength=len(np.asarray(idf))) * np.asarray(idf, np.float64)
    return weights / (np.linalg.norm(weights) or 1.0)


def polynomial_embedding(
    table: npt.ArrayLike, second_table: npt.ArrayLike, idf: npt.ArrayLike, tokens: Sequence[int]
) -> Vector:
    """Bai et al. 2009: V x + (V x) * (Y x) of the tf-idf vector x."""
    first, second = (tf_idf(idf, tokens) @ np.asarray(rows, np.float64) for rows in (table, second_table))
    return first + first * second


def cnn_encoder(
    table: npt.ArrayLike, convolution: npt.ArrayLike, projection: npt.ArrayLike, tokens: Sequence[int]
) -> Vector:
    """Shen et al. 2014: filters over each word and its neighbours, the maximum of each, and a dense layer."""
    rows = np.asarray(table, np.float64)
    if not tokens:
        return np.zeros(rows.shape[1])
    beyond = np.zeros((1, rows.shape[1]))
    words = np.concatenate([beyond, rows[list(tokens)], beyond])
    features = [np.tanh(words[word : word + 3].ravel() @ convolution) for word in range(len(tokens))]
    return np.tanh(np.max(features, axis=0) @ projection)


def lstm_encoder(table: npt.ArrayLike, projection: npt.ArrayLike, *weights_and_tokens: Any) -> Vector:
    """The final states of an LSTM over the words and of one over them in reverse, and a dense layer.

    Each LSTM has three weights: see `lstm_state`.
    """
    *weights, tokens = weights_and_tokens
    words = np.asarray(table, np.float64)[list(tokens)]
    states = [lstm_state(words, *weights[:3]), lstm_state(words[::-1], *weights[3:])]
    return np.tanh(np.concatenate(states) @ projection)


def cos_sim(query_words: int, *weights_and_texts: Any) -> float:
    """Tan et al. 2015: the cosine of two texts' largest LSTM states, of a query's first words and a document's.

    The weights: the tables of queries and documents, and those of the LSTM in each direction, see `lstm_states`.
    """
    query_table, document_table, *weights, query, document = weights_and_texts
    vectors = []
    for table, tokens in ((query_table, query[:query_words]), (document_table, document)):
        words = np.asarray(table, np.float64)[list(tokens)]
        forward, backward = lstm_states(words, *weights[:3]), lstm_states(words[::-1], *weights[3:])[::-1]
        vectors.append(np.concatenate([forward, backward], axis=1).max(axis=0, initial=-np.inf if tokens else 0))
    return smooth_cosine(*vectors, epsilon=0.0)


def duet_distributed(query_words: int, window: int, *weights_and_texts: Any) -> float:
    """Mitra et al. 2017, with a maximum over windows: each window's product by itself.

    The weights: the filters of queries and documents, the tables of both, and the kernel and the bias of each dense
    layer: of queries, of documents, the first and the second of the products, and that of the score.
    """
    *weights, query, document = weights_and_texts
    weights = [np.asarray(array, np.float64) for array in weights]
    query_filters, document_filters, query_table, document_table, *dense = weights
    layers = list(zip(dense[::2], dense[1::2], strict=True))
    (maximum,) = _window_maxima(query_table, query_filters, query[:query_words], query_words)
    vector = _dense(maximum, *layers[0])
    products = [
        vector * _dense(maximum, *layers[1])
        for maximum in _window_maxima(document_table, document_filters, document, window)
    ]
    hidden = _dense(_dense(np.max(products, axis=0), *layers[2]), *layers[3])
    return float((hidden @ layers[4][0] + layers[4][1])[0])


def _dense(inputs: Vector, kernel: Vector, bias: Vector) -> Vector:
    return np.tanh(inputs @ kernel + bias)


def _window_maxima(table: Vector, filters: Vector, tokens: Sequence[int], window: int) -> list[Vector]:
    """The maxima of filters over word trigrams, in each window of so many words."""
    if not tokens:
        return [np.zeros(filters.shape[1])]
    beyond = np.zeros((1, table.shape[1]))
    words = np.concatenate([beyond, table[list(tokens)], beyond])
    features = np.array([np.tanh(words[word : word + 3].ravel() @ filters) for word in range(len(tokens))])
    return [features[start : start + window].max(axis=0) for start in range(max(len(tokens) - window, 0) + 1)]


def lstm_state(inputs: Vector, kernel: Vector, recurrent: Vector, bias: Vector) -> Vector:
    """The last hidden state of an LSTM, zeros before the first word."""
    return np.concatenate([np.zeros((1, len(recurrent))), lstm_states(inputs, kernel, recurrent, bias)])[-1]


def lstm_states(inputs: Vector, kernel: Vector, recurrent: Vector, bias: Vector) -> Vector:
    """The hidden states h of an LSTM after each word, [words, units], from zeros:

    i = sigmoid(x K_i + h R_i + b_i)    f = sigmoid(x K_f + h R_f + b_f)
    g = tanh(x K_g + h R_g + b_g)       o = sigmoid(x K_o + h R_o + b_o)
    c' = f c + i g                      h' = o tanh(c')
    """
    hidden = cell = np.zeros(len(recurrent))
    states = np.zeros((len(inputs), len(recurrent)))
    for word, x in enumerate(inputs):
        i, f, g, o = np.split(x @ kernel + hidden @ recurrent + bias, 4)
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
        states[word] = hidden = sigmoid(o) * np.tanh(cell)
    return states


ENCODERS: dict[str, Callable[..., Vector]] = {
    "mean": mean_embedding,
    "cnn": cnn_encoder,
    "lstm": lstm_encoder,
    "polynomial": polynomial_embedding,
}
"""By the name in a configuration; they take the weights in the layer's order, and a text's tokens."""


def sosl(grade: int, score: float, theta: Sequence[float], ends: Interval = ENDS) -> float:
    """arXiv:2011.00701, eq. 2, for our grade y - 1."""
    bounds = [ends[0], *theta, ends[1]]
    return max(score - bounds[grade + 1], 0.0) ** 2 + max(bounds[grade] - score, 0.0) ** 2


def learned_theta(z: npt.ArrayLike, ends: Interval = ENDS) -> Vector:
    """The inner thresholds of bands whose widths are shares of the scale: the softmax of z."""
    widths = np.exp(np.asarray(z, np.float64))
    shares = widths / widths.sum()
    return ends[0] + (ends[1] - ends[0]) * np.cumsum(shares)[:-1]


def mse(grade: int, score: float, theta: Sequence[float], ends: Interval = ENDS) -> float:
    """Squared distance to the middle of the grade's band."""
    bounds = [ends[0], *theta, ends[1]]
    return (score - (bounds[grade] + bounds[grade + 1]) / 2) ** 2


def proportional_odds(grade: int, score: float, theta: Sequence[float], ends: Interval = ENDS) -> float:
    """Minus the logarithms of the two odds, as the authors' code has them; for scores far from 0 not accurate."""
    bounds = [ends[0], *theta, ends[1]]
    return float(-np.log(sigmoid(bounds[grade + 1] - score)) - np.log(1 - sigmoid(bounds[grade] - score)))


def three_part_l2(grade: int, score: float, theta: Sequence[float], _: Interval = ENDS) -> float:
    """NR above the first threshold, SR above the second, MR below the third: the square of the difference."""
    return max([score - theta[0], score - theta[1], theta[2] - score][grade], 0.0) ** 2


def softmax(grades: Vector, scores: Vector) -> float:
    """Cross entropy of the softmax of a list's scores with its grades."""
    probabilities = np.exp(scores) / np.exp(scores).sum()
    return float(-(grades * np.log(probabilities)).sum())


def approx_ndcg(grades: Vector, scores: Vector) -> float:
    """Minus NDCG, of exponential gain, with sigmoids of temperature 0.1 for the steps in the ranks."""
    gains = 2**grades - 1
    ranks = [0.5 + sum(sigmoid((other_score - score) / 0.1) for other_score in scores) for score in scores]
    ideal = (np.sort(gains)[::-1] / np.log2(2 + np.arange(len(gains)))).sum()
    if not ideal:
        return 0.0
    return float(-(gains / np.log2(1 + np.array(ranks))).sum() / ideal)


def pairwise_hinge(grades: Vector, scores: Vector) -> float:
    """Hinges of the pairs with different grades, summed for each document, and the mean over these."""
    documents = list(zip(grades, scores, strict=True))
    hinges = [max(1 - (high - low), 0) for grade, high in documents for lower, low in documents if grade > lower]
    return float(sum(hinges) / len(documents))


def worst_hinge(grades: Vector, scores: Vector, margin: float = 0.2) -> float:
    """Tan et al. 2015: the mean hinge of the MR documents against the highest score of a lower grade."""
    tops, lower = _top_and_lower(grades, scores)
    return float(np.mean([max(margin - score + max(lower), 0) for score in tops])) if tops and lower else 0.0


def log_likelihood(grades: Vector, scores: Vector) -> float:
    """Mitra et al. 2017: the mean of minus the logarithms of the MR documents' probabilities."""
    tops, lower = _top_and_lower(grades, scores)
    return float(np.mean([-np.log(np.exp(score) / np.exp(scores).sum()) for score in tops])) if tops and lower else 0.0


def _top_and_lower(grades: Vector, scores: Vector) -> tuple[list[float], list[float]]:
    """The scores of the documents of the highest grade, if it is above 0, and of those of lower grades."""
    documents, highest = list(zip(grades, scores, strict=True)), max(grades)
    tops = [score for grade, score in documents if grade == highest > 0]
    return tops, [score for grade, score in documents if grade < highest]


def sigmoid(logit: Any) -> Any:
    """The logistic function."""
    return 1 / (1 + np.exp(-logit))


POINTWISE_LOSSES = {"sosl": sosl, "mse": mse, "proportional_odds": proportional_odds, "three_part_l2": three_part_l2}
LIST_LOSSES = {
    "softmax": softmax,
    "approx_ndcg": approx_ndcg,
    "pairwise_hinge": pairwise_hinge,
    "worst_hinge": worst_hinge,
    "log_likelihood": log_likelihood,
}


def loss_of_list(
    name: str,
    grades: Sequence[int],
    scores: Sequence[float],
    theta: Sequence[float] | None = None,
    ends: Interval = ENDS,
) -> float:
    """A list's loss, by its name in a configuration; padding (a negative grade) aside, and 0 for padding alone.

    A loss of single documents is their mean.
    """
    documents = [(grade, score) for grade, score in zip(grades, scores, strict=True) if grade >= 0]
    if not documents:
        return 0.0
    if name in LIST_LOSSES:
        return LIST_LOSSES[name](*np.array(documents, np.float64).T)
    assert theta is not None
    losses = [POINTWISE_LOSSES[name](grade, score, theta, ends) for grade, score in documents]
    return sum(losses) / len(documents)


def in_batch_loss(
    name: str, own: Sequence[int], scores: Sequence[float], theta: Sequence[float], ends: Interval = ENDS
) -> float:
    """The mean loss, at grade 0, of a batch's documents that are not a list's own; 0 where there is none."""
    other_scores = [score for document, score in enumerate(scores) if document not in own]
    return loss_of_list(name, [0] * len(other_scores), other_scores, theta, ends)


def softmax_over_batch(
    grades: dict[int, int], scores: Sequence[float], top_grade: int, temperature: float, top_weight: float
) -> float:
    """Cross entropy of the softmax of the scores of a batch's documents, with the relevant ones of a list, by grade."""
    shares = {document: top_weight if grade == top_grade else 1.0 for document, grade in grades.items() if grade > 0}
    logits = np.asarray(scores, np.float64) / temperature
    logarithms = logits - logits.max() - np.log(np.exp(logits - logits.max()).sum())
    return float(-sum(share / sum(shares.values()) * logarithms[document] for document, share in shares.items()))


def slopes(function: Callable[[Vector], float], at: npt.ArrayLike, step: float = 1e-6) -> Vector:
    """The gradient of a function, by central differences."""
    at = np.asarray(at, np.float64)
    gradient = np.zeros_like(at)
    for cell in np.ndindex(at.shape):
        ahead, behind = at.copy(), at.copy()
        ahead[cell] += step
        behind[cell] -= step
        gradient[cell] = (function(ahead) - function(behind)) / (2 * step)
    return gradient


def ordered_pairs(grades: Sequence[int]) -> float:
    """Share of the pairs of a ranked list's documents with different grades whose higher grade comes first."""
    pairs = [grade > lower for rank, grade in enumerate(grades) for lower in grades[rank + 1 :] if grade != lower]
    return sum(pairs) / len(pairs) if pairs else 0.5


TREC_METRICS = {
    "p_mr_1": ("P_1", 2),
    "recall_mr_5": ("recall_5", 2),
    "p_r_5": ("P_5", 1),
    "ndcg_5": ("ndcg_cut_5", 1),
    "map": ("map", 1),
    "mrr_mr": ("recip_rank", 2),
    "mrr_r": ("recip_rank", 1),
    "p_r_10": ("P_10", 1),
}
"""Our metrics: trec_eval's, and the least grade that counts as relevant, where MR is 2; it has no ordered pairs."""


def domain_loss(joint: npt.ArrayLike, weights: Sequence[npt.ArrayLike], domain: int) -> float:
    """Cohen et al. 2018, eqs. 2 and 3, behind one hidden layer: V, b, W and c, each of V and W [inputs, units]."""
    first, bias, last, last_bias = (np.asarray(array, np.float64) for array in weights)
    z = np.maximum(np.asarray(joint, np.float64) @ first + bias, 0) @ last + last_bias
    return float(np.log(np.exp(z).sum()) - z[domain])
