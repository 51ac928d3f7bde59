"""The rooms: which way their imports point, and what setup.py packages."""

import ast
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
MAY_IMPORT = {
    "schemas": {"schemas"},
    "wikipedia": {"schemas", "wikipedia"},
    "models": {"schemas", "models"},
    "components": {"schemas", "wikipedia", "models", "components"},
    "pipeline": {"schemas", "wikipedia", "models", "components", "pipeline"},
    "experiments": {"schemas", "wikipedia", "models", "components", "pipeline", "experiments"},
    "serving": {"schemas", "models", "components", "serving"},
    "cli": {"schemas", "wikipedia", "models", "components", "pipeline", "experiments", "serving", "cli"},
    "smooth_clir": {
        "schemas",
        "wikipedia",
        "models",
        "components",
        "pipeline",
        "experiments",
        "serving",
        "cli",
        "smooth_clir",
    },  # fmt: skip
}
"""Every room, and the rooms that it may import."""
TFX_FILES = {"component.py", "run_fn.py", "tuner.py", "tuner_fn.py"}
"""The files in a stage's folder that may know TFX; a stage of one file, directly under `components`, may, too."""
OF_ALL_STAGES = {
    f"components.{name}"
    for name in ("stage", "beam_runner", "on_workers", "artifact_files", "settings", "unfinished_work")
}
"""The modules that every stage may import."""


def imports(path: Path) -> list[str]:
    """The modules that a file imports; for `from a import b` both a and a.b, and a relative import with its dots."""
    return _imports_of(path.read_text(encoding="utf-8"))


@cache
def _imports_of(source: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            found += [module, *(f"{module}.{alias.name}" for alias in node.names)]
    return found


def product_files(root: Path) -> dict[str, Path]:
    """Every module of the rooms: dotted name to file."""
    files = [path for room in MAY_IMPORT for path in sorted((root / room).rglob("*.py"))]
    return {".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path for path in files}


def wrong_arrows(root: Path) -> Iterator[str]:
    """Every import that the rooms forbid."""
    files = product_files(root)
    for module, path in files.items():
        room, *inner = module.split(".")
        for name in imports(path):
            target, *target_inner = name.split(".")
            if name.startswith("."):
                yield f"{module} -> {name}: relative"
            elif target == "tests":
                yield f"{module} -> {name}: tests"
            elif target in MAY_IMPORT and target not in MAY_IMPORT[room]:
                yield f"{module} -> {name}: back"
            elif room == target == "components" and target_inner and inner[:1] != target_inner[:1] and not of_all(name):
                yield f"{module} -> {name}: between components"
        if room == "components" and len(inner) > 1 and path.name not in TFX_FILES and reaches_tfx(module, files, set()):
            yield f"{module}: knows tfx"


def of_all(name: str) -> bool:
    """Whether an imported name is one of those that every stage may import, or a module of them."""
    return name in OF_ALL_STAGES or name.rpartition(".")[0] in OF_ALL_STAGES


def reaches_tfx(module: str, files: dict[str, Path], seen: set[str]) -> bool:
    """Whether a module imports TFX, itself or through others of the project."""
    seen.add(module)
    names = set(imports(files[module]))
    return any(name.split(".")[0] == "tfx" for name in names) or any(
        reaches_tfx(name, files, seen) for name in names & files.keys() - seen
    )


def test_no_import_of_the_project_is_forbidden() -> None:
    assert list(wrong_arrows(ROOT)) == []


def test_the_rooms_are_there() -> None:
    assert {module for module in product_files(ROOT) if "." not in module} == MAY_IMPORT.keys()


@pytest.mark.parametrize(
    ("file", "code", "fault"),
    [
        ("schemas/a.py", "import models.rankers.ranker", "schemas.a -> models.rankers.ranker: back"),
        ("models/a.py", "from components.one import work", "models.a -> components.one.work: back"),
        ("wikipedia/a.py", "import models.rankers.ranker", "wikipedia.a -> models.rankers.ranker: back"),
        ("wikipedia/dumps/a.py", "from components.one import work", "wikipedia.dumps.a -> components.one: back"),
        ("models/a.py", "from wikipedia.dumps import a", "models.a -> wikipedia.dumps: back"),
        ("serving/a.py", "import wikipedia.settings", "serving.a -> wikipedia.settings: back"),
        ("models/layers/a.py", "def f():\n    import pipeline.config", "models.layers.a -> pipeline.config: back"),
        ("components/one/work.py", "from pipeline import config", "components.one.work -> pipeline.config: back"),
        ("pipeline/a.py", "from experiments.grid import Grid", "pipeline.a -> experiments.grid: back"),
        ("pipeline/a.py", "def f():\n    from cli import main", "pipeline.a -> cli.main: back"),
        ("serving/a.py", "from pipeline.config import RunConfig", "serving.a -> pipeline.config: back"),
        ("serving/a.py", "import experiments.grid", "serving.a -> experiments.grid: back"),
        ("experiments/a.py", "import serving.index", "experiments.a -> serving.index: back"),
        ("experiments/a.py", "from cli.terminal import StageView", "experiments.a -> cli.terminal: back"),
        ("components/one/work.py", "from components import two", "components.one.work -> components.two: between"),
        (
            "components/one/component.py",
            "import components.two.work",
            "components.one.component -> components.two.work",
        ),
        ("components/three.py", "from components.one import work", "components.three -> components.one.work: between"),
        ("components/one/work.py", "from ..two import work", "components.one.work -> ..two.work: relative"),
        ("pipeline/a.py", "from tests.reference import ndcg", "pipeline.a -> tests.reference: tests"),
        ("components/one/work.py", "from tfx import v1 as tfx", "components.one.work: knows tfx"),
        ("components/one/work.py", "def f():\n    import tfx.types", "components.one.work: knows tfx"),
        ("components/one/work.py", "from schemas import artifacts", "components.one.work: knows tfx"),
    ],
)
def test_a_planted_wrong_import_is_found(tmp_path: Path, file: str, code: str, fault: str) -> None:
    good = {
        "schemas/artifacts.py": "import tfx.types",
        "models/rankers/ranker.py": "from schemas.errors import DataError",
        "wikipedia/dumps/read.py": "from schemas.errors import DataError",
        "components/one/component.py": "import tfx.v1\nfrom components.one import work\nimport wikipedia.dumps.read",
        "components/two/work.py": "from models import ranker",
        "components/stage.py": "import tfx.v1",
        "components/three.py": "import tfx.types\nfrom components.stage import stage",
        "pipeline/pipeline.py": "from components.one import component\nfrom components.two import work",
    }
    for name, text in good.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert list(wrong_arrows(tmp_path)) == []
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(textwrap.dedent(code))
    assert any(found.startswith(fault) for found in wrong_arrows(tmp_path))


def setup_arguments() -> dict[str, Any]:
    """The literal arguments of `setup` in setup.py."""
    (call,) = [
        node.value
        for node in ast.parse((ROOT / "setup.py").read_text()).body
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ]
    return {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords if keyword.arg}


def elsewhere() -> dict[str, str]:
    """The packages whose files lie in another folder, such as the sample."""
    folders: dict[str, str] = setup_arguments()["package_dir"]
    return folders


def test_setup_names_exactly_the_packages_of_the_tree() -> None:
    folders = {path.parent for path in product_files(ROOT).values()}
    expected = [*(".".join(folder.relative_to(ROOT).parts) for folder in folders), *elsewhere()]
    assert sorted(setup_arguments()["packages"]) == sorted(expected)
    assert all((folder / "__init__.py").is_file() for folder in folders)


def test_setup_packages_every_file_of_the_rooms_that_is_no_code() -> None:
    data = [path for room in MAY_IMPORT for path in (ROOT / room).rglob("*.*") if path.suffix not in {".py", ".pyc"}]
    named = [
        ROOT.joinpath(*package.split("."), name)
        for package, names in setup_arguments()["package_data"].items()
        if package not in elsewhere()
        for name in names
    ]
    assert sorted(named) == sorted(data)
