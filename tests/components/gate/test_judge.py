"""The gate's verdict and its reason."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.gate.judge import judge, same_files
from schemas.evaluation import Comparison, Verdict

RANDOM = {"map": 0.1, "ndcg_5": 0.2}
PERFECT = {"map": 1.0, "ndcg_5": 1.0}
FIRST = "no model was pushed before"


@pytest.mark.parametrize(
    ("metrics", "minimums", "blessed", "reason"),
    [
        ({"map": 0.5, "ndcg_5": 0.3}, None, True, "every metric lies above random order's"),
        ({"map": 0.5, "ndcg_5": 0.2}, None, False, "ndcg_5 must lie above random order's 0.2000; got 0.2000"),
        (
            {"map": 0.0, "ndcg_5": 0.1},
            None,
            False,
            "map must lie above random order's 0.1000; got 0.0000; "
            "ndcg_5 must lie above random order's 0.2000; got 0.1000",
        ),
        ({"map": 0.6, "ndcg_5": 0.0}, {"map": 0.6}, True, "map 0.6000 reaches 0.6000"),
        ({"map": 0.5, "ndcg_5": 0.9}, {"map": 0.6}, False, "map must reach 0.6000; got 0.5000"),
        (
            {"map": 0.5, "ndcg_5": 0.9},
            {"map": 0.6, "ndcg_5": 1.0},
            False,
            "map must reach 0.6000; got 0.5000; ndcg_5 must reach 1.0000; got 0.9000",
        ),
        (
            {"map": 0.5, "ndcg_5": 0.9},
            {"map": 0.4, "ndcg_5": 0.9},
            True,
            "map 0.5000 reaches 0.4000, ndcg_5 0.9000 reaches 0.9000",
        ),
        ({"map": 0.0, "ndcg_5": 0.0}, {}, True, "no minimum is set"),
    ],
)
def test_verdict_names_every_metric_that_decides(metrics, minimums, blessed, reason):
    reason = f"{reason}; {FIRST}" if blessed else reason
    expected = Verdict(blessed=blessed, reason=reason, comparison=None)
    assert judge(metrics, RANDOM, PERFECT, minimums, FIRST) == expected


def test_a_metric_that_even_a_perfect_order_cannot_raise_is_not_asked_for():
    assert judge({"recall_mr_5": 1.0}, {"recall_mr_5": 1.0}, {"recall_mr_5": 1.0}, None, FIRST).blessed


def test_a_metric_that_is_not_a_number_reaches_nothing():
    assert not judge({"map": float("nan")}, RANDOM, PERFECT, {"map": 0.0}, FIRST).blessed


# Beside the last pushed model

GOOD = {"map": 0.5, "ndcg_5": 0.3}
PASSED = "every metric lies above random order's"
EVIDENCE = "version 7 (ndcg_5 0.3000 against 0.4000, p = {:.4f})"


def compared(p_value):
    return Comparison(
        version="7", metric="ndcg_5", value=GOOD["ndcg_5"], last_value=0.4, p_value=p_value, significance=0.05
    )


@pytest.mark.parametrize(
    "reason",
    [
        "no model was pushed before",
        "not compared with version 7, as evaluation.start_anew asks",
        "not compared with version 7, which is this very model",
    ],
)
def test_why_a_model_is_not_compared_is_told(reason):
    assert judge(GOOD, RANDOM, PERFECT, None, reason) == Verdict(
        blessed=True, reason=f"{PASSED}; {reason}", comparison=None
    )


@pytest.mark.parametrize("p_value", [0.05, 0.3, 1.0])
def test_a_model_that_is_not_significantly_worse_is_blessed_with_the_evidence(p_value):
    reason = f"{PASSED}; not significantly worse than {EVIDENCE.format(p_value)}"
    assert judge(GOOD, RANDOM, PERFECT, None, compared(p_value)) == Verdict(
        blessed=True, reason=reason, comparison=compared(p_value)
    )


@pytest.mark.parametrize("minimums", [None, {}, {"map": 0.5}])
def test_a_significantly_worse_model_is_refused_and_told_what_to_do(minimums):
    assert judge(GOOD, RANDOM, PERFECT, minimums, compared(0.04)) == Verdict(
        blessed=False,
        reason=f"the model is significantly worse than {EVIDENCE.format(0.04)}; "
        "to push it all the same, set evaluation.start_anew",
        comparison=compared(0.04),
    )


def test_a_model_below_a_minimum_is_refused_even_where_it_is_not_worse():
    assert judge(GOOD, RANDOM, PERFECT, {"map": 0.6}, compared(1.0)) == Verdict(
        blessed=False, reason="map must reach 0.6000; got 0.5000", comparison=compared(1.0)
    )


def test_a_missed_minimum_and_a_worse_model_are_told_together():
    verdict = judge(GOOD, RANDOM, PERFECT, {"map": 0.6}, compared(0.001))
    assert not verdict.blessed
    assert verdict.reason.startswith(
        "map must reach 0.6000; got 0.5000; the model is significantly worse than version 7 ("
    )


FILES = st.dictionaries(st.sampled_from(["a", "b", "c/a", "c/d/a"]), st.binary(max_size=2), max_size=3)


def write(folder: Path, files: dict[str, bytes]) -> str:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return str(folder)


@given(FILES, FILES)
def test_folders_are_the_same_where_names_and_contents_are_and_either_way_round(one, other):
    with tempfile.TemporaryDirectory() as folder:
        paths = [write(Path(folder, name), files) for name, files in (("one", one), ("other", other))]
        assert same_files(*paths) == same_files(*reversed(paths)) == (one == other)
        assert same_files(paths[0], paths[0])


def test_a_difference_in_the_last_byte_of_a_large_file_is_seen(tmp_path):
    large = bytes((1 << 20) + 1)  # more than is read at once
    one, same, other = (
        write(tmp_path / name, {"shard": content})
        for name, content in (("one", large), ("same", large), ("other", large[:-1] + b"\1"))
    )
    assert same_files(one, same)
    assert not same_files(one, other)


def test_what_a_push_adds_to_a_model_is_no_part_of_it(tmp_path):
    files = {"saved_model.pb": b"graph"}
    added = {"MODEL_CARD.md": b"# Model card", "assets.extra/tf_serving_warmup_requests": b"requests"}
    model, version = (write(tmp_path / name, content) for name, content in (("model", files), ("v", files | added)))
    assert same_files(model, version)
    other = write(tmp_path / "other", {**files, "assets/MODEL_CARD.md": b"of the model's own"})
    assert not same_files(model, other)
