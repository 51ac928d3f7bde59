"""Evaluates searches in the whole collection. Never imports TFX."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import compress
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from models.evaluation.metrics import SEARCH_METRICS
from models.evaluation.search_metrics import DEPTH, cut_at_depth, ranks_of, search_metrics
from models.evaluation.significance import compare_pairs
from models.exported.model import ExportedModel
from models.lists.ranking_lists import RankingLists
from models.time_left import TimeLeft
from schemas import features as f
from schemas.evaluation import MODEL_TAG, EvaluationReport, QueryMetrics
from schemas.passages import document_of
from schemas.relevance import NOT_RELEVANT
from schemas.search_report import BM25, DENSE, Approximation, SampledMetrics, SearchComparison, SearchReport
from schemas.trec import run_lines
from schemas.word_rules import WordRules
from smooth_clir.retrieval.best_passages import search_documents
from smooth_clir.retrieval.bm25 import search_by_bm25, token_lists
from smooth_clir.retrieval.corpus_index import CorpusIndex
from smooth_clir.retrieval.search_index import IndexHit, SearchIndex

COMPARED: Final = ("ndcg_5", "mrr_mr")
"""The metrics that compare the model with its channels and with BM25."""

_MODEL: Final = "model"
_BEST: Final = 10
_SAMPLE: Final = 200
_MAX_PASSAGES: Final = 20
"""Number of passages for each document among which BM25's documents are sought, in a collection of passages."""
_LOGGED_EVERY: Final = 20

progress_log = logging.getLogger("clir.progress")

_Ranks = npt.NDArray[np.float64]
"""The ranks of a query's relevant documents."""
_Search: TypeAlias = Callable[[int], list[IndexHit]]
_Values = Mapping[str, npt.NDArray[np.float64]]
"""Each metric's key to its values for the queries."""


class Evaluation(NamedTuple):
    """The results of an evaluation."""

    report: SearchReport
    per_query: QueryMetrics
    """The model's metrics of every query."""


def evaluate_search(
    lists: RankingLists,
    index: SearchIndex,
    exact: CorpusIndex,
    model: ExportedModel,
    read_collection: Callable[[], Iterable[tuple[bytes, bytes]]],
    rules: WordRules,
    top_grade: int,
    sampled: EvaluationReport,
    write_run: Callable[[str], object],
    leave_out_own: bool = False,
    engine: str = "",
) -> Evaluation:
    """Searches the collection for every query of the lists.

    Relevant are the documents of the query's list with a grade above 0; all other documents of the collection count as
    not relevant.

    Args:
      lists: the lists of the test split: query texts, and judgments.
      index: the index of the collection, made with the model. A search includes the model's second pass; the channels
        are evaluated without it.
      exact: the same index on disk, which can also score every document.
      model: encodes the queries; its score is an inner product.
      read_collection: reads id and text of every document of the collection; BM25 calls it twice.
      rules: what words are, and how many of a text count.
      top_grade: the MR grade.
      sampled: the evaluation of the same lists.
      write_run: receives the lines of a TREC run file, query by query.
      leave_out_own: whether to leave a document with the query's own id out of its results.
      engine: the address of the engine that has the index, for the report; empty for an index on disk.

    Raises:
      ValueError: the evaluation is of other lists.
    """
    whole = lists.whole_documents
    passages, lists = 1 if whole is lists else _MAX_PASSAGES, whole
    if sampled.queries != len(lists):
        raise ValueError(f"the evaluation must be of the same {len(lists)} lists; got {sampled.queries}")
    is_relevant = [list_grades > NOT_RELEVANT for list_grades in lists.grades]
    grades = [list_grades[rows] for list_grades, rows in zip(lists.grades, is_relevant, strict=True)]
    relevant_ids = [list(compress(doc_ids, rows)) for doc_ids, rows in zip(lists.doc_ids, is_relevant, strict=True)]
    ranks, overlaps = _search(lists, relevant_ids, index, exact, model, write_run, leave_out_own)
    channels = {name: search_metrics(grades, system_ranks, top_grade) for name, system_ranks in ranks.items()}
    model_values = channels.pop(_MODEL)
    rankings = _bm25_rankings(_texts(lists), read_collection, rules, passages * (DEPTH + leave_out_own))
    bm25_ranks = [
        ranks_of(doc_ids, [doc_id for doc_id in ranked if not leave_out_own or doc_id != query_id][:DEPTH])
        for query_id, doc_ids, ranked in zip(lists.query_ids, relevant_ids, rankings, strict=True)
    ]
    baselines = {BM25: search_metrics(grades, bm25_ranks, top_grade)}
    report = SearchReport(
        queries=len(lists),
        queries_without_relevant_document=sum(not doc_ids for doc_ids in relevant_ids),
        documents=exact.count_documents(),
        depth=DEPTH,
        definitions={key: cut_at_depth(metric).definition for key, metric in SEARCH_METRICS.items()},
        metrics=_means(model_values),
        channels={name: _means(values) for name, values in channels.items()},
        baselines={name: _means(values) for name, values in baselines.items()},
        sampled=_sampled(sampled, _matching_channel(model)),
        comparisons=_comparisons(model_values, channels, baselines),
        approximation=Approximation(overlap_10=float(np.mean(overlaps)) if overlaps else 1.0, queries=len(overlaps)),
        engine=engine,
        feedback=model.feedback.gain,
    )
    query_ids = [query_id.decode() for query_id in lists.query_ids]
    return Evaluation(report, QueryMetrics(query_ids, {key: values.tolist() for key, values in model_values.items()}))


def _search(
    lists: RankingLists,
    relevant_ids: Sequence[Sequence[bytes]],
    index: SearchIndex,
    exact: CorpusIndex,
    model: ExportedModel,
    write_run: Callable[[str], object],
    leave_out_own: bool,
) -> tuple[dict[str, list[_Ranks]], list[float]]:
    """Returns the relevant documents' ranks by system, and the overlaps for a sample of queries.

    There are overlaps only if the index does not score every document.
    """
    words = _matching_channel(model)
    ranks: dict[str, list[_Ranks]] = {name: [] for name in ([_MODEL, DENSE, words] if words else [_MODEL])}
    overlaps = []
    sample = _sample(len(lists)) if exact.manifest.lists or index is not exact else frozenset()
    time_left = TimeLeft(0, len(lists))
    for number, (query_id, text, doc_ids) in enumerate(zip(lists.query_ids, _texts(lists), relevant_ids, strict=True)):
        query = model.encode_query(text.decode())
        depth = DEPTH + leave_out_own
        searches: list[_Search] = [partial(index.search, query, feedback=model.feedback)]
        if words:
            searches += [partial(index.dense_search, query), partial(index.words_search, query)]
        rankings = [search_documents(search, depth) for search in searches]
        own_id = query_id if leave_out_own else None
        best, *_ = rankings = [_without(own_id, hits, DEPTH) for hits in rankings]
        for system_ranks, hits in zip(ranks.values(), rankings, strict=True):
            system_ranks.append(ranks_of(doc_ids, [_document_of(hit) for hit in hits]))
        names, scores = [_document_of(hit).decode() for hit in best], [hit.score for hit in best]
        write_run("".join(run_lines(query_id.decode(), names, scores, MODEL_TAG)))
        if number in sample:
            search_exactly = partial(exact.search, query, feedback=model.feedback, depth=len(exact))
            exact_hits = search_documents(search_exactly, _BEST + leave_out_own)
            overlaps.append(_overlap(best, _without(own_id, exact_hits, _BEST)))
        if number and number % _LOGGED_EVERY == 0:
            progress_log.info("%s of %s queries, %s left", f"{number:,}", f"{len(lists):,}", time_left.after(number))
    return ranks, overlaps


def _without(own_id: bytes | None, hits: Sequence[IndexHit], limit: int) -> list[IndexHit]:
    """Returns the first hits without the query's own document."""
    return [hit for hit in hits if _document_of(hit) != own_id][:limit]


def _document_of(hit: IndexHit) -> bytes:
    return document_of(hit.doc_id.decode()).encode()


def _matching_channel(model: ExportedModel) -> str | None:
    """Returns the name of the channel of words that match, if it weighs in the score."""
    return model.words_channel if model.words_weight else None


def _texts(lists: RankingLists) -> list[bytes]:
    texts: list[bytes] = lists.query_columns[f.QUERY_TEXT].numpy().tolist()
    return texts


def _sample(queries: int) -> frozenset[int]:
    """Returns the numbers of up to `_SAMPLE` queries, evenly spread."""
    return frozenset(np.linspace(0, queries - 1, min(queries, _SAMPLE)).round().astype(int).tolist())


def _overlap(hits: Sequence[IndexHit], best: Sequence[IndexHit]) -> float:
    """Returns the share of the best documents that are among as many first hits; 1 without documents."""
    shared = {hit.doc_id for hit in hits[: len(best)]} & {hit.doc_id for hit in best}
    return len(shared) / len(best) if best else 1.0


def _bm25_rankings(
    texts: Sequence[bytes], read_collection: Callable[[], Iterable[tuple[bytes, bytes]]], rules: WordRules, depth: int
) -> list[list[bytes]]:
    """Returns the ids of the documents that BM25 finds for each query."""

    def log(scored: int, documents: int) -> None:
        progress_log.info("BM25 of %s of %s documents", f"{scored:,}", f"{documents:,}")

    queries = list(token_lists(texts, rules))
    return [
        [*dict.fromkeys(document_of(doc_id.decode()).encode() for doc_id in ranked.doc_ids.tolist())]
        for ranked in search_by_bm25(queries, read_collection, rules, depth, log)
    ]


def _means(values: _Values) -> dict[str, float]:
    return {key: float(query_values.mean()) if len(query_values) else 0.0 for key, query_values in values.items()}


def _sampled(report: EvaluationReport, words: str | None) -> SampledMetrics:
    """Returns the metrics, channels and baselines of the lists that a search has, too."""

    def shared(metrics: Mapping[str, float]) -> dict[str, float]:
        return {key: metrics[key] for key in SEARCH_METRICS if key in metrics}

    dense = [name for name in report.channels if name != words]
    names = {DENSE: dense[0], words: words} if words in report.channels and len(dense) == 1 else {}
    return SampledMetrics(
        metrics=shared(report.metrics),
        channels={name: shared(report.channels[report_name]) for name, report_name in names.items()},
        baselines={name: shared(report.baselines[name]) for name in (BM25,) if name in report.baselines},
    )


def _comparisons(
    model_values: _Values, channels: Mapping[str, _Values], baselines: Mapping[str, _Values]
) -> tuple[SearchComparison, ...]:
    """Compares the model with each channel and each baseline."""
    systems: list[tuple[Literal["channel", "baseline"], str, _Values]] = [
        *(("channel", name, values) for name, values in channels.items()),
        *(("baseline", name, values) for name, values in baselines.items()),
    ]
    compared = [(kind, name, metric, values[metric]) for kind, name, values in systems for metric in COMPARED]
    results = compare_pairs((model_values[metric], values) for _, _, metric, values in compared)
    return tuple(
        SearchComparison(kind=kind, other=name, metric=metric, **result._asdict())
        for (kind, name, metric, _), result in zip(compared, results, strict=True)
    )
