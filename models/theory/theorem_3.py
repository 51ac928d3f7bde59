"""Theorem 3 (arXiv:2011.00701): a bound on the difference between the expected loss and the training loss."""

import math

from models.theory.lemma_2 import Constants


def uniform_stability(loss: Constants, step: float, pairs: int, steps: int) -> float:
    """Theorem A.4: an upper bound on the change of a pair's loss if another pair is left out of an SGD training.

        beta <= (1 + 1 / (gamma c)) / (n - 1) * (2 c L^2)^(1 / (gamma c + 1)) * T^(gamma c / (gamma c + 1))

    Source: Hardt, Recht and Singer 2015 (arXiv:1509.01240), Theorem 3.8. The text of Theorem 3 writes the power of T
    as 1 - 1 / (gamma c); its appendix, and Hardt et al., have 1 - 1 / (gamma c + 1).

    Args:
      loss: L and gamma of a loss within [0, 1], in the weights.
      step: c; the length of step t is at most c / t.
      pairs: n, the number of pairs, at least 2.
      steps: T, the number of steps.

    Example:
      >>> beta = uniform_stability(Constants(1.0, 1.0), step=1.0, pairs=3, steps=8)
      >>> round(beta, 9)  # (1 + 1) / 2 * sqrt(2) * sqrt(8)
      4.0
    """
    product = loss.smoothness * step
    power = 1 / (product + 1)
    factor = (1 + 1 / product) / (pairs - 1)
    return float(factor * (2 * step * loss.lipschitz * loss.lipschitz) ** power * steps ** (1 - power))


def generalization_bound(beta: float, largest: float, pairs: int, delta: float) -> float:
    """Theorem 3: the expected loss minus the mean training loss exceeds this bound with a probability of at most delta.

        2 beta + (4 n beta + M) sqrt(ln(1 / delta) / (2 n))

    Args:
      beta: the training's uniform stability, in the unit of the loss.
      largest: M, the loss's largest value.
      pairs: n, the number of pairs.
      delta: in (0, 1).

    Example:
      >>> round(generalization_bound(beta=0.01, largest=1.0, pairs=50, delta=math.exp(-1)), 9)  # 0.02 + (2 + 1) / 10
      0.32
    """
    return 2 * beta + (4 * pairs * beta + largest) * math.sqrt(math.log(1 / delta) / (2 * pairs))
