"""Lemma 2 (arXiv:2011.00701): the Lipschitz and smoothness constants of a loss in the word embeddings."""

import math
from typing import NamedTuple

from models.layers.settings import MeanSettings
from models.rankers.settings import ScorerSettings, TwoTowersSettings


class Constants(NamedTuple):
    """The constants of a function f: |f(u) - f(v)| <= lipschitz |u - v|, |f'(u) - f'(v)| <= smoothness |u - v|."""

    lipschitz: float
    smoothness: float

    def after(self, inner: "Constants") -> "Constants":
        """The constants of this function after an inner one (Lemmas A.1 and A.2).

            L = L_outer L_inner,   gamma = L_inner^2 gamma_outer + L_outer gamma_inner

        Lemma A.2 has L_inner to the first power: its last step bounds |g'(f(u)) - g'(f(v))| by beta_2 |u - v|, although
        f stretches |u - v| by L_inner. This holds only for L_inner <= 1.

        Example:
          >>> Constants(3.0, 2.0).after(Constants(10.0, 1.0))
          Constants(lipschitz=30.0, smoothness=203.0)
        """
        return Constants(
            self.lipschitz * inner.lipschitz,
            inner.lipschitz * inner.lipschitz * self.smoothness + self.lipschitz * inner.smoothness,
        )


MEAN_ENCODER = Constants(1.0, 4 / (3 * math.sqrt(3)))
"""The constants of tanh(W^T m) in the table W, for the mean m of a text's one-hot words.

m is at most 1 long, so W^T m changes at most as much as W. The first derivative of tanh is at most 1, the second at
most 4 / (3 sqrt(3)). Query and document have separate tables, so these are also the constants of both encoders
together."""


def smooth_cosine(epsilon: float) -> Constants:
    """The constants of the score in query and document together: 1 / epsilon and 2 / epsilon^2.

    The paper has 2 / epsilon, in each alone, and leaves a constant N(p) / epsilon^2 open. The score is <g(q), g(d)>
    with g(u) = u / (|u| + epsilon). Let x = |g(q)| and y = |g(d)|; both are below 1. Then

        |g'(q)| <= (1 - x) / epsilon,   |g''(q)| <= 2 (1 - x)^2 / epsilon^2,

    and likewise for d and y. The gradient's square is at most ((1 - x)^2 y^2 + (1 - y)^2 x^2) / epsilon^2. Its root is
    at most ((1 - x) y + (1 - y) x) / epsilon, and (1 - x) y + (1 - y) x <= 1. The blocks of the second derivative are
    at most 2 (1 - x)^2 y, 2 (1 - y)^2 x and, off the diagonal, (1 - x) (1 - y), each over epsilon^2. A row of them sums
    to at most (1 - x) (1 + y) <= 2. The score approaches both bounds where one vector is zero and the other long.

    Args:
      epsilon: float > 0.
    """
    return Constants(1 / epsilon, 2 / epsilon / epsilon)


def loss_in_tables(loss: Constants, settings: ScorerSettings) -> Constants | None:
    """The constants of the loss of a pair in the two tables of word embeddings.

    Args:
      loss: the constants of the loss in the score.
      settings: the scorer's settings.

    Returns:
      the constants; None if the paper's proof does not cover the model, which needs smooth cosine and the mean encoder
      without idf pooling, stems and dropout.
    """
    if not isinstance(settings, TwoTowersSettings) or settings.encoder != MeanSettings(
        initial_scale=settings.encoder.initial_scale
    ):
        return None
    if settings.similarity != "smooth_cosine" or settings.epsilon == 0:
        return None
    return loss.after(smooth_cosine(settings.epsilon).after(MEAN_ENCODER))
