"""An objective with a discriminator of domains as its adversary (Cohen et al. 2018)."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import tensorflow as tf
from tensorflow import keras

from models.adversary_settings import AdversarySettings
from models.layers.domain_discriminator import DomainDiscriminator, domain_loss
from models.layers.gradient_reversal import GradientReversal
from models.lists.training_batches import HELD_OUT_TEXTS
from models.objectives.objective import ListLosses, Objective, OwnOptimizer, ScoredLists
from models.rankers.scorer import Joint
from schemas import features as f
from schemas.relevance import NOT_RELEVANT

ADVERSARY: Final = "adversary"
"""The name of the adversary's term of the loss."""
_LEARNING_RATE: Final = 0.001
_NO_EPSILON: Final = 1e-12
"""Adam's epsilon: below any gradient, so that the discriminator's speed of learning does not depend on its weight."""


class _Pairs(NamedTuple):
    """The discriminator's input: queries with two documents each."""

    joint: tf.Tensor
    """Joint representations, float [queries, 2, width]."""
    domain: tf.Tensor
    """The number of each query's domain, int [queries]."""
    counts: tf.Tensor
    """Whether a pair exists, float [queries, 2], 0 or 1."""


class AdversarialObjective(Objective):
    """A ranking objective, and a discriminator whose gradient on the ranker is reversed.

        L = L_rel + weight (L_adv(q, d+) + L_adv(q, d-))            (eq. 1)
        L_adv(q, d) = -log p(domain of q | G(x(q, d)))              (eq. 2)

    where x(q, d) is the scorer's joint representation, d+ the MR document of q's list, d- an NR document drawn in each
    step, and G the reversal layer (eqs. 4 and 5), through which the ranker minimises L_rel - weight (...), eq. 7. A
    list without an MR or NR document lacks this pair.

    Held-out texts, if a batch has them, are queries with two random documents; they count only in L_adv, whose mean is
    over the queries of the lists and the held-out texts. Source: Cohen et al. 2018, section 3.

    The discriminator has its own Adam optimizer, and its gradient is clipped separately.

    Args:
      objective: gives L_rel and the scored lists; its scorer must have joint representations.
      settings: the adversary's settings; the weight may be 0.
      domains: the domain of each train list; the sorted names have the numbers from 0 on.
      held_out: number of domains of held-out texts, whose numbers follow.
      seed: seeds the discriminator's initial weights and the draws of d-.

    Raises:
      ValueError: only a single domain is given, or the scorer lacks joint representations (at `build`).
    """

    def __init__(
        self, objective: Objective, settings: AdversarySettings, domains: Sequence[str], held_out: int, seed: int
    ) -> None:
        super().__init__(objective.ranker)
        self.objective = objective
        self._weight, self._alternates = settings.weight, settings.updates == "alternate"
        trained = sorted({*domains})
        if len(trained) + held_out < 2:
            raise ValueError(f"a discriminator needs two domains or more; got {len(trained) + held_out}.")
        self._trained = len(trained)
        self._largest = max(range(self._trained), key=lambda number: domains.count(trained[number]))
        self.reversal = GradientReversal()
        self.discriminator = DomainDiscriminator(self._trained + held_out, settings.hidden, seed)
        self.optimizer = keras.optimizers.Adam(_LEARNING_RATE, epsilon=_NO_EPSILON)
        self._generator = tf.random.Generator.from_seed(seed)

    def build(self, features: dict[str, Any]) -> None:
        """Creates the weights of the ranker and of the discriminator."""
        super().build(features)
        first_columns = tf.zeros_like(features[f.DOCUMENT_INDEX][:, :1])
        self.discriminator.build(self._join(features)(first_columns).shape)

    def __call__(self, features: dict[str, Any], labels: tf.Tensor) -> ListLosses:
        """Returns the losses of a batch's lists; the other term is `adversary`, weight times L_adv.

        Its figures are over the discriminator's pairs: `domain_loss`, the mean of L_adv; `domain_accuracy`, the share
        of pairs whose domain has the largest z; `largest_domain_share`, the share of the domain with the most train
        lists.
        """
        list_features = {name: value for name, value in features.items() if name != HELD_OUT_TEXTS}
        ranked = self.objective(list_features, labels)
        seen = self._pairs_of_lists(ranked.scored, features.get(f.QUERY_DOMAIN))
        if HELD_OUT_TEXTS in features:
            seen = _together(seen, self._pairs_of_texts(features[HELD_OUT_TEXTS]))
        z = self.discriminator(self.reversal(seen.joint))
        domain = tf.repeat(seen.domain[:, tf.newaxis], 2, axis=1)
        loss = domain_loss(z, domain) * seen.counts

        def share(is_counted: tf.Tensor) -> tf.Tensor:
            return _mean(tf.cast(is_counted, tf.float32) * seen.counts, seen.counts)

        figures = {
            "domain_loss": _mean(loss, seen.counts),
            "domain_accuracy": share(tf.argmax(z, axis=-1, output_type=tf.int32) == domain),
            "largest_domain_share": share(domain == self._largest),
        }
        adversary = self._weight * tf.reduce_sum(loss, axis=1)
        return ranked._replace(
            figures={**ranked.figures, **figures}, other_terms={**ranked.other_terms, ADVERSARY: adversary}
        )

    def _pairs_of_lists(self, scored: ScoredLists | None, domain: tf.Tensor | None) -> _Pairs:
        """Returns each list's MR document, and one of its NR documents."""
        if scored is None:
            raise _no_joint()
        top = tf.reduce_max(scored.labels, axis=1)
        is_not_relevant = scored.labels == NOT_RELEVANT
        # A single draw per step, as in `TextEncoder._words`.
        draws = tf.random.stateless_uniform(tf.shape(scored.labels), self._generator.make_seeds(1)[:, 0])
        columns = [
            tf.argmax(scored.labels, axis=1, output_type=tf.int32),
            tf.argmax(tf.where(is_not_relevant, draws, -1.0), axis=1, output_type=tf.int32),
        ]
        counts = [top > NOT_RELEVANT, tf.reduce_any(is_not_relevant, axis=1)]
        domain = tf.zeros_like(columns[0]) if domain is None else domain
        return _Pairs(scored.joint(tf.stack(columns, axis=1)), domain, tf.cast(tf.stack(counts, axis=1), tf.float32))

    def _pairs_of_texts(self, features: dict[str, Any]) -> _Pairs:
        """Returns held-out queries, each with the two documents of its list."""
        queries = tf.shape(features[f.DOCUMENT_INDEX])[0]
        number = features.get(f.QUERY_DOMAIN, tf.zeros([queries], tf.int32))
        joint = self._join(features, training=True)(tf.tile([[0, 1]], [queries, 1]))
        return _Pairs(joint, self._trained + number, tf.ones([queries, 2]))

    def _join(self, features: dict[str, Any], training: bool = False) -> Joint:
        joint = self.ranker.join(features, training)
        if joint is None:
            raise _no_joint()
        return joint

    @property
    def trainable_variables(self) -> list[tf.Variable]:
        """The objective's variables and the discriminator's."""
        return [*self.objective.trainable_variables, *self.discriminator.trainable_variables]

    @property
    def own_optimizers(self) -> list[OwnOptimizer]:
        """The optimizers of the objective, and of the discriminator."""
        return [
            *self.objective.own_optimizers,
            OwnOptimizer(self.optimizer, self.discriminator.trainable_variables),
        ]

    @property
    def alternates(self) -> bool:
        """Whether the discriminator's updates come before the ranker's."""
        return self._alternates

    def current_theta(self) -> list[float]:
        """Returns the objective's current thresholds."""
        return self.objective.current_theta()

    def figures(self) -> dict[str, float]:
        """Returns the objective's figures."""
        return self.objective.figures()


def _together(lists: _Pairs, texts: _Pairs) -> _Pairs:
    return _Pairs(*(tf.concat(parts, axis=0) for parts in zip(lists, texts, strict=True)))


def _mean(values: tf.Tensor, counts: tf.Tensor) -> tf.Tensor:
    return tf.math.divide_no_nan(tf.reduce_sum(values), tf.reduce_sum(counts))


def _no_joint() -> ValueError:
    return ValueError("an adversary needs a scorer with joint representations of queries and documents; got none.")
