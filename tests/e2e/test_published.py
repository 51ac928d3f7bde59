"""Published figures come out again: those of the tables whose data the repository has."""

import json
import tarfile
from pathlib import Path

import pytest
import yaml

from pipeline.identity import library_versions
from pipeline.layout import CELLS_ARCHIVE
from schemas.provenance import PROVENANCE_FILE, ReportProvenance
from smooth_clir.experiments.stale import FILES, REPORTS
from tests.e2e.process import fresh

pytestmark = pytest.mark.long

CELL = "sosl-seed1"
SAMPLE = REPORTS / "sample"


def test_a_cell_of_the_samples_report_has_its_published_figures_and_provenance(tmp_path: Path) -> None:
    content = yaml.safe_load((FILES / "sample.yaml").read_text(encoding="utf-8"))
    for role in ("queries", "documents", "judgments"):
        content["run"]["data"][role] = str((FILES / content["run"]["data"][role]).resolve())
    content |= {"grid": {"loss.kind": ["sosl"], "training.seed": [1]}, "claims": [], "output": str(tmp_path / "out")}
    (tmp_path / "sample.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    done = fresh("experiment", tmp_path / "sample.yaml", "--json")
    assert done.code == 0, done.err
    with tarfile.open(SAMPLE / CELLS_ARCHIVE) as archived:
        published = json.load(archived.extractfile(f"cells/{CELL}/metrics.json"))  # type: ignore[arg-type]
    then = ReportProvenance.read(SAMPLE / PROVENANCE_FILE, "run it again")
    # Other libraries add in another order.
    tolerance = 5e-5 if then.libraries == library_versions() else 0.02
    (cell,) = json.loads(done.out)["cells"]
    assert cell["metrics"] == pytest.approx(published["metrics"], abs=tolerance)
    made = tmp_path / "out" / "provenance.json"
    now = ReportProvenance.read(made, "run it again")
    assert (now.cells, now.data) == ([CELL], then.data)
    assert str(tmp_path) not in made.read_text() + (tmp_path / "out" / "report.md").read_text().split("## To repeat")[0]
