"""Held-out domains on the sample: nothing that is learned knows their judgments, and the data stages are shared.

An adversary sees their texts.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from schemas.splits import stable_hash
from tests.e2e.process import SAMPLE, SampleRun

pytestmark = pytest.mark.long

NAMES = ("arts", "places", "science")
HELD_OUT = "science"
LEARNED = {"Transform", "LexiconGen", "Trainer", "TrainingReport"}
"""The stages that must not know judgments of held-out domains."""


def domain_of(query_id: str) -> str:
    return NAMES[stable_hash("domain", query_id) % 3]


class Runs(NamedTuple):
    """A run and its fitted numbers; one on judgments whose grades differ for held-out queries alone; and, in the first
    one's folder, one that holds out nothing."""

    first: SampleRun
    history: Any
    other_grades: SampleRun
    in_domain: SampleRun


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    folder = tmp_path_factory.mktemp("domains")
    ids = [line.split("\t")[0] for line in (SAMPLE / "wiki_en.queries").read_text().splitlines()]
    domains = folder / "domains.tsv"
    domains.write_text("".join(f"{query_id}\t{domain_of(query_id)}\n" for query_id in ids))
    judgments = folder / "judgments.tsv"
    lines = [line.split("\t") for line in (SAMPLE / "en2fr.rel").read_text().splitlines()]
    judgments.write_text(
        "".join(
            f"{query_id}\t{doc_id}\t{3 - int(grade) if domain_of(query_id) == HELD_OUT else grade}\n"
            for query_id, doc_id, grade in lines
        )
    )
    common = ("--set", f"data.domains={domains}", "--set", "training.epochs=2", "--set", "lexicon.weight=held_out")
    common += ("--set", "encoder.kind=none")
    held_out = ("--set", f"data.held_out=[{HELD_OUT}]", "--set", "adversary={weight: 0.01, held_out_texts: true}")
    first = SampleRun(folder / "out", "configs/sample.yaml", *common, *held_out)
    assert first.code == 0, first.err
    history = json.loads((first.output / "training" / "training.json").read_text())["fitted"]
    others = (
        "--set",
        f"data.judgments={judgments}",
        "--set",
        "evaluation.minimums={}",
    )  # they turn the test lists over
    found = [
        SampleRun(folder / "other", "configs/sample.yaml", *common, *held_out, *others),
        SampleRun(folder / "out", "configs/sample.yaml", *common),
    ]
    for run in found:
        assert run.code == 0, run.err
    return Runs(first, history, *found)


def files(run: SampleRun, pattern: str) -> dict[str, bytes]:
    """Name to content of the files in the oldest artifact's folder."""
    oldest = min(run.output.glob(f"artifacts/{pattern}"), key=lambda path: int(path.relative_to(run.output).parts[3]))
    return {path.name: path.read_bytes() for path in oldest.iterdir() if path.is_file()}


@pytest.mark.parametrize("pattern", ["LexiconGen/lexicon/*", "Transform/transform_graph/*/transform_fn/assets"])
def test_grades_of_held_out_queries_change_no_byte_of_vocabularies_and_lexicon(runs: Runs, pattern: str) -> None:
    first, other = (files(run, pattern) for run in (runs.first, runs.other_grades))
    assert first
    assert first == other


def test_grades_of_held_out_queries_change_no_weight_and_no_fitted_number(runs: Runs) -> None:
    first, other = (
        files(run, "Trainer/model/*/Format-Serving/variables")["variables.data-00000-of-00001"]
        for run in (runs.first, runs.other_grades)
    )
    assert first == other
    assert runs.history == json.loads((runs.other_grades.output / "training" / "training.json").read_text())["fitted"]


def test_the_discriminator_sees_the_texts_of_the_held_out_domain(runs: Runs) -> None:
    history = json.loads((runs.other_grades.output / "training" / "training.json").read_text())["history"]
    for epoch in history:
        # Three domains come equally often, of which two are trained on.
        assert epoch["train/largest_domain_share"] == pytest.approx(1 / 3, abs=0.05)
        assert epoch["train/adversary_gradient_norm"] > 0


def test_the_lexicon_without_a_domain_is_that_of_a_run_that_holds_it_out(runs: Runs) -> None:
    newest = max(runs.in_domain.output.glob("artifacts/LexiconGen/lexicon/*"), key=lambda path: int(path.name))
    without = newest / "without" / str(NAMES.index(HELD_OUT))
    held_out = files(runs.first, "LexiconGen/lexicon/*")
    assert {path.name: path.read_bytes() for path in without.iterdir()} == held_out
    assert sorted(path.name for path in (newest / "without").iterdir()) == ["0", "1", "2"]


def test_a_held_out_weight_is_fitted_without_each_trained_domain_in_turn(runs: Runs) -> None:
    told = [line.split()[4].rstrip(",") for line in runs.other_grades.err.splitlines() if "without the domain" in line]
    assert told == [name for name in NAMES if name != HELD_OUT]
    weight = runs.history["lexicon.weight"]
    assert weight["value"] == max(weight["curve"], key=lambda tried: tried["ndcg_5"] + 0.1 * tried["p_mr_1"])["value"]


def test_only_test_lists_of_the_held_out_domain_are_evaluated(runs: Runs) -> None:
    report = runs.other_grades.report
    assert [*report["domains"]] == [HELD_OUT]
    assert report["domains"][HELD_OUT]["metrics"] == report["metrics"]
    _, *lines = (runs.other_grades.output / "evaluation" / "per_query.tsv").read_text().splitlines()
    assert {domain_of(line.split("\t")[0]) for line in lines} == {HELD_OUT}


def test_holding_out_nothing_runs_no_data_stage_again_and_reports_every_domain(runs: Runs) -> None:
    # The words of held-out texts counted before, and so the vocabularies are the same.
    assert runs.in_domain.ran >= LEARNED - {"Transform"}
    shared = {"CollectionGen", "WikiClirExampleGen", "StatisticsGen", "ImportSchemaGen", "ExampleValidator"}
    assert not runs.in_domain.ran & {*shared, "LexicalBaseline"}
    assert [*runs.in_domain.report["domains"]] == sorted(NAMES)


def test_the_card_says_what_was_held_out(runs: Runs) -> None:
    (version,) = runs.other_grades.versions
    card = (Path(version) / "MODEL_CARD.md").read_text()
    assert f"These queries are of `{HELD_OUT}`: training has known no judgment of these domains." in card
