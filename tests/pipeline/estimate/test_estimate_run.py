"""pipeline/estimate/estimate_run.py: every stage is a part of the estimate, and every part has its costs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.config import load_config
from pipeline.estimate.collection_size import CollectionSize
from pipeline.estimate.estimate_run import (
    COSTS,
    QUANTITIES_OF_PART,
    STAGES_OF_PART,
    RunEstimate,
    _notes,
    cost,
    estimate_run,
    quantities,
)
from pipeline.estimate.training_step import TrainingStep
from pipeline.stages import STAGES
from schemas.cut_texts import CutTexts
from schemas.errors import DataError

pytestmark = pytest.mark.tensors

NOT_ESTIMATED = {"WikipediaGen", "TranslationGen", "Tuner", "Rivals"}
INPUTS = "inputs"
STEP = TrainingStep(steps=100, seconds=0.01, first_seconds=2.0, epochs=10, weights=1_000_000)


def size_of(documents, lists, listed):
    return CollectionSize(
        documents=documents,
        cut_queries=CutTexts(),
        cut_documents=CutTexts(),
        document_bytes=600 * documents,
        document_words=100.0,
        query_words=10.0,
        lists={"train": 3 * lists, "eval": lists, "test": lists},
        pairs={"train": 3 * lists * listed, "eval": lists * listed, "test": lists * listed},
        trained_pairs=3 * lists * listed,
        candidates=0,
        vocabulary=10_000,
    )


def test_every_stage_is_in_one_part():
    stages = [stage for stages in STAGES_OF_PART.values() for stage in stages if stage != INPUTS]
    assert sorted(stages) == sorted(set(STAGES) - NOT_ESTIMATED)


def test_every_part_has_costs_of_its_quantities():
    assert COSTS.keys() == QUANTITIES_OF_PART.keys()
    known = quantities(size_of(1_000, 10, 20), STEP, has_lexicon=True)
    for part, costs in COSTS.items():
        assert costs.keys() <= set(QUANTITIES_OF_PART[part]) <= known.keys()
        assert min(costs.values()) > 0


@given(st.integers(100, 10**6), st.integers(1, 10**4), st.integers(1, 100), st.booleans(), st.sampled_from([*COSTS]))
def test_more_documents_or_lists_or_a_lexicon_never_take_less(documents, lists, listed, has_lexicon, part):
    less = cost(part, quantities(size_of(documents, lists, listed), STEP, has_lexicon))
    for more in (size_of(documents + 100, lists, listed), size_of(documents, lists + 1, listed)):
        assert cost(part, quantities(more, STEP, has_lexicon=True)) >= less * (1 - 1e-9)


def test_a_person_gets_a_line_for_each_part_their_sum_and_the_notes(config_file):
    config = load_config(str(config_file), ["training.patience=2", "evaluation.baselines=[tfidf]"])
    notes = tuple(_notes(config, memory=1.0, disk=1.0, load=0.5))
    estimate = RunEstimate(size_of(156, 10, 42), STEP, 1.5, {"start": 2.0, "training": 60.0}, 2e9, 1e6, notes)
    first, factor, step, *parts, total, patience, rivals = estimate.describe()
    assert first.startswith("156 documents of 100 words, 50 queries, lists of 42 documents")
    assert ("1.50" in factor, "10.0 ms" in step) == (True, True)
    assert [line.split("  ")[0] for line in parts] == ["start", "training"]
    assert total.startswith("in all ")
    assert ("training.patience" in patience, "tfidf" in rivals) == (True, True)


@pytest.mark.parametrize(
    ("settings", "load", "shown"),
    [
        ([], 1.5, "load 1.5"),
        (["lexicon.weight=held_out"], 0.5, "without each domain"),
        (["adversary.weight=0.1"], 0.5, "adversary"),
        (["tuning.search=grid", "tuning.epsilon=[1, 2]"], 0.5, "tuning"),
    ],
)
def test_what_the_estimate_leaves_out_is_a_note(config_file, settings, load, shown):
    domains = config_file.with_name("domains.tsv")
    domains.write_text("q1\tarts\nq2\tnews\n")
    config = load_config(str(config_file), [f"data.domains={domains}", *settings])
    (note,) = _notes(config, memory=1.0, disk=1.0, load=load)
    assert shown in note


@pytest.mark.parametrize(
    ("settings", "got"),
    [
        (["training.workers=2"], "2 and in_process"),
        (["beam.runner=portable", "beam.endpoint=h:1", "beam.environment=loopback"], "1 and portable"),
    ],
)
def test_a_run_of_several_processes_is_refused(config_file, settings, got):
    with pytest.raises(DataError, match=f"training.workers .* got {got}"):
        estimate_run(load_config(str(config_file), settings))
