"""The cells that are kept beside a report: its verdicts follow from them alone."""

import io
import json
import re
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.layout import CELLS_ARCHIVE
from schemas.errors import DataError
from smooth_clir.experiments.experiment import Experiment
from smooth_clir.experiments.report.archive import archive, unpacked
from smooth_clir.experiments.report.claims import comparisons, judge, verdicts
from smooth_clir.experiments.report.results import results
from smooth_clir.experiments.report.write_report import report_text
from smooth_clir.experiments.settings import Claim
from smooth_clir.experiments.stale import published_reports

pytestmark = pytest.mark.tensors

ExperimentOf = Callable[[str], Experiment]
PACKED = ["losses", "encoders", "epsilon", "negatives", "cold", "domains", "nothing done"]


def claiming(experiment: Experiment) -> Experiment:
    rows = [{"loss.kind": name} for name in ("sosl", "mse", "proportional_odds")]
    than = [*rows[1:], {"baseline": "random"}]
    claim = {"says": "SOSL ranks above", "row": rows[0], "than": than, "metrics": ["map", "ndcg_5"]}
    return replace(experiment, claims=(Claim.model_validate(claim),))


def written(experiment: Experiment, folder: Path) -> Path:
    path = folder / CELLS_ARCHIVE
    path.write_bytes(archive(experiment))
    return path


def verdicts_of(path: Path) -> str:
    """Judges the claims of an archive again, and returns the verdicts and comparisons in a report's words."""
    with unpacked(path) as experiment:
        judged = judge(experiment)
        return "\n\n".join([*verdicts(judged), *comparisons(judged)])


def test_the_verdicts_of_a_report_follow_from_the_archive_beside_it(
    experiment_of: ExperimentOf, tmp_path: Path
) -> None:
    experiment = claiming(experiment_of("losses"))
    again = verdicts_of(written(experiment, tmp_path))
    judged = judge(experiment)
    assert again == "\n\n".join([*verdicts(judged), *comparisons(judged)]) and again.count("SOSL ranks above") == 2
    report = report_text(experiment)
    assert [block for block in again.split("\n\n") if block not in report] == []


def test_values_that_are_not_those_of_the_metrics_give_no_verdict(experiment_of: ExperimentOf, tmp_path: Path) -> None:
    path = written(claiming(experiment_of("losses")), tmp_path)
    changed = io.BytesIO()
    with tarfile.open(path) as source, tarfile.open(fileobj=changed, mode="w:xz") as target:
        for member in source:
            data = source.extractfile(member).read()  # type: ignore[union-attr]
            if member.name.endswith("per_query.tsv"):
                data = re.sub(rb"\t1\.0\n", b"\t0.0\n", data, count=1)
            member.type, member.size = tarfile.REGTYPE, len(data)
            target.addfile(member, io.BytesIO(data))
    path.write_bytes(changed.getvalue())
    with pytest.raises(DataError, match="per_query.tsv"):
        verdicts_of(path)


@pytest.mark.parametrize("name", PACKED)
def test_the_results_of_an_archive_are_those_of_the_experiment(
    experiment_of: ExperimentOf, tmp_path: Path, name: str
) -> None:
    experiment = experiment_of(name)
    with unpacked(written(experiment, tmp_path)) as again:
        before = [*results(experiment)]
        assert [block for block in results(again) if block not in before] == []
        assert [block for block in before if block not in [*results(again)] and "iscriminator" not in block] == []
        assert [cell.content() for cell in again.cells] == [cell.content() for cell in experiment.cells]
        assert (again.title, again.grid, again.file) == (experiment.title, experiment.grid, experiment.file)


def test_equal_files_are_kept_once_and_equal_experiments_are_equal_bytes(
    experiment_of: ExperimentOf, tmp_path: Path
) -> None:
    experiment = experiment_of("losses")
    path = written(experiment, tmp_path)
    assert archive(experiment) == path.read_bytes()
    with tarfile.open(path) as archived:
        digests = [member for member in archived if member.name.endswith("qrels.sha256")]
    assert [member.size > 0 for member in digests] == [True] + [False] * 9
    assert {(member.uid, member.mtime, member.uname) for member in digests} == {(0, 0, "")}


def test_numbers_of_single_precision_are_short_and_read_back_with_all_digits(
    experiment_of: ExperimentOf, tmp_path: Path
) -> None:
    experiment = experiment_of("one seed")
    name = f"cells/{experiment.cells[0].name}/per_query.tsv"
    content = (experiment.cells[0].folder / "per_query.tsv").read_bytes()
    path = written(experiment, tmp_path)
    with tarfile.open(path) as archived:
        short = archived.extractfile(name).read()  # type: ignore[union-attr]
    assert b"\t0.2f" in short and b"\t0.20000000298023224" in content and len(short) < len(content)
    with unpacked(path) as again:
        assert (again.cells[0].folder / "per_query.tsv").read_bytes() == content
        assert archive(again) == path.read_bytes()


def test_an_archive_names_no_folder_of_the_machine(experiment_of: ExperimentOf, tmp_path: Path) -> None:
    experiment = experiment_of("losses")
    path = "/home/somebody/data/wiki_en.queries"
    config: dict[str, Any] = {"data": {"top_grade": 2, "queries": path}, "output": "/home/somebody/out", "beam": {}}
    cells = tuple(replace(cell, config={**cell.config, **config}) for cell in experiment.cells)
    with unpacked(written(replace(experiment, cells=cells), tmp_path)) as again:
        kept = [cell.config for cell in again.cells if cell.status == "done"]
    assert {content["data"]["queries"] for content in kept} == {"wiki_en.queries"}
    assert "somebody" not in json.dumps(kept)
    assert config["data"]["queries"] == path


def test_a_cell_takes_few_bytes_for_each_metric_of_a_query(experiment_of: ExperimentOf) -> None:
    experiment = experiment_of("encoders")
    per_query = (experiment.cells[0].folder / "per_query.tsv").read_text().splitlines()
    values = len(per_query) * len(per_query[0].split("\t"))
    fewer = replace(experiment, cells=experiment.cells[:-1])
    assert len(archive(experiment)) - len(archive(fewer)) < 3 * values  # of random scores; .8 of real ones


def test_a_missing_file_of_a_cell_is_an_error(experiment_of: ExperimentOf, tmp_path: Path) -> None:
    experiment = experiment_of("one seed")
    cells = tuple(replace(cell, folder=tmp_path) for cell in experiment.cells)
    with pytest.raises(DataError, match="per_query.tsv"):
        archive(replace(experiment, cells=cells))


@pytest.mark.parametrize("damage", [b"", b"no archive", None])
def test_a_missing_or_damaged_archive_is_an_error(
    experiment_of: ExperimentOf, tmp_path: Path, damage: bytes | None
) -> None:
    path = written(experiment_of("one seed"), tmp_path)
    path.write_bytes(path.read_bytes()[:-200] if damage is None else damage)
    with pytest.raises(DataError, match=CELLS_ARCHIVE):
        verdicts_of(path)


ARCHIVES = [folder / CELLS_ARCHIVE for folder in published_reports() if (folder / CELLS_ARCHIVE).is_file()]


@pytest.mark.long
@pytest.mark.parametrize("path", ARCHIVES, ids=[path.parent.name for path in ARCHIVES])
def test_the_verdicts_of_a_published_report_follow_from_its_archive(path: Path) -> None:
    report = path.with_name("report.md").read_text(encoding="utf-8")
    assert [block for block in verdicts_of(path).split("\n\n") if block not in report] == []


def test_published_archives_are_small() -> None:
    assert sum(path.stat().st_size for path in ARCHIVES) < 4e6
