"""What is ours under an output folder, and what is left alone.

A run or an experiment writes into a folder that was empty, or that one of its kind made. What it publishes there is
recorded in `RECORD_FILE`; only what is recorded is replaced or removed, and anything else is the user's.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, Literal

from pipeline.atomic_file import write_atomically
from pipeline.layout import (
    CELL_DIGEST_FILE,
    CELL_FILE,
    CELL_LOG_FILE,
    CELL_RESULTS,
    CELLS,
    CONFIG_FILE,
    EXPERIMENT_FILE,
    FIGURES,
    FILES,
    FOLDERS,
    HTML_FILE,
    LOCK_FILE,
    MARKDOWN_FILE,
    METADATA_FILE,
    PUBLISHED,
    RECORD_FILE,
)
from pipeline.paths import is_remote, scheme_fault
from schemas.errors import ConfigError, DataError

Kind = Literal["run", "experiment", "cell"]

_HOW_TO_GO_ON: Final = "move it away, or choose another output."


def output_fault(output: str, kind: Kind | None) -> str | None:
    """Why a folder cannot be an output, if so.

    Args:
      output: the folder.
      kind: what writes it; None where it is not on this machine, so that its name alone is looked at.
    """
    if fault := scheme_fault(output):
        return fault
    if is_remote(output):
        return None
    if signs := sorted(set(output) & set("[]*?")):
        return f"must hold none of [ ] * ?, for TFX finds its files by patterns; got {' '.join(signs)} in {output!r}."
    return kind and (write_fault(Path(output)) or _claim_fault(Path(output), kind))


def local_output(output: str) -> Path:
    """The output of something that runs on this machine.

    Raises:
      ConfigError: it lies elsewhere.
    """
    if is_remote(output):
        raise ConfigError(
            [f"output: must be a local folder, for a local run keeps its metadata and its lock there; got {output}."]
        )
    return Path(output)


def write_fault(folder: Path) -> str | None:
    """Why a folder cannot be written, if so. It is tried: permissions alone do not tell."""
    try:
        existing = next(one for one in (folder, *folder.parents) if one.exists())
        if not existing.is_dir():
            return f"must be a folder, but {existing} is a file."
        tempfile.TemporaryFile(dir=existing).close()
    except OSError as error:
        return f"must be a folder that can be written; {folder} cannot: {error.strerror}."
    return None


class OutputFolder:
    """A folder of ours, which is made where it is missing. The caller holds it (see `pipeline.run_lock`).

    Args:
      path: the folder.
      kind: what writes it.

    Raises:
      DataError: it is no folder of ours, or a file of the user's has one of our names.
    """

    def __init__(self, path: Path, kind: Kind = "run") -> None:
        if fault := _claim_fault(path, kind):
            raise DataError(f"{path} {fault}")
        self.path = path
        self._kind = kind
        path.mkdir(parents=True, exist_ok=True)
        self._files = _recorded(path) or {}
        if not (path / RECORD_FILE).exists():
            self._save()

    def write(self, name: str, text: str) -> None:
        """Writes a file of ours, whole or not at all. It is recorded first: who sees it finds it whole (`is_whole`).

        Raises:
          DataError: the user has a file of that name.
        """
        self._claim([name])
        (self.path / name).parent.mkdir(exist_ok=True)
        self._files[name] = hashlib.sha256(text.encode()).hexdigest()
        self._save()
        write_atomically(self.path / name, text)

    def publish(self, files: Mapping[str, Path], keep: Iterable[str] = ()) -> None:
        """Copies files to where people look for them, in place of all that was published there before.

        Args:
          files: path in the folder to the file that is copied.
          keep: recorded files that stay besides those.

        Raises:
          DataError: the user has a file of such a name.
        """
        self._claim(files)
        for name, source in files.items():
            target = self.path / name
            target.parent.mkdir(exist_ok=True)
            partial = target.with_name(f"{target.name}.partial")
            shutil.copyfile(source, partial)
            os.replace(partial, target)
            self._files[name] = _sha256(target)
        self.remove(self._files.keys() - files.keys() - set(keep))

    def remove(self, names: Iterable[str]) -> None:
        """Removes recorded files, and folders that are empty then."""
        for name in [name for name in names if name in self._files]:
            path = self.path / name
            if path.is_file() or path.is_symlink():
                path.unlink()
            if path.parent != self.path and path.parent.is_dir() and not any(path.parent.iterdir()):
                path.parent.rmdir()
            del self._files[name]
        self._save()

    @property
    def files(self) -> frozenset[str]:
        """The recorded files."""
        return frozenset(self._files)

    def is_whole(self, names: Iterable[str]) -> bool:
        """Whether files are recorded, and are there as they were written."""
        return all(
            name in self._files and (self.path / name).is_file() and _sha256(self.path / name) == self._files[name]
            for name in names
        )

    def _claim(self, names: Iterable[str]) -> None:
        """Records names before their files are there, so that no kill leaves a file of ours unrecorded."""
        new = [name for name in names if name not in self._files]
        for name in new:
            if (self.path / name).exists():
                raise DataError(
                    f"{self.path / name} must be a file that a run wrote; there is another; {_HOW_TO_GO_ON}"
                )
        if new:
            self._files.update(dict.fromkeys(new, ""))
            self._save()

    def _save(self) -> None:
        content = {"made_by": "smooth-clir", "kind": self._kind, "files": dict(sorted(self._files.items()))}
        write_atomically(self.path / RECORD_FILE, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _claim_fault(folder: Path, kind: Kind) -> str | None:
    """Why a folder is not to be written by us, if so."""
    if not folder.is_dir():
        return None
    try:
        for names, is_one, what, other in (
            (FILES, Path.is_file, "file", "folder"),
            (FOLDERS, Path.is_dir, "folder", "file"),
        ):
            for name in names:
                path = folder / name
                if os.path.lexists(path) and not (is_one(path) or path.is_symlink()):
                    return f"must hold nothing named {name}, or a {what}; it holds a {other}; {_HOW_TO_GO_ON}"
        held = sorted(path.name for path in folder.iterdir() if path.name != LOCK_FILE)
        recorded = _recorded(folder)
        if not held:
            return None
        if recorded is None:
            more = f" and {len(held) - 1} more" if len(held) > 1 else ""
            return (
                f"must be empty, or the output of an earlier {kind}; it holds {held[0]}{more}, and what is not ours is "
                "left alone; choose another output."
            )
        if (found := _kind(folder)) != kind:
            return f"must be the output of {_a(kind)}; it is that of {_a(found)}; choose another output."
        theirs = [name for name in PUBLISHED if os.path.lexists(folder / name) and name not in recorded]
        if kind == "run" and theirs:
            return f"must hold no {theirs[0]} but one that a run wrote; it holds another; {_HOW_TO_GO_ON}"
    except OSError as error:
        return f"must be a folder that can be read; {error.filename or folder}: {error.strerror}."
    return None


def _a(kind: str) -> str:
    return {"run": "a run", "experiment": "an experiment", "cell": "an experiment's cell"}[kind]


def _recorded(folder: Path) -> dict[str, str] | None:
    """The files that are ours, with their SHA-256; None where the folder is not."""
    try:
        content = json.loads((folder / RECORD_FILE).read_text(encoding="utf-8"))
        files: dict[str, str] = content["files"]
        return files if content["made_by"] == "smooth-clir" else None
    except FileNotFoundError:
        return _adopted(folder)
    except (ValueError, KeyError, TypeError):
        return None


def _adopted(folder: Path) -> dict[str, str] | None:
    """The files of a folder that was made before there was a record; None where it is none."""
    names: tuple[str, ...] = ()
    if (folder / METADATA_FILE).is_file() and (folder / CONFIG_FILE).is_file():
        names = PUBLISHED
    elif (folder / EXPERIMENT_FILE).is_file() and (folder / CELLS).is_dir():
        figures = (f"{FIGURES}/{path.name}" for path in (folder / FIGURES).glob("figure-[0-9].svg"))
        names = (EXPERIMENT_FILE, HTML_FILE, MARKDOWN_FILE, *figures)
    elif (folder / CELL_FILE).is_file():
        names = (CELL_FILE, CELL_DIGEST_FILE, CELL_LOG_FILE, *CELL_RESULTS, "stability.md", "embeddings.json")
    return {name: "" for name in names if (folder / name).is_file()} or None


def _kind(folder: Path) -> str:
    try:
        kind: str = json.loads((folder / RECORD_FILE).read_text(encoding="utf-8"))["kind"]
        return kind
    except FileNotFoundError:
        if (folder / EXPERIMENT_FILE).is_file():
            return "experiment"
        return "cell" if (folder / CELL_FILE).is_file() else "run"


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
