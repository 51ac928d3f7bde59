"""The pages of the documentation show what a run of the sample really gives."""

import re
from pathlib import Path

import pytest

from pipeline.config_file import load_config
from pipeline.input_files import resolve_digests
from schemas.evaluation import QueryMetrics
from schemas.trec import parse_run
from tests.e2e.pages import (
    DOCS,
    blocks,
    different,
    execute,
    make_folder,
    notebook_blocks,
    run_shell,
    shown,
    substitutes,
)
from tests.e2e.process import ROOT
from tests.e2e.stand_in import serve

pytestmark = pytest.mark.long

PYTHON, SERVING, RECIPES = (shown(DOCS / f"{name}.md") for name in ("python", "serving", "recipes"))
LEFT_OUT = r"clir run (?!runs/recipes/graded)(\S+).* 2> /dev/null(?:\nclir (?:index|search) .*)*"
"""The runs of recipes that are not made, and what follows them: their configurations are checked."""


def test_the_snippets_for_python_and_the_notebook_print_what_stands_below_them(demo_output: Path) -> None:
    readme = blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    page = [*PYTHON, *(block for block in readme if block.language == "python"), *notebook_blocks()]
    printed = execute(page, substitutes(demo_output))
    assert different([block.output or "" for block in page], printed) == []
    # TensorFlow alone cannot load a model; no other snippet fails.
    is_error = [bool(re.search(r"^\w*(Error|Exception): ", output, re.MULTILINE)) for output in printed]
    assert is_error == [True] + [False] * (len(page) - 1)
    assert "tensorflow_text" not in page[0].code


def test_the_stand_in_answers_what_the_page_on_serving_shows(demo_output: Path) -> None:
    with serve(demo_output) as server:
        printed = execute(SERVING, substitutes(demo_output, server))
    assert different([block.output or "" for block in SERVING], printed) == []


def test_the_example_query_of_the_design_page_is_ranked_as_it_says(demo_output: Path) -> None:
    page = " ".join((DOCS / "design.md").read_text(encoding="utf-8").split())
    with (demo_output / "evaluation" / "run.trec").open(encoding="utf-8") as lines:
        scores = parse_run(lines, "run.trec").scores["108"]
    ranks = {doc_id: rank for rank, doc_id in enumerate(sorted(scores, key=scores.__getitem__, reverse=True), 1)}
    assert [ranks[doc_id] for doc_id in ("19", "18", "20", "21")] == [1, 2, 3, 4]
    assert 'document 19, "Écriture cunéiforme", first, the MR document second, 20 third and 21 fourth' in page
    values = QueryMetrics.from_tsv((demo_output / "evaluation" / "per_query.tsv").read_text(encoding="utf-8"))
    query = {key: metric[values.query_ids.index("108")] for key, metric in values.values.items()}
    assert (query["mrr_r"], query["mrr_mr"], round(query["ndcg_5"], 3)) == (1, 1 / 2, 0.896)
    assert "`mrr_r` 1, `mrr_mr` 1/2, and `ndcg_5`" in page and "= 0.896." in page


def test_every_recipe_works_and_prints_what_the_page_shows(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "project")
    expected, printed = [], []
    for block in RECIPES:
        code, configs = re.sub(LEFT_OUT, "", block.code), re.findall(LEFT_OUT, block.code)
        output = block.output or ""
        expected.append(output.partition("test split ")[0] if configs else output)
        printed.append(run_shell(code, folder))
        for config in configs:
            resolve_digests(load_config(str(folder / config)))
    assert different(expected, printed) == []
    # pytrec_eval finds the run's NDCG@5.
    (ours,) = re.findall(r"^ndcg_5 +([\d.]+)", "".join(printed), re.MULTILINE)
    (theirs,) = re.findall(r"^176 queries: ([\d.]+)$", "".join(printed), re.MULTILINE)
    assert float(ours) == pytest.approx(float(theirs), abs=1.01e-4)
