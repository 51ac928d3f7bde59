"""experiments/stale.py: what makes a report stale, and what does not."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from pipeline import identity
from pipeline.input_files import digests_here
from pipeline.provenance import provenance
from schemas.errors import DataError
from schemas.provenance import PROVENANCE_FILE, ReportProvenance
from smooth_clir.experiments import stale
from smooth_clir.experiments.grid import load_grid
from smooth_clir.experiments.stale import FILES, Compared, compare_report
from tests.cli.command import Clir
from tests.e2e.process import ROOT, SAMPLE

pytestmark = pytest.mark.stages

ROOMS = ("schemas", "models", "components", "smooth_clir/retrieval", "smooth_clir/wikipedia")
STEMS = "models/texts/stems.py"
VARIANTS = {
    "PSI": {"preset": "polynomial", "channels.lexicon.weight": 0},
    "closed": {"preset": "closed"},
    "USE": {"channels.encoder.kind": "use_multilingual"},
    "CosSim": {"preset": "cossim", "channels.lexicon": None},
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the code behind stages, which tests edit."""
    root = tmp_path_factory.mktemp("project")
    for room in ROOMS:
        shutil.copytree(ROOT / room, root / room, ignore=shutil.ignore_patterns("__pycache__"))
    return root


class Report:
    """A report on the sample, measured with the code, data and libraries of now; `change` looks at it later."""

    def __init__(self, folder: Path, root: Path, patch: pytest.MonkeyPatch) -> None:
        patch.setattr(identity, "_ROOT", root)
        self.data, self.file = folder / "data", folder / "files" / "psi.yaml"
        shutil.copytree(SAMPLE, self.data)
        self.file.parent.mkdir()
        paths = {"queries": "wiki_en.queries", "documents": "wiki_fr.documents", "judgments": "en2fr.rel"}
        files = {role: str(self.data / name) for role, name in paths.items()}
        run = {"data": {**files, "query_language": "en", "document_language": "fr"}, "channels": {"encoder": None}}
        grid = {"training.seed": [1, 2]}
        self.content = {"title": "PSI", "run": run, "variants": VARIANTS, "grid": grid, "output": str(folder / "out")}
        self.write()
        self.report = folder / "psi"
        self.report.mkdir()
        cells = {cell.name: provenance(cell.config) for cell in load_grid(str(self.file)).cells if cell.config}
        self.record = ReportProvenance.from_cells(cells)
        (self.report / PROVENANCE_FILE).write_text(self.record.to_json())

    def write(self) -> None:
        self.file.write_text(yaml.safe_dump(self.content, sort_keys=False))

    def compare(self) -> Compared:
        return compare_report(self.report, self.file.parent)


@pytest.fixture
def report(tmp_path: Path, copy: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    return Report(tmp_path, copy, monkeypatch)


@pytest.fixture
def edit(copy: Path) -> Callable[[str, str], None]:
    """Appends to a file of the copy, until the test ends."""
    before: dict[Path, str] = {}

    def append(name: str, text: str) -> None:
        before[copy / name] = (copy / name).read_text()
        (copy / name).write_text(before[copy / name] + text)

    yield append
    for path, content in before.items():
        path.write_text(content)


def test_nothing_has_changed_at_once_on_another_machine_or_after_a_sentence_is_edited(
    report: Report, edit: Callable[[str, str], None]
) -> None:
    assert report.compare() == Compared("psi", [], [])
    assert {*report.record.data} == {"data.queries", "data.documents", "data.judgments"}
    edit(STEMS, '\n# A comment.\n"""And a docstring."""\n')
    moved = report.data.rename(report.data.with_name("elsewhere"))
    for role, path in report.content["run"]["data"].items():
        report.content["run"]["data"][role] = path.replace(str(report.data), str(moved))
    report.content["output"] += "-elsewhere"
    report.write()
    assert report.compare() == Compared("psi", [], [])


def test_another_stem_marks_the_stages_that_read_stems(report: Report, edit: Callable[[str, str], None]) -> None:
    edit(STEMS, "\nPATTERN = 1\n")
    (change,) = report.compare().changes
    stages = change.removeprefix("code of ").split(", ")
    assert {"LexiconGen", "Transform", "Trainer"} <= {*stages}
    assert "CollectionGen" not in stages


def test_a_module_that_a_setting_names_marks_the_training(report: Report, edit: Callable[[str, str], None]) -> None:
    edit("models/losses/tf_ranking.py", "\nEDITED = 1\n")
    (change,) = report.compare().changes
    assert change.startswith("code of ") and "Trainer" in change and "LexiconGen" not in change


@pytest.mark.parametrize(
    ("keys", "value", "change"),
    [
        (("variants", "PSI", "training.epochs"), 9, "settings of Trainer, TrainingReport"),
        (("run", "evaluation"), {"baselines": []}, "LexicalBaseline"),
        (("run", "data", "max_document_tokens"), 20, "settings of LexicalBaseline, LexiconGen, Transform, Trainer"),
        (("grid", "training.seed"), [1, 2, 3], "settings: other cells"),
        (("variants", "best"), {}, "settings: other cells"),
        (("variants", "PSI", "training.epochs"), -1, "settings: other cells"),
        (("run", "data", "query_language"), "xx", "settings: "),
    ],
)
def test_another_setting_marks_the_stages_that_use_it(
    report: Report, keys: tuple[str, ...], value: object, change: str
) -> None:
    section = report.content
    for key in keys[:-1]:
        section = section.setdefault(key, {})
    section[keys[-1]] = value
    report.write()
    assert change in "; ".join(report.compare().changes)


def test_another_file_of_the_collection_is_named_and_one_that_is_not_here_is_not_compared(report: Report) -> None:
    with (report.data / "en2fr.rel").open("a") as judgments:
        judgments.write("1\t2\t1\n")
    assert report.compare() == Compared("psi", ["data: data.judgments"], [])
    shutil.rmtree(report.data)
    assert report.compare() == Compared("psi", [], ["data.queries", "data.documents", "data.judgments"])


def test_a_library_is_named_with_both_versions(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {**report.record.libraries, "tensorflow": "3.0"}
    monkeypatch.setattr(identity, "version", versions.__getitem__)
    (change,) = report.compare().changes
    assert change == f"tensorflow: {report.record.libraries['tensorflow']} then, 3.0 now"


def test_a_report_without_record_or_file_is_stale_and_a_damaged_record_is_an_error(report: Report) -> None:
    report.file.unlink()
    assert "psi.yaml" in report.compare().changes[0]
    (report.report / PROVENANCE_FILE).write_text("{}")
    with pytest.raises(DataError, match=PROVENANCE_FILE):
        report.compare()
    (report.report / PROVENANCE_FILE).unlink()
    assert report.compare().changes == ["no record of its code"]
    with pytest.raises(DataError, match="does not exist"):
        compare_report(report.report / "none")


def test_the_command_lists_published_reports_or_those_it_is_given_and_exits_1_if_one_is_stale(
    clir: Clir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("sample", "old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.md").touch()
    cells = {cell.name: provenance(cell.config) for cell in load_grid(str(FILES / "sample.yaml")).cells if cell.config}
    (tmp_path / "sample" / PROVENANCE_FILE).write_text(ReportProvenance.from_cells(cells).to_json())
    monkeypatch.setattr(stale, "REPORTS", tmp_path)
    done = clir("experiment", "--stale")
    assert (done.code, done.out) == (1, "old: no record of its code\n") and "1 of 2 reports" in done.err
    done = clir("experiment", "--stale", "--json")
    assert [(entry["report"], bool(entry["changes"])) for entry in json.loads(done.out)] == [
        ("old", True),
        ("sample", False),
    ]
    done = clir("experiment", "--stale", tmp_path / "sample")
    assert (done.code, done.out) == (0, "")
    assert clir("experiment").code == clir("experiment", "a.yaml", "b.yaml").code == 2


@pytest.mark.parametrize("name", ["psi_table_6_xquad_en_es_q", "encoders_libreoffice_en_th", "adversary_rankers"])
def test_every_stage_of_a_published_experiment_has_a_digest_without_its_collection(name: str) -> None:
    cells = load_grid(str(FILES / f"{name}.yaml"), has_files=False).cells
    config = cells[0].config
    assert config
    record = provenance(config)
    assert record.code.keys() == record.settings.keys() >= {"Transform", "Trainer", "Evaluator"}
    assert record.data == {} and digests_here(config).keys() >= {"data.queries"}
    assert str(ROOT) not in record.to_json()
