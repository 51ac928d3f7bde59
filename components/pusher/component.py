"""The stage Pusher: makes a blessed model a version, whole or not at all.

TFX's own Pusher copies into the live folder, where a server may see half a model, and adds neither card nor warm-up.
"""

import heapq
import json
import os
from collections.abc import Iterable
from typing import Any, Final

from tfx.components.util.model_utils import is_model_blessed
from tfx.types.standard_artifacts import (
    Examples,
    Model,
    ModelBlessing,
    ModelEvaluation,
    ModelRun,
    PushedModel,
    TransformGraph,
)

from components.artifact_files import read_text, read_text_if_any, serving_model, split_files
from components.pusher.model_card import model_card
from components.pusher.push_version import push_version, renew_card
from components.pusher.warm_up import eval_lists, warm_up
from components.stage import Input, Output, stage
from schemas import features as f
from schemas.artifacts import IngestionReport
from schemas.cut_texts import CUT_FILE, CutReport
from schemas.domains import DomainFilter, domains_to_train
from schemas.drops import REPORT_FILE
from schemas.evaluation import METRICS_FILE, VERDICT_FILE, EvaluationReport, Verdict
from schemas.json_files import parse_json
from schemas.served_versions import (
    CARD_FILE,
    DESTINATION_PROPERTY,
    EXAMPLES_FILE,
    NEWEST_PROPERTY,
    PUSHED_PROPERTY,
    VERSION_PROPERTY,
    WARM_UP_FILE,
    WAS_PUSHED_PROPERTY,
)
from schemas.training_history import HISTORY_FILE, TrainingHistory


@stage
def Pusher(
    model: Input[Model],
    model_blessing: Input[ModelBlessing],
    examples: Input[Examples],
    data_report: Input[IngestionReport],
    transform_graph: Input[TransformGraph],
    model_run: Input[ModelRun],
    evaluation: Input[ModelEvaluation],
    pushed_model: Output[PushedModel],
    settings: dict[str, Any],
    serving: str,
) -> None:
    """Pushes a blessed model with its card, warm-up requests and example queries.

    A model that is already the newest version gets a new card.

    Args:
      model: the exported model.
      model_blessing: the Gate's, which also names the newest version.
      examples: listwise Examples with an eval split, as texts.
      data_report: WikiClirExampleGen's.
      transform_graph: Transform's, which may count what the limit on words cuts.
      model_run: the Trainer's.
      evaluation: the Evaluator's.
      pushed_model: the version's folder, in the properties of TFX's own Pusher, without a copy of the model.
      settings: the run's configuration, its paths reduced to names.
      serving: folder of the versions.
    """
    if not is_model_blessed(model_blessing):
        pushed_model.set_int_custom_property(WAS_PUSHED_PROPERTY, 0)
        return
    version = model_blessing.get_string_custom_property(NEWEST_PROPERTY)
    cut = read_text_if_any(transform_graph, CUT_FILE)
    card = model_card(
        settings,
        parse_json(read_text(data_report, REPORT_FILE)),
        CutReport.from_json(cut) if cut else None,
        TrainingHistory.from_json(read_text(model_run, HISTORY_FILE)),
        EvaluationReport.from_json(read_text(evaluation, METRICS_FILE)),
        Verdict.from_json(read_text(model_blessing, VERDICT_FILE)).reason,
    )
    if model_blessing.get_int_custom_property(PUSHED_PROPERTY):
        renew_card(serving, version, card)
    else:
        path = serving_model(model)
        files, domains = split_files(examples, "eval"), domains_to_train(settings["data"]["held_out"])
        extra_files = {CARD_FILE: card.encode()}
        if requests := warm_up(path, files, domains):
            extra_files[WARM_UP_FILE] = requests
            if max_queries := settings["search"]["example_queries"]:
                extra_files[EXAMPLES_FILE] = example_queries(files, max_queries, domains)
        version = push_version(path, serving, version or None, extra_files)
    pushed_model.set_int_custom_property(WAS_PUSHED_PROPERTY, 1)
    pushed_model.set_string_custom_property(DESTINATION_PROPERTY, os.path.join(serving, version))
    pushed_model.set_string_custom_property(VERSION_PROPERTY, version)


_LENGTH: Final = 40
"""Queries of about this number of characters are offered: long ones do not look like what people type."""


def example_queries(examples: Iterable[str], max_queries: int, domains: DomainFilter) -> bytes:
    """Returns the content of `schemas.served_versions.EXAMPLES_FILE`: queries of different MR documents.

    Args:
      examples: paths of gzipped TFRecords of listwise Examples, as texts.
      max_queries: the largest number of queries.
      domains: the domains whose queries may be shown.
    """
    nearest: dict[bytes, tuple[int, bytes, str]] = {}
    for columns in eval_lists(examples, domains):
        grades = [*columns[f.RELEVANCE].int64_list.value]
        document = columns[f.DOC_ID].bytes_list.value[grades.index(max(grades))]
        text = columns[f.QUERY_TEXT].bytes_list.value[0].decode()
        candidate = abs(len(text) - _LENGTH), columns[f.QUERY_ID].bytes_list.value[0], text
        nearest[document] = min(candidate, nearest.get(document, candidate))
    chosen = [text for _, _, text in heapq.nsmallest(max_queries, nearest.values())]
    return json.dumps(chosen, ensure_ascii=False, indent=2).encode() + b"\n"
