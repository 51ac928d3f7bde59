"""The stage Gate: decides whether a model may be pushed."""

import os
from collections.abc import Mapping
from typing import Final

import numpy as np
from tfx.types.artifact import Artifact
from tfx.types.standard_artifacts import Examples, Model, ModelBlessing, ModelEvaluation

from components.artifact_files import read_text, serving_model, split_files, write_text
from components.settings import EvaluationSettings
from components.stage import Input, Output, stage
from models.choices import SCORES
from models.encoders.text_vectors import TextVectors
from models.evaluation.list_metrics import list_metrics
from models.evaluation.score_lists import score_lists
from models.evaluation.significance import randomisation_test
from models.exported.model import LoadedModel
from models.exported.versions import model_fingerprint, whole_versions
from models.lists.ranking_lists import RankingLists, read_lists
from schemas import artifacts
from schemas.domains import domains_to_test
from schemas.errors import DataError
from schemas.evaluation import (
    METRICS_FILE,
    PER_QUERY_FILE,
    RANDOM_ORDER,
    VERDICT_FILE,
    Comparison,
    EvaluationReport,
    QueryMetrics,
    Verdict,
)
from schemas.served_versions import NEWEST_PROPERTY, PUSHED_PROPERTY, newest_version

_ROUNDING: Final = 1e-6
"""Largest difference of two metrics that rounding explains: some are computed in float32, expectations in float64."""


@stage
def Gate(
    examples: Input[Examples],
    model: Input[Model],
    evaluation: Input[ModelEvaluation],
    blessing: Output[ModelBlessing],
    top_grade: int,
    settings: EvaluationSettings,
    serving: str,
    used_negatives: int | None = None,
    held_out: tuple[str, ...] = (),
    text_vectors: Input[artifacts.TextVectors] | None = None,
) -> None:
    """Blesses or refuses a model, by its metrics and by those of the last pushed model on the same lists.

    Never cached, because another model may have been pushed meanwhile.

    Args:
      examples: listwise Examples with a test split, as texts.
      model: the exported model.
      evaluation: the model's metrics.
      blessing: the property and marker file of TFX's Evaluator, and the reason in `verdict.json`.
      top_grade: the MR grade.
      settings: the minimums and the comparison.
      serving: folder of the pushed versions.
      used_negatives: the number of NR documents of a list that count; None for all.
      held_out: the held-out domains; if there are any, only their lists are compared.
      text_vectors: the vectors of the model's pre-trained encoder, for a last pushed model with the same encoder.

    Raises:
      DataError: the last pushed model cannot be used.
    """
    newest = newest_version(whole_versions(serving))
    is_pushed = newest is not None and model_fingerprint(serving_model(model)) == model_fingerprint(
        os.path.join(serving, newest)
    )
    comparison: Comparison | str
    if newest is None:
        comparison = "no model was pushed before"
    elif is_pushed:
        comparison = f"not compared with version {newest}, which is this very model"
    elif settings.start_anew:
        comparison = f"not compared with version {newest}, as evaluation.start_anew asks"
    else:
        lists = read_lists(
            split_files(examples, "test"), used_negatives=used_negatives, domains=domains_to_test(held_out)
        )
        vectors = TextVectors(text_vectors.uri) if text_vectors else None
        comparison = _compare(evaluation, lists, top_grade, settings, os.path.join(serving, newest), vectors)
    report = EvaluationReport.from_json(read_text(evaluation, METRICS_FILE))
    verdict = judge(report.metrics, report.baselines[RANDOM_ORDER], report.reachable, settings.minimums, comparison)
    blessing.set_int_custom_property("blessed", int(verdict.blessed))
    blessing.set_string_custom_property(NEWEST_PROPERTY, newest or "")
    blessing.set_int_custom_property(PUSHED_PROPERTY, int(is_pushed))
    write_text(blessing, VERDICT_FILE, verdict.to_json())
    write_text(blessing, "BLESSED" if verdict.blessed else "NOT_BLESSED", verdict.reason + "\n")


def _compare(
    evaluation: Artifact,
    lists: RankingLists,
    top_grade: int,
    settings: EvaluationSettings,
    newest: str,
    vectors: TextVectors | None,
) -> Comparison:
    """Compares the model with the last pushed one, on the same lists."""
    metric = settings.compared_metric
    try:
        record = LoadedModel(newest).encoder_record if vectors else None
        is_same = vectors is not None and record is not None and record.digest == vectors.record.digest
        scores = score_lists(newest, lists, encoder=vectors if is_same else None)[SCORES]
        last_values = list_metrics(lists, scores, top_grade, [metric])[metric]
    except DataError as error:
        raise DataError(f"the last pushed model: {error}\nRemove it, or set evaluation.start_anew.") from None
    per_query = QueryMetrics.from_tsv(read_text(evaluation, PER_QUERY_FILE))
    if per_query.query_ids != [query_id.decode() for query_id in lists.query_ids]:
        raise ValueError(f"the queries of {PER_QUERY_FILE} must be those of the lists that the gate reads")
    values = np.asarray(per_query.values[metric])
    return Comparison(
        version=os.path.basename(newest),
        metric=metric,
        value=float(values.mean()),
        last_value=float(last_values.mean()),
        p_value=randomisation_test(values, last_values, two_sided=False),
        significance=settings.significance,
    )


def judge(
    metrics: Mapping[str, float],
    random_order: Mapping[str, float],
    reachable: Mapping[str, float],
    minimums: Mapping[str, float] | None,
    comparison: Comparison | str,
) -> Verdict:
    """Compares metrics with their minimums, and the model with the last pushed one.

    Args:
      metrics: the model's metrics on the test split.
      random_order: the expected metrics of random order on the same lists.
      reachable: the metrics of a perfect order. A metric whose perfect order is no better than random order, such as
        one whose cutoff is longer than every list, says nothing about the model. If every metric that counts says
        nothing, the model is refused.
      minimums: metric to its smallest allowed value; None requires all metrics to be above those of random order.
      comparison: the comparison with the last pushed model, or why there is no comparison.

    Example:
      >>> judge({"map": 0.5}, {"map": 0.1}, {"map": 1.0}, {"map": 0.6}, "no model was pushed before").reason
      'map must reach 0.6000; got 0.5000'
    """
    counted = list(random_order if minimums is None else minimums)
    telling = [key for key in counted if reachable[key] > random_order[key] + _ROUNDING]
    if minimums is None:
        faults = [
            f"{key} must lie above random order's {random_order[key]:.4f}; got {metrics[key]:.4f}"
            for key in telling
            if not metrics[key] > random_order[key] + _ROUNDING
        ]
        passed = (
            "all metrics are above those of random order"
            if telling == counted
            else f"above random order: {', '.join(telling)}"
        )
    else:
        faults = [
            f"{key} must reach {minimum:.4f}; got {metrics[key]:.4f}"
            for key, minimum in minimums.items()
            if not metrics[key] >= minimum
        ]
        passed = ", ".join(f"{key} {metrics[key]:.4f} reaches {minimum:.4f}" for key, minimum in minimums.items())
    if counted and not telling:
        names = "any metric" if minimums is None else " or ".join(counted)
        faults.append(
            f"the test lists cannot compare models: by {names}, a perfect order scores no better than a random one "
            "(for example, where every list has a single document, or a single grade)"
        )
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
