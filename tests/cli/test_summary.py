"""The summary of a run: the metrics on all, on seen and on cold documents."""

from typing import Any

from schemas.evaluation import EvaluationReport, PartReport
from schemas.search_report import Approximation, SampledMetrics, SearchComparison, SearchReport
from smooth_clir.cli.summary import metrics_table, search_table


def part(queries: int, value: float) -> PartReport:
    if not queries:
        return PartReport(queries=0, metrics={}, reachable={}, baselines={"random": {}})
    return PartReport(
        queries=queries, metrics={"map": value}, reachable={"map": 1}, baselines={"random": {"map": 0.25}}
    )


def report(**parts: Any) -> EvaluationReport:
    content = {**dict(part(1000, 0.75)), **parts}
    return EvaluationReport(split="test", queries_without_relevant_document=0, paper_names={"map": "MAP"}, **content)


WHOLE = """\
test split       model    random reachable  in the paper
map             0.7500    0.2500    1.0000  MAP
1,000 queries"""
SEEN_QUERIES = "of them with an MR document that training has seen as relevant"


def test_metrics_stand_beside_the_channels_the_baselines_and_what_is_reachable() -> None:
    assert metrics_table(report()) == WHOLE
    channels = {"smooth_cosine": {"map": 0.5}, "bm25": {"map": 0.25}}  # names of any length
    parameters = {"lsi": {"dim": 50, "translation": "best"}}
    assert (
        metrics_table(report(channels=channels, parameters=parameters, feedback=4.0, feedback_documents=3))
        == """\
test split       model smooth_cosine      bm25    random reachable  in the paper
map             0.7500        0.5000    0.2500    0.2500    1.0000  MAP
model: with feedback 4, a second pass by the best 3 of each list
lsi: dim 50, translation best, chosen on the eval split
1,000 queries"""
    )


def test_each_domain_has_a_line() -> None:
    metrics = {"p_mr_1": 0.5, "ndcg_5": 0.25, "map": 0.125}
    domains = {
        name: part(queries, 0).model_copy(update={"metrics": metrics})
        for name, queries in (("news", 1200), ("home & garden", 3))
    }
    assert (
        metrics_table(report(domains=domains))
        == f"""\
{WHOLE}

domain           queries    p_mr_1    ndcg_5       map
news               1,200    0.5000    0.2500    0.1250
home & garden          3    0.5000    0.2500    0.1250"""
    )


def test_seen_and_cold_documents_have_tables_of_their_own_unless_either_is_the_whole() -> None:
    assert (
        metrics_table(report(seen=part(900, 0.8), cold=part(100, 0.3)))
        == f"""\
{WHOLE}, 900 {SEEN_QUERIES}

seen             model    random reachable
map             0.8000    0.2500    1.0000
900 queries

cold             model    random reachable
map             0.3000    0.2500    1.0000
100 queries"""
    )
    for seen in (0, 1000):
        text = metrics_table(report(seen=part(seen, 0.75), cold=part(1000 - seen, 0.75)))
        assert text == f"{WHOLE}, {seen:,} {SEEN_QUERIES}"


def search(**changes: Any) -> SearchReport:
    whole = {"ndcg_5": 0.5, "recall_1000": 0.75}
    sampled = SampledMetrics(metrics={"ndcg_5": 0.875}, channels={}, baselines={})
    compared = {"kind": "baseline", "other": "bm25", "difference": 0.25, "p_value": 0.0002, "is_bound": True}
    content: dict[str, Any] = {
        "queries": 1000, "queries_without_relevant_document": 0, "documents": 31102, "depth": 1000, "definitions": {},
        "metrics": whole, "channels": {}, "baselines": {"bm25": {"ndcg_5": 0.25, "recall_1000": 0.3}},
        "sampled": sampled, "approximation": Approximation(overlap_10=1, queries=0),
        "comparisons": tuple(SearchComparison(metric=metric, **compared) for metric in ("ndcg_5", "mrr_mr")),
    }  # fmt: skip
    return SearchReport(**{**content, **changes})


def test_the_search_stands_beside_the_lists() -> None:
    assert (
        search_table(search())
        == """\
whole collection (31,102 documents)
                 model      bm25  on lists
ndcg_5          0.5000    0.2500    0.8750
recall_1000     0.7500    0.3000         -
model against bm25: ndcg_5 +0.2500 (p <= 0.0002), mrr_mr +0.2500 (p <= 0.0002)
1,000 queries, the first 1,000 documents of each ranking count"""
    )


def test_channels_feedback_and_documents_without_a_score_are_reported() -> None:
    channels = {"dense": {"ndcg_5": 0.4, "recall_1000": 0.4}}
    comparison = SearchComparison(
        kind="channel", other="dense", metric="ndcg_5", difference=-0.1, p_value=0.5, is_bound=False
    )
    sampled = SampledMetrics(metrics={}, channels={}, baselines={})
    lost = Approximation(overlap_10=0.9925, queries=200)
    _, head, _, _, against, feedback, approximated, _ = search_table(
        search(
            channels=channels,
            comparisons=(comparison,),
            sampled=sampled,
            approximation=lost,
            feedback=4,
            engine="milvus://host:1/a",
        )
    ).splitlines()
    assert head == "                 model     dense      bm25  on lists"
    assert against == "model against the channel dense: ndcg_5 -0.1000 (p = 0.5000)"
    assert "feedback 4" in feedback
    assert "99.25%" in approximated and approximated.endswith("of 200 queries, in milvus://host:1/a")
