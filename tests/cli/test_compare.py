"""`clir compare`: a table by hand, significance by letters, and the account of bad input."""

import json
from math import log2
from pathlib import Path

import pytest

from models.evaluation.significance import holm
from tests.cli.command import Clir

QRELS = "q1 0 d1 2\nq1 0 d2 1\nq2 0 d1 1\nq2 0 d2 0\nq3 0 d3 1\n"
FIRST = "q1 Q0 d1 1 3 a\nq1 Q0 d3 2 2 a\nq1 Q0 d2 3 1 a\nq2 Q0 d2 1 2 a\nq2 Q0 d1 2 1 a\n"
MANY = range(10)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with judgments and runs."""
    monkeypatch.chdir(tmp_path)
    contents = {
        "qrels": QRELS,
        "first.trec": FIRST,
        "second.trec": FIRST.replace("d2 1 2", "d2 1 0.5"),
        "qrels_10": "".join(f"q{query} 0 d1 1\n" for query in MANY),
        "worse_10": "".join(f"q{query} Q0 d{rank} {rank} {-rank} a\n" for query in MANY for rank in (0, 1)),
        "better_10": "".join(f"q{query} Q0 d1 1 1 b\n" for query in MANY),
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def test_means_differences_and_p_values_by_hand(clir: Clir, folder: Path) -> None:
    command = ["compare", "first.trec", "ours=second.trec", "--qrels", "qrels"]
    answer = clir(*command, "--measures", "nDCG@2 RR P(rel=2)@1", "--json")
    assert answer.code == 0, answer.err
    report = json.loads(answer.out)
    first, ours = (run["measures"] for run in report["runs"])
    # q1 has d1, d3, d2; q2 has d2, d1, which the second run turns around; q3 is missing.
    expected = {"nDCG@2": (2 / (2 + 1 / log2(3)) + 1 / log2(3)) / 3, "RR": (1 + 1 / 2) / 3, "P(rel=2)@1": 1 / 3}
    assert first == pytest.approx(expected)
    gains = {"nDCG@2": (1 - 1 / log2(3)) / 3, "RR": (1 / 2) / 3, "P(rel=2)@1": 0}
    assert ours == pytest.approx({name: first[name] + gain for name, gain in gains.items()})
    assert {row["measure"]: row["difference"] for row in report["comparisons"]} == pytest.approx(gains)
    # One query differs, so that every flip is as far from 0.
    assert [row["p_value"] for row in report["comparisons"]] == [1, 1, 1]
    assert [(row["run"], row["other"]) for row in report["comparisons"]] == [("ours", "first")] * 3
    assert [run["missing_queries"] for run in report["runs"]] == [1, 1]
    text = clir(*command)
    assert "ours against first: nDCG@10 +" in text.out
    assert "first lacks 1 of 3 judged queries, which score 0" in text.err


def test_letters_of_a_latex_table_name_the_runs_that_are_significantly_below(clir: Clir, folder: Path) -> None:
    answer = clir(
        *("compare", "worse_10", r"a&b_\x=better_10", "again=better_10", "--qrels", "qrels_10", "--all-pairs"),
        *("--measures", "RR", "--latex"),
    )
    rows = [line for line in answer.out.splitlines() if line.endswith(r"\\")][1:]
    assert rows == [
        r"a & worse\_10 & 0.5000 \\",
        r"b & a\&b\_\textbackslash{}x & 1.0000$^{a}$ \\",
        r"c & again & 1.0000$^{a}$ \\",
    ]


def test_the_correction_covers_all_comparisons_of_all_measures(clir: Clir, folder: Path) -> None:
    command = ["compare", "worse_10", "b=better_10", "c=better_10", "--qrels", "qrels_10", "--measures", "RR P@1"]
    for arguments, pairs in (([], 2), (["--all-pairs"], 3)):
        rows = json.loads(clir(*command, *arguments, "--json").out)["comparisons"]
        p_values = [1.0 if row["difference"] == 0 else 2 / 2 ** len(MANY) for row in rows]
        assert [row["p_value"] for row in rows] == pytest.approx(holm(p_values))
        assert len(rows) == 2 * pairs


def test_every_line_is_accounted_for_and_the_first_of_two_counts(clir: Clir, folder: Path) -> None:
    path = folder / "first.trec"
    path.write_text(FIRST + "q1 Q0 d1 1 -9 a\nq9 Q0 d1 1 1 a\nq1 Q0 d4 1\nq1 Q0 d4 1 nan a\n")
    (folder / "qrels").write_text(QRELS + "q1 0 d1 2\nq1 0 d1 1\nq3 0 d9 -1\n")
    refused = clir("compare", path, "--qrels", "qrels")
    assert refused.code == 1
    assert "first.trec: 3 of 9 lines are bad" in refused.err and "qrels: 1 of 8 lines are bad" in refused.err
    answer = clir("compare", path, "--qrels", "qrels", "--measures", "RR", "--max-bad-share", 0.5, "--json")
    report = json.loads(answer.out)
    assert report["runs"][0]["measures"] == {"RR": (1 + 1 / 2) / 3}
    accounts = [report["judgments"], report["runs"][0]["input"]]
    counts = [{drop["reason"]: drop["count"] for drop in account["drops"]} for account in accounts]
    assert counts == [
        {"repeated": 1, "duplicate_pair": 1},
        {"ranked_twice": 1, "unjudged": 1, "field_count": 1, "bad_score": 1},
    ]
    for account, drops in zip(accounts, counts, strict=True):
        assert account["read"] == account["used"] + sum(drops.values())


def test_all_faults_of_the_command_line_are_shown_together(clir: Clir, folder: Path) -> None:
    answer = clir("compare", "first.trec", "./first.trec", "none", "--qrels", ".", "--measures", "P AP")
    assert answer.code == 2
    for fault in ("RUN none: there is no file none.", "'first' is the name of 2", "--qrels: must be a file", "P@10"):
        assert fault in answer.err


@pytest.mark.parametrize(
    ("qrels", "fault"),
    [
        ("q1 0 d1 0\n", "qrels must hold a judgment above 0"),
        ("q7 0 d1 1\n", "it has none of its queries"),
        (FIRST, "lines are bad"),
    ],
)
def test_judgments_that_measure_nothing_are_refused(clir: Clir, folder: Path, qrels: str, fault: str) -> None:
    (folder / "qrels").write_text(qrels)
    answer = clir("compare", "first.trec", "--qrels", "qrels")
    assert (answer.code, answer.out) == (1, "") and fault in answer.err
