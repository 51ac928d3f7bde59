"""Evaluates the scores of a model and of other systems. Never imports TFX."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.choices import FEW_LISTS
from models.evaluation.list_metrics import list_metrics, per_query_metrics
from models.evaluation.metrics import METRICS, Metric
from models.evaluation.significance import randomisation_test, standard_error
from models.lists.feedback import FIRST_PASS, Feedback
from models.lists.ranking import rank, ranking_run
from models.lists.ranking_lists import RankingLists
from schemas import features as f
from schemas.errors import DataError
from schemas.evaluation import (
    BASELINES_FILE,
    CHANNELS_FILE,
    METRICS_FILE,
    MODEL_TAG,
    PER_QUERY_FILE,
    QRELS_FILE,
    RANDOM_ORDER,
    RUN_FILE,
    EvaluationReport,
    LanguageReport,
    PartReport,
    QueryMetrics,
    system_key,
)
from schemas.relevance import NOT_RELEVANT
from schemas.trec import parse_run, qrels_lines

_FEW_QUERIES: Final = 40
"""With fewer test queries, the standard error of a metric is about .05 or more."""
_SIGNIFICANCE: Final = 0.05
_MAIN: Final = "ndcg_5"
"""The metric for comparing channels."""

_Values: TypeAlias = dict[str, npt.NDArray[np.float64]]
"""Each metric's key to its values for the queries."""


@dataclass(frozen=True)
class Evaluation:
    """The results of an evaluation.

    Attributes:
      report: the content of `metrics.json`.
      per_query, baseline_metrics, channel_metrics: every metric of every query for the model, the baselines and the
        channels.
      run, qrels: the lines of the two TREC files.
    """

    report: EvaluationReport
    per_query: QueryMetrics
    baseline_metrics: QueryMetrics
    channel_metrics: QueryMetrics
    run: list[str]
    qrels: list[str]

    def files(self) -> dict[str, str]:
        """From name to content of the files: the metrics, and the two files for trec_eval."""
        return {
            METRICS_FILE: self.report.to_json(),
            PER_QUERY_FILE: self.per_query.to_tsv(),
            BASELINES_FILE: self.baseline_metrics.to_tsv(),
            CHANNELS_FILE: self.channel_metrics.to_tsv(),
            RUN_FILE: "".join(self.run),
            QRELS_FILE: "".join(self.qrels),
        }


def evaluate(
    lists: RankingLists,
    scores: Sequence[npt.NDArray[np.float32]],
    baselines: Mapping[str, Mapping[str, Mapping[str, float]]],
    top_grade: int,
    metrics: Sequence[str] = tuple(METRICS),
    split: str = "test",
    trained: RankingLists | None = None,
    channels: Mapping[str, Sequence[npt.NDArray[np.float32]]] = MappingProxyType({}),
    feedback: Feedback = FIRST_PASS,
    parameters: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> Evaluation:
    """Computes the metrics of a model's scores, of its channels and of baselines.

    Args:
      lists: the lists of the split.
      scores: the model's scores for each list.
      baselines: from name to run (query_id to doc_id to score) of other systems on the same lists.
      top_grade: the MR grade.
      metrics: the keys of the metrics.
      split: the name of the split, for the report.
      trained: the train lists as texts, without NR documents; None where they are unknown.
      channels: from name to scores of the model's channels, and of the first pass where there is a second; the report
        leaves out a single channel.
      feedback: the second pass that gave the scores, for the report.
      parameters: the parameters chosen on the eval split, by the baseline's name, for the report.

    Raises:
      DataError: a score is not finite, or a baseline lacks a list.
    """
    scores, channels = lists.best_passages(scores), {name: lists.best_passages(part) for name, part in channels.items()}
    lists, trained = lists.whole_documents, trained and trained.whole_documents
    per_query = list_metrics(lists, scores, top_grade, metrics)
    baseline_metrics = {
        RANDOM_ORDER: list_metrics(lists, [np.zeros(len(grades)) for grades in lists.grades], top_grade, metrics)
    }
    for name, run in baselines.items():
        baseline_metrics[name] = list_metrics(lists, _run_scores(name, run, lists), top_grade, metrics)
    channel_metrics = {
        name: list_metrics(lists, channel_scores, top_grade, metrics) for name, channel_scores in channels.items()
    }
    reported = channel_metrics if len(channels) > 1 else {}
    ideal = per_query_metrics(lists.grades, lists.grades, top_grade, metrics)

    def part(rows: npt.NDArray[np.bool_]) -> PartReport:
        """Reports on the queries in some rows."""
        means, reachable = (_means(values, rows) for values in (per_query, ideal))
        return PartReport(
            queries=int(rows.sum()),
            metrics=means,
            standard_errors=_standard_errors(per_query, rows),
            reachable=reachable,
            baselines={name: _means(values, rows) for name, values in baseline_metrics.items()},
            channels={name: _means(values, rows) for name, values in reported.items()},
        )

    whole = part(np.ones(len(lists), bool))
    seen = None if trained is None else _are_seen(lists, trained, top_grade)
    qrels = [
        line
        for query_id, doc_ids, grades in zip(lists.query_ids, lists.doc_ids, lists.grades, strict=True)
        for line in qrels_lines(query_id.decode(), [doc_id.decode() for doc_id in doc_ids], grades.tolist())
    ]
    report = EvaluationReport(
        split=split,
        queries=whole.queries,
        queries_without_relevant_document=sum(int((grades < 1).all()) for grades in lists.grades),
        queries_of_training=None if trained is None else int(np.isin(_texts(lists), _texts(trained)).sum()),
        feedback=feedback.gain,
        feedback_documents=feedback.documents,
        paper_names={key: paper_name for key in metrics if (paper_name := Metric.parse(key).paper_name)},
        metrics=whole.metrics,
        standard_errors=whole.standard_errors,
        reachable=whole.reachable,
        baselines=whole.baselines,
        parameters={name: dict(chosen) for name, chosen in parameters.items()},
        channels=whole.channels,
        seen=None if seen is None else part(seen),
        cold=None if seen is None else part(~seen),
        domains={name: part(np.array(lists.domains) == name) for name in sorted({*lists.domains} - {""})},
        languages=_language_reports(lists, scores, top_grade, part),
        query_languages=_query_language_reports(lists, part),
    )
    doubts = _doubts(report, trained, reported, baseline_metrics[RANDOM_ORDER])
    report = report.model_copy(update={"warnings": tuple(doubts)})
    query_ids = [query_id.decode() for query_id in lists.query_ids]
    return Evaluation(
        report,
        QueryMetrics(query_ids, {key: values.tolist() for key, values in per_query.items()}),
        _system_metrics(query_ids, baseline_metrics),
        _system_metrics(query_ids, channel_metrics),
        [*ranking_run(lists, scores, MODEL_TAG)],
        qrels,
    )


def _language_reports(
    lists: RankingLists,
    scores: Sequence[npt.NDArray[np.float32]],
    top_grade: int,
    part: Callable[[npt.NDArray[np.bool_]], PartReport],
) -> dict[str, LanguageReport]:
    """Reports on each language of the documents; empty where the lists do not name them."""
    if (column := lists.document_columns.get(f.DOC_LANG)) is None:
        return {}
    doc_languages = lists.split(column.numpy()[lists.documents.flat_values.numpy()])
    relevant, first = Counter[bytes](), Counter[bytes]()
    mr_languages = []
    for languages, grades, list_scores, doc_ids in zip(doc_languages, lists.grades, scores, lists.doc_ids, strict=True):
        relevant_languages = languages[grades > NOT_RELEVANT]
        relevant.update(relevant_languages.tolist())
        first.update(languages[rank(list_scores, doc_ids)[: len(relevant_languages)]].tolist())
        mr_languages.append({*languages[grades == top_grade].tolist()})
    return {
        code.decode(): LanguageReport(
            **part(np.array([code in codes for codes in mr_languages])).model_dump(),
            relevant_share=relevant[code] / relevant.total(),
            first_share=first[code] / first.total(),
        )
        for code in sorted({*relevant, *first})
    }


def _query_language_reports(
    lists: RankingLists, part: Callable[[npt.NDArray[np.bool_]], PartReport]
) -> dict[str, PartReport]:
    """Reports on each language of the queries; empty where the lists do not name them."""
    if (column := lists.query_columns.get(f.QUERY_LANG)) is None:
        return {}
    languages = column.numpy()
    return {code.decode(): part(languages == code) for code in sorted({*languages.tolist()})}


def _system_metrics(query_ids: Sequence[str], systems: Mapping[str, _Values]) -> QueryMetrics:
    """The metrics of each query, of several systems."""
    values = {
        system_key(name, key): metric_values.tolist()
        for name, system_values in systems.items()
        for key, metric_values in system_values.items()
    }
    return QueryMetrics(query_ids, values)


def _doubts(
    report: EvaluationReport, trained: RankingLists | None, channels: Mapping[str, _Values], random_order: _Values
) -> Iterator[str]:
    """Yields the reasons to doubt the metrics, a sentence each."""
    if report.queries < _FEW_QUERIES:
        yield f"the {report.split} split has {report.queries} queries: fewer than {_FEW_QUERIES} give imprecise metrics"
    if trained is not None and len(trained) < FEW_LISTS:
        yield (
            f"training has {len(trained)} queries: with fewer than {FEW_LISTS}, vectors may rank no better than random "
            "order, and a fitted channels.towers.weight is 0; bring more judged queries"
        )
    if report.queries_of_training:
        yield (
            f"{report.queries_of_training:,} of {report.queries:,} {report.split} queries have the text of a train "
            "query: the model was trained on these very words"
        )
    if report.nearly_all_seen:
        yield (
            f"most test documents also occur in training{', with other queries' * (not report.queries_of_training)}; "
            "these metrics do not show how well unseen documents are ranked; data.cold_share, or data.split: "
            "documents, measures it"
        )
    for name, values in channels.items():
        if randomisation_test(random_order[_MAIN], values[_MAIN], two_sided=False) >= _SIGNIFICANCE:
            yield (
                f"the channel {name} ranks no better than random order: {_MAIN} {values[_MAIN].mean():.4f} against "
                f"{random_order[_MAIN].mean():.4f}"
            )
        if report.metrics[_MAIN] <= values[_MAIN].mean():
            yield (
                f"the model does not rank above its channel {name} alone: {_MAIN} {report.metrics[_MAIN]:.4f} against "
                f"{values[_MAIN].mean():.4f}"
            )


def _means(values: _Values, rows: npt.NDArray[np.bool_]) -> dict[str, float]:
    """The mean of every metric over some queries; empty without queries."""
    return {key: float(query_values[rows].mean()) for key, query_values in values.items()} if rows.any() else {}


def _standard_errors(values: _Values, rows: npt.NDArray[np.bool_]) -> dict[str, float]:
    """The standard error of every metric's mean over some queries; empty with fewer than two."""
    return {key: standard_error(query_values[rows]) for key, query_values in values.items()} if rows.sum() > 1 else {}


def _are_seen(lists: RankingLists, trained: RankingLists, top_grade: int) -> npt.NDArray[np.bool_]:
    """Whether each query has an MR document that is relevant to a train query, or has the text of such a document."""
    is_relevant = trained.are_relevant()
    ids, texts = (set(trained.document_columns[name].numpy()[is_relevant].tolist()) for name in (f.DOC_ID, f.DOC_TEXT))
    columns = (lists.document_columns[name].numpy().tolist() for name in (f.DOC_ID, f.DOC_TEXT))
    is_seen = np.array([doc_id in ids or text in texts for doc_id, text in zip(*columns, strict=True)], bool)
    rows = lists.split(lists.documents.flat_values.numpy())
    return np.array(
        [is_seen[list_rows[grades == top_grade]].any() for list_rows, grades in zip(rows, lists.grades, strict=True)],
        bool,
    )


def _texts(lists: RankingLists) -> npt.NDArray[np.object_]:
    """The texts of the queries."""
    texts: npt.NDArray[np.object_] = lists.query_columns[f.QUERY_TEXT].numpy()
    return texts


def _run_scores(
    name: str, run: Mapping[str, Mapping[str, float]], lists: RankingLists
) -> list[npt.NDArray[np.float32]]:
    """A run's scores in the order of the lists' documents."""
    scores = []
    for query_id, doc_ids in zip(lists.query_ids, lists.doc_ids, strict=True):
        ranked = run.get(query_id.decode(), {})
        names = [doc_id.decode() for doc_id in doc_ids]
        missing = [doc_id for doc_id in names if doc_id not in ranked]
        if missing:
            raise DataError(f"run {name} must rank every document of query {query_id.decode()}; it lacks {missing[0]}.")
        scores.append(np.asarray([ranked[doc_id] for doc_id in names], np.float32))
    return scores


def read_baselines(paths: Iterable[str]) -> dict[str, dict[str, dict[str, float]]]:
    """Reads the run files of baselines; a run's name is its tag.

    Returns:
      from name to the run's scores (query_id to doc_id to score), in the order of the names.

    Raises:
      DataError: a file does not hold exactly one run, or two runs have the same name.
    """
    runs: dict[str, dict[str, dict[str, float]]] = {}
    run_paths: dict[str, str] = {}
    for path in paths:
        with tf.io.gfile.GFile(path) as file:
            # Reads the whole file at once: line by line takes ten times as long.
            name, scores = parse_run(StringIO(file.read()), path)
        if name == RANDOM_ORDER:
            raise DataError(f"{path}: a baseline's tag must not be {name}, which names random order.")
        if name in runs:
            raise DataError(f"{path}: every baseline must have its own tag; {run_paths[name]} has {name}, too.")
        runs[name], run_paths[name] = scores, path
    return dict(sorted(runs.items()))
