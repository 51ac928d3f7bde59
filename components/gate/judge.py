"""Decides whether a model may be pushed, and why."""

from collections.abc import Mapping

from models.exported.versions import file_digests
from schemas.evaluation import Comparison, Verdict


def same_files(one: str, other: str) -> bool:
    """Whether two folders hold the same files with the same content, but for what a push adds to a model."""
    return file_digests(one) == file_digests(other)


def judge(
    metrics: Mapping[str, float],
    random_order: Mapping[str, float],
    reachable: Mapping[str, float],
    minimums: Mapping[str, float] | None,
    comparison: Comparison | str,
) -> Verdict:
    """Compares metrics with their minimums, and the model with the last pushed one.

    Args:
      metrics: of the model on the test split.
      random_order: expected metrics of random order on the same lists.
      reachable: those of a perfect order. Where that is no better than random order (all lists are shorter than a
        cutoff, say), a metric cannot tell models apart and is not asked for.
      minimums: least values by metric; None asks that every metric lie above random order's.
      comparison: with the last pushed model, or why there is none.

    Example:
      >>> judge({"map": 0.5}, {"map": 0.1}, {"map": 1.0}, {"map": 0.6}, "no model was pushed before").reason
      'map must reach 0.6000; got 0.5000'
    """
    if minimums is None:
        faults = [
            f"{key} must lie above random order's {expected:.4f}; got {metrics[key]:.4f}"
            for key, expected in random_order.items()
            if not metrics[key] > expected and reachable[key] > expected
        ]
        passed = "every metric lies above random order's"
    else:
        faults = [
            f"{key} must reach {minimum:.4f}; got {metrics[key]:.4f}"
            for key, minimum in minimums.items()
            if not metrics[key] >= minimum
        ]
        passed = ", ".join(f"{key} {metrics[key]:.4f} reaches {minimum:.4f}" for key, minimum in minimums.items())
    if isinstance(comparison, str):
        compared, compared_with = comparison, None
    else:
        compared_with = comparison
        values = f"{comparison.metric} {comparison.value:.4f} against {comparison.last_value:.4f}"
        evidence = f"version {comparison.version} ({values}, p = {comparison.p_value:.4f})"
        compared = f"not significantly worse than {evidence}"
        if comparison.is_worse:
            faults.append(
                f"the model is significantly worse than {evidence}; to push it all the same, set evaluation.start_anew"
            )
    reason = "; ".join(faults or [passed or "no minimum is set", compared])
    return Verdict(blessed=not faults, reason=reason, comparison=compared_with)
