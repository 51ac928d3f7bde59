"""docs/design.md follows a query through a run of the sample, and says how it is ranked."""

from pathlib import Path

import pytest

from schemas.evaluation import QueryMetrics
from schemas.trec import parse_run
from tests.e2e.process import ROOT

pytestmark = pytest.mark.long


def test_the_example_query_of_the_design_page_is_ranked_as_it_says(demo_output: Path) -> None:
    page = " ".join((ROOT / "docs" / "design.md").read_text(encoding="utf-8").split())
    with (demo_output / "evaluation" / "run.trec").open(encoding="utf-8") as lines:
        scores = parse_run(lines, "run.trec").scores["108"]
    ranks = {doc_id: rank for rank, doc_id in enumerate(sorted(scores, key=scores.__getitem__, reverse=True), 1)}
    assert [ranks[doc_id] for doc_id in ("19", "18", "20", "21")] == [1, 2, 3, 5]
    assert 'document 19, "Écriture cunéiforme", first, the MR document second, 20 third and 21 fifth' in page
    values = QueryMetrics.from_tsv((demo_output / "evaluation" / "per_query.tsv").read_text(encoding="utf-8"))
    of_query = {key: metric[values.query_ids.index("108")] for key, metric in values.values.items()}
    assert (of_query["mrr_r"], of_query["mrr_mr"], round(of_query["ndcg_5"], 3)) == (1, 1 / 2, 0.884)
    assert "`mrr_r` 1, `mrr_mr` 1/2, and `ndcg_5`" in page and "= 0.884." in page
