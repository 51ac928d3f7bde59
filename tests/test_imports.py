"""The rooms: which way their imports point, and what setup.py packages."""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import accumulate
from pathlib import Path

import pytest

from smooth_clir.cli.imports import EXTRA_MODULES

ROOT = Path(__file__).parents[1]
WIKIPEDIA, RETRIEVAL, EXPERIMENTS, SERVING, CLI = (
    f"smooth_clir.{room}" for room in ("wikipedia", "retrieval", "experiments", "serving", "cli")
)
_STAGES = ("schemas", WIKIPEDIA, "models", RETRIEVAL, "components")
MAY_IMPORT = {
    "schemas": {"schemas"},
    WIKIPEDIA: {"schemas", WIKIPEDIA},
    "models": {"schemas", "models"},
    RETRIEVAL: {"schemas", "models", RETRIEVAL},
    "components": {*_STAGES},
    "pipeline": {*_STAGES, "pipeline"},
    EXPERIMENTS: {*_STAGES, "pipeline", EXPERIMENTS},
    SERVING: {"schemas", "models", RETRIEVAL, SERVING},
    CLI: {*_STAGES, "pipeline", EXPERIMENTS, SERVING, CLI},
    "smooth_clir": {"schemas", "models", RETRIEVAL, "pipeline", CLI, "smooth_clir"},
}
"""Every room, and the rooms that it may import."""
ROOTS = ("schemas", "models", "components", "pipeline", "smooth_clir")
"""The packages that stand at the top."""
TFX_FILES = {"component.py", "run_fn.py", "tuner.py", "tuner_fn.py"}
"""The files in a stage's folder that may know TFX; a stage of one file, directly under `components`, may, too."""
OF_ALL_STAGES = {"stage", "beam_runner", "on_workers", "artifact_files", "settings"}
"""The modules that every stage may import."""
TENSORFLOW = {"tensorflow", "keras", "tfx", "apache_beam"}
"""The libraries that tests without a mark do without."""
LAYERS = ("tensors", "stages", "runs", "long")
BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")
"""The fields of statements that hold statements."""


def imports(path: Path, when_imported: bool = False) -> set[str]:
    """The modules that a file imports, with their packages; for `from a import b` both a and a.b.

    Args:
      path: the file; a relative import has its dots.
      when_imported: leaves out imports in functions and for type checkers, which happen later or never.
    """
    return _imports_of(path.read_text(encoding="utf-8"))[when_imported]


@cache
def _imports_of(source: str) -> tuple[set[str], set[str]]:
    """All imports of a source, and those that are made when it is imported."""
    names: tuple[set[str], set[str]] = set(), set()
    nodes: list[tuple[ast.AST, bool]] = [(ast.parse(source), False)]
    while nodes:
        node, is_later = nodes.pop()
        is_later |= isinstance(node, ast.FunctionDef)
        is_later |= isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        targets = {alias.name for alias in node.names} if isinstance(node, ast.Import | ast.ImportFrom) else set()
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            targets = {module, *(f"{module}.{target}" for target in targets)}
        targets |= {package for target in targets for package in accumulate(target.split("."), "{}.{}".format)}
        names[0].update(targets)
        names[1].update(() if is_later else targets)
        nodes += [(child, is_later) for block in BLOCKS for child in getattr(node, block, ())]
    return names


def reaching(files: dict[str, Path], libraries: set[str], when_imported: bool = False) -> set[str]:
    """The modules that import one of the libraries, themselves or through others of the project."""
    module_to_imports = {module: imports(path, when_imported) for module, path in files.items()}
    reached, before = {*libraries}, set()
    while reached != before:
        before = {*reached}
        reached |= {module for module, names in module_to_imports.items() if names & reached}
    return reached


def modules(root: Path, rooms: Iterable[str]) -> dict[str, Path]:
    """Every module of the rooms: dotted name to file."""
    files = [path for room in rooms for path in sorted((root / room).rglob("*.py"))]
    return {".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path for path in files}


def room_of(module: str) -> str | None:
    """The room of a module, or of a name in one; None where it is not of the project."""
    package, *inner = module.split(".")
    return next((room for room in (".".join([package, *inner[:1]]), package) if room in MAY_IMPORT), None)


def wrong_arrows(root: Path) -> Iterator[str]:
    """Every import that the rooms forbid."""
    files = modules(root, ROOTS)
    # `smooth_clir` imports the room of its class when somebody asks for the class.
    with_tfx = reaching({name: path for name, path in files.items() if name != "smooth_clir"}, {"tfx"})
    for module, path in files.items():
        room, (_, *inner) = room_of(module), module.split(".")
        assert room is not None
        for name in imports(path):
            target, target_inner = room_of(name), name.split(".")[1:]
            if name.startswith("."):
                yield f"{module} -> {name}: relative"
            elif name.split(".")[0] == "tests":
                yield f"{module} -> {name}: tests"
            elif name != "smooth_clir" and target is not None and target not in MAY_IMPORT[room]:
                yield f"{module} -> {name}: back"
            elif room == target == "components" and not {*target_inner[:1]} <= {*inner[:1], *OF_ALL_STAGES}:
                yield f"{module} -> {name}: between components"
        if room == "components" and len(inner) > 1 and path.name not in TFX_FILES and module in with_tfx:
            yield f"{module}: knows tfx"


def test_no_import_of_the_project_is_forbidden() -> None:
    assert list(wrong_arrows(ROOT)) == []
    assert {room_of(module) for module in modules(ROOT, ROOTS)} == MAY_IMPORT.keys()


def marks(node: ast.Module | ast.FunctionDef) -> set[str]:
    """The layers that a file gives its tests, or a test's decorators give the test."""
    if isinstance(node, ast.FunctionDef):
        texts = [*map(ast.unparse, node.decorator_list)]
    else:
        texts = [ast.unparse(part) for part in node.body if isinstance(part, ast.Assign)]
        texts = [text for text in texts if text.startswith("pytestmark")]
    return {layer for layer in LAYERS for text in texts if f"pytest.mark.{layer}" in text}


def test_files_with_a_test_without_a_mark_do_not_import_tensorflow() -> None:
    files = modules(ROOT, [*ROOTS, "tests", "tools", "benchmarks"])
    with_tensorflow = reaching(files, TENSORFLOW, when_imported=True)
    for module, path in files.items():
        if module.startswith("tests.") and path.name.startswith("test_"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            tests = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
            if not marks(tree) and not all(map(marks, tests)):
                packages = accumulate(module.split(".")[:-1], "{}.{}".format)
                assert not with_tensorflow & {module, *(f"{package}.conftest" for package in packages)}, path


@pytest.mark.parametrize(
    ("file", "code", "fault"),
    [
        ("models/a.py", "from components.one import work", "models.a -> components.one.work: back"),
        (
            "smooth_clir/wikipedia/dumps/a.py",
            "from components.one import work",
            f"{WIKIPEDIA}.dumps.a -> components.one: back",
        ),
        (
            "smooth_clir/serving/a.py",
            "from pipeline.config import RunConfig",
            f"{SERVING}.a -> pipeline.config: back",
        ),
        ("pipeline/a.py", "def f():\n    from smooth_clir.cli import main", "pipeline.a -> smooth_clir.cli.main: back"),
        ("components/one/work.py", "from components import two", "components.one.work -> components.two: between"),
        ("components/three.py", "from components.one import work", "components.three -> components.one.work: between"),
        ("components/one/work.py", "from ..two import work", "components.one.work -> ..two.work: relative"),
        ("pipeline/a.py", "from tests.reference import ndcg", "pipeline.a -> tests.reference: tests"),
        ("components/one/work.py", "def f():\n    import tfx.types", "components.one.work: knows tfx"),
        ("components/one/work.py", "from schemas import artifacts", "components.one.work: knows tfx"),
    ],
)
def test_a_planted_wrong_import_is_found(tmp_path: Path, file: str, code: str, fault: str) -> None:
    good = {
        "schemas/artifacts.py": "import tfx.types",
        "models/rankers/ranker.py": "from schemas.errors import DataError",
        "components/one/component.py": "import tfx.v1\nfrom components.one import work\nimport schemas.errors",
        "components/stage.py": "import tfx.v1",
        "components/three.py": "import tfx.types\nfrom components.stage import stage",
        "pipeline/pipeline.py": "from components.one import component\nfrom components.two import work",
    }
    for name, text in good.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert list(wrong_arrows(tmp_path)) == []
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(code)
    assert any(wrong.startswith(fault) for wrong in wrong_arrows(tmp_path))


# Libraries, and setup.py


def test_each_library_comes_with_the_base_or_with_a_named_extra() -> None:
    base = "absl click defusedxml google grpc httpx keras numpy packaging pydantic pydantic_core rich scipy"
    extras = {module for modules_of_extra in EXTRA_MODULES.values() for module in modules_of_extra}
    names = {name.split(".")[0] for path in modules(ROOT, ROOTS).values() for name in imports(path)}
    known = {
        *ROOTS,
        *sys.stdlib_module_names,
        *base.split(),
        "tensorflow",
        "tensorflow_text",
        "yaml",
        "ir_datasets",
    }  # the user installs the last
    assert names - known - extras == set()


@pytest.mark.parametrize("stack", ["2.15", "2.21"])
def test_who_only_serves_gets_the_pins_of_the_whole_lock(stack: str) -> None:
    pins, whole_pins = (
        set(re.findall(r"^\S+==[^\s;]+", (ROOT / "locks" / f"{name}.lock").read_text(), re.MULTILINE))
        for name in (f"{stack}-serve", stack)
    )
    (tensorflow,) = (pin for pin in whole_pins if pin.startswith("tensorflow=="))
    assert pins - whole_pins == {tensorflow.replace("tensorflow", "tensorflow-cpu")}


def test_setup_packages_every_file_of_the_rooms() -> None:
    files = [path for package in ROOTS for path in (ROOT / package).rglob("*.*") if path.suffix != ".pyc"]
    assert all((path.parent / "__init__.py").is_file() for path in files if path.suffix == ".py")
    keywords = [node for node in ast.walk(ast.parse((ROOT / "setup.py").read_text())) if isinstance(node, ast.keyword)]
    (package_data,) = [ast.literal_eval(keyword.value) for keyword in keywords if keyword.arg == "package_data"]
    del package_data["smooth_clir.sample"]  # lies in another folder
    folders = {ROOT.joinpath(*package.split(".")): names for package, names in package_data.items()}
    named = [path for folder, names in folders.items() for name in names for path in folder.glob(name)]
    assert sorted(named) == sorted(path for path in files if path.suffix != ".py")
