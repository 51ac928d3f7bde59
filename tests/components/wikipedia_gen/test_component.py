"""WikipediaGen: the next execution continues with the pieces of a killed one."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from smooth_clir.wikipedia.collection import read_dumps
from smooth_clir.wikipedia.settings import WikipediaSettings
from tests.wikipedia.collection.test_build import ENGLISH, FRENCH

pytestmark = pytest.mark.stages


class Stage:
    """The stage on two small wikis, each execution with a new artifact."""

    def __init__(self, folder: Path, make_artifact: Any) -> None:
        self._folder = folder
        self._make_artifact = make_artifact
        self.settings = WikipediaSettings.model_validate(
            {"wikis": {wiki.language: wiki.write(folder) for wiki in (ENGLISH, FRENCH)}, "min_document_words": 1}
        )
        self.unfinished = folder / "checkpoints.dumps"
        self.executions = 0

    def execute(self, **settings: Any) -> dict[str, bytes]:
        """Executes the stage; returns its files."""
        from components.wikipedia_gen.component import WikipediaGen

        self.executions += 1
        artifact = self._make_artifact("WikiClirFiles", self._folder / str(self.executions))
        changed = self.settings.model_copy(update=settings)
        WikipediaGen.test_call(
            artifact,
            map,
            identity="0a",
            files={key: [path] for key, path in changed.inputs().items()},
            digests={},
            languages=("en", "fr"),
            settings=changed,
            unfinished=str(self.unfinished),
        )
        return {path.name: path.read_bytes() for path in Path(artifact.uri).iterdir()}


@pytest.fixture
def stage(tmp_path: Path, make_artifact: Any) -> Stage:
    return Stage(tmp_path, make_artifact)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Returns a growing list of the pieces that are read; the second kills its execution."""
    pieces: list[str] = []
    real = read_dumps.read_articles

    def kill_at_the_second(piece: Any, folder: str) -> Any:
        if len(pieces) == 1:
            pieces.append("killed")
            raise KeyboardInterrupt
        if not Path(folder, f"{piece.name}.json").exists():
            pieces.append(piece.name)
        return real(piece, folder)

    monkeypatch.setattr(read_dumps, "read_articles", kill_at_the_second)
    return pieces


def test_after_a_kill_the_next_execution_continues_unless_the_settings_changed(stage: Stage, read: list[str]) -> None:
    with pytest.raises(KeyboardInterrupt):
        stage.execute()
    shutil.copytree(stage.unfinished, killed := stage.unfinished.with_name("killed"))
    made = stage.execute()
    assert read == ["en-00000", "killed", "fr-00000"]
    assert not stage.unfinished.exists()
    killed.rename(stage.unfinished)
    (before,) = stage.unfinished.iterdir()
    stage.execute(max_words=7)
    assert not before.exists()
    assert read[3:] == ["en-00000", "fr-00000"]
    assert stage.execute() == made
