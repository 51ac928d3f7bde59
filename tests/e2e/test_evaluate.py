"""`clir evaluate`: any exported model on any collection with fixed lists."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.evaluation import EVALUATION_FILES
from tests.cli.command import Clir
from tests.e2e.process import SAMPLE, SampleRun
from tests.models.loaded_once import loaded_once

pytestmark = pytest.mark.runs

QUERIES, DOCUMENTS = SAMPLE / "wiki_en.queries", SAMPLE / "wiki_fr.documents"


@pytest.fixture(scope="module", autouse=True)
def each_model_loaded_once() -> Iterator[None]:
    with loaded_once():
        yield


@pytest.fixture(scope="module")
def candidates(sample_run: SampleRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The test lists of the sample's run as a candidates file."""
    path = tmp_path_factory.mktemp("lists") / "candidates"
    qrels = (sample_run.output / "evaluation" / "qrels.trec").read_text().splitlines()
    rows = (line.split() for line in qrels)
    path.write_text("".join(f"{query_id}\t{doc_id}\t{grade}\ttest\n" for query_id, _, doc_id, grade in rows))
    return path


def arguments(model: Path, candidates: Path) -> list[object]:
    return ["evaluate", model, "--queries", QUERIES, "--documents", DOCUMENTS, "--candidates", candidates]


def test_the_metrics_on_a_run_s_own_test_lists_are_the_run_s(
    clir: Clir, sample_run: SampleRun, candidates: Path, tmp_path: Path
) -> None:
    done = clir(*arguments(sample_run.output, candidates), "--json", "--output", tmp_path / "evaluation")
    assert done.code == 0
    report = json.loads(done.out)
    assert report.pop("data")["lists"] == {"train": 0, "eval": 0, "test": sample_run.report["queries"]}
    assert report["metrics"] == pytest.approx(sample_run.report["metrics"])
    assert report["baselines"] == {"random": pytest.approx(sample_run.report["baselines"]["random"])}
    written = {path.name: path.read_text() for path in (tmp_path / "evaluation").iterdir()}
    assert json.loads(written["metrics.json"]) == report
    assert written["qrels.trec"] == (sample_run.output / "evaluation" / "qrels.trec").read_text()
    assert written.keys() == {*EVALUATION_FILES}


def test_people_get_a_table_and_an_account_of_the_files_and_their_bad_lines(
    clir: Clir, sample_run: SampleRun, candidates: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad"
    bad.write_text(candidates.read_text() + "no tabs\n")
    done = clir(*arguments(sample_run.output, bad))
    assert done.code == 0
    assert done.out.splitlines()[0].split() == ["test", "split", "model", "random", "reachable", "in", "the", "paper"]
    assert re.search(rf"^ndcg_5 +{sample_run.report['metrics']['ndcg_5']:.4f} ", done.out, re.MULTILINE)
    pairs = len(candidates.read_text().splitlines())
    assert f"candidates: {pairs + 1:,} read, {pairs:,} used; left out: 1 " in done.err


def test_only_lists_of_the_split_count_and_a_split_without_lists_is_an_error(
    clir: Clir, sample_run: SampleRun, candidates: Path, tmp_path: Path
) -> None:
    mixed = tmp_path / "mixed"
    lines = candidates.read_text().splitlines(keepends=True)
    first = lines[0].split("\t")[0]
    mixed.write_text("".join(x.replace("\ttest", "\teval") if x.startswith(f"{first}\t") else x for x in lines))
    done = clir(*arguments(sample_run.output, mixed), "--split", "eval", "--json")
    assert (done.code, json.loads(done.out)["queries"]) == (0, 1)
    done = clir(*arguments(sample_run.output, mixed), "--split", "train")
    assert (done.code, done.out) == (1, "")
    assert "train" in done.err
    assert "Traceback" not in done.err


def test_all_faults_of_the_files_are_reported_before_anything_is_loaded(
    clir: Clir, sample_run: SampleRun, candidates: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    done = clir(*arguments(sample_run.output, tmp_path / "none"), "--output", tmp_path / "file")
    assert done.code == 2
    assert re.search(f"^clir: --candidates: .*{tmp_path / 'none'}", done.err, re.MULTILINE)
    assert "\nclir: --output: " in f"\n{done.err}"
    done = clir(*arguments(tmp_path, candidates))
    assert (done.code, str(tmp_path) in done.err) == (1, True)
