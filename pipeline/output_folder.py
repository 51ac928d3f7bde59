"""Output folders: one command at a time writes a folder, and only our files in it are ever replaced or removed.

A run, an experiment and its cells write into an `OutputFolder`; other commands into a folder of `pipeline.made_folder`.
Such a folder was empty, or a command of the same kind made it. Each file is recorded before it is written, so that a
kill leaves no unrecorded file of ours; every unrecorded file is the user's.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

from pipeline.input_files import is_remote, scheme_fault, sha256_of_file
from pipeline.layout import FILES, FOLDERS, LOCK_FILE, RECORD_FILE
from pipeline.output_path import length_fault, local_fault, pattern_fault
from pipeline.stages import PUBLISHED
from schemas.errors import DataError
from schemas.json_files import parse_json
from schemas.lock_file import held_lock

Kind = Literal["run", "experiment", "cell"]

_KINDS: Final[Mapping[str, str]] = {"run": "a run", "experiment": "an experiment", "cell": "an experiment's cell"}
MADE_BY: Final = "smooth-clir"
"""Marks a record as ours."""
HOW_TO_GO_ON: Final = "move it away, or choose another output."


def write_atomically(path: Path, content: str | bytes) -> None:
    """Writes a file under another name, and renames it: a kill at any moment leaves the old content or the new.

    Raises:
      OSError: it cannot be written; the part that was written is removed.
    """
    partial = _partial(path)
    try:
        partial.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(partial, path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def _partial(path: Path) -> Path:
    """The name under which a file is written. A file or a link that a kill left there is removed."""
    partial = path.with_name(f"{path.name}.partial")
    partial.unlink(missing_ok=True)
    return partial


@contextmanager
def run_lock(output: Path) -> Iterator[None]:
    """Locks an output folder, and makes it if it is missing.

    Raises:
      DataError: another run holds the folder, or the lock cannot be written.
    """
    output.mkdir(parents=True, exist_ok=True)
    busy = f"Another run is writing to {output}; wait for its end, or choose another output."
    with held_lock(output / LOCK_FILE, busy):
        yield


def output_fault(output: str, kind: Kind | None) -> str | None:
    """Returns why a folder cannot be the output of a run or an experiment, or None.

    Args:
      output: the folder.
      kind: what writes it; None checks only the name of a folder on another machine.
    """
    if (fault := scheme_fault(output)) or is_remote(output):
        return fault
    if fault := pattern_fault(output, "TFX"):
        return f"{fault}."
    if kind is None:
        return None
    return length_fault(output) or local_fault(output, "folder") or _output_claim_fault(Path(output), kind)


class OutputFolder:
    """The folder of a run, an experiment or a cell, made if it is missing. The caller holds its `run_lock`.

    Args:
      path: the folder.
      kind: what writes it.

    Raises:
      DataError: the folder is not ours, or a file of the user's has one of our names.
    """

    def __init__(self, path: Path, kind: Kind = "run") -> None:
        if fault := _output_claim_fault(path, kind):
            raise DataError(f"{path} {fault}")
        self.path = path
        self._kind = kind
        path.mkdir(parents=True, exist_ok=True)
        record = read_record(path / RECORD_FILE)
        self._files: dict[str, str] = record["files"] if record else {}
        if record is None:
            self._save()

    @property
    def files(self) -> frozenset[str]:
        """The recorded files."""
        return frozenset(self._files)

    def is_whole(self, names: Iterable[str]) -> bool:
        """Whether files are recorded and unchanged."""
        return all(_has_digest(self.path / name, self._files.get(name)) for name in names)

    def write(self, name: str, content: str | bytes) -> None:
        """Writes a file of ours, whole or not at all. Its digest is recorded first, for `is_whole`.

        Raises:
          DataError: the user has a file of that name.
        """
        self._claim([name])
        (self.path / name).parent.mkdir(exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        self._files[name] = hashlib.sha256(data).hexdigest()
        self._save()
        write_atomically(self.path / name, data)

    def publish(self, files: Mapping[str, Path], keep: Iterable[str] = ()) -> None:
        """Copies files into the folder, and removes its other recorded files.

        Args:
          files: path in the folder to the file that is copied.
          keep: recorded files that stay.

        Raises:
          DataError: the user has a file of such a name.
        """
        self._claim(files)
        for name, source in files.items():
            target = self.path / name
            target.parent.mkdir(exist_ok=True)
            partial = _partial(target)
            shutil.copyfile(source, partial)
            os.replace(partial, target)
            self._files[name] = sha256_of_file(str(target))
        self.remove(self._files.keys() - files.keys() - set(keep))

    def remove(self, names: Iterable[str]) -> None:
        """Removes recorded files, and the folders that are empty then."""
        for name in [name for name in names if name in self._files]:
            remove_file(self.path, name)
            del self._files[name]
        self._save()

    def _claim(self, names: Iterable[str]) -> None:
        """Records names before their files are there."""
        new = [name for name in names if name not in self._files]
        for name in new:
            if (self.path / name).exists():
                raise DataError(f"{self.path / name} exists, and no run wrote it; {HOW_TO_GO_ON}")
        if new:
            self._files.update(dict.fromkeys(new, ""))
            self._save()

    def _save(self) -> None:
        content = {"made_by": MADE_BY, "kind": self._kind, "files": dict(sorted(self._files.items()))}
        write_atomically(self.path / RECORD_FILE, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _output_claim_fault(folder: Path, kind: Kind) -> str | None:
    """Returns why a run or an experiment must not write a folder, or None."""
    if not folder.is_dir():
        return None
    try:
        for names, has_kind, expected, unexpected in (
            (FILES, Path.is_file, "file", "folder"),
            (FOLDERS, Path.is_dir, "folder", "file"),
        ):
            for name in names:
                path = folder / name
                if os.path.lexists(path) and not (has_kind(path) or path.is_symlink()):
                    return f"must hold no {unexpected} named {name}, which is the name of a {expected}; {HOW_TO_GO_ON}"
        record, held = read_record(folder / RECORD_FILE), held_names(folder)
        if not held:
            return None
        if record is None:
            return not_empty_fault(held, kind)
        if (recorded := record["kind"]) != kind:
            return f"must be the output of {_KINDS[kind]}, not of {_KINDS[recorded]}; choose another output."
        theirs = [name for name in PUBLISHED if os.path.lexists(folder / name) and name not in record["files"]]
        if kind == "run" and theirs:
            return f"must not hold {theirs[0]}, which no run wrote; {HOW_TO_GO_ON}"
    except OSError as error:
        return unreadable_fault(folder, error)
    return None


def check_unchanged(folder: Path, names: Iterable[str], remedy: str) -> None:
    """Checks that files of an `OutputFolder` are as they were written, before their numbers are used.

    Args:
      folder: the folder; one without a record, such as a copy of single files, is not checked.
      names: paths in the folder; only those on record are checked.
      remedy: what to do, for the error message.

    Raises:
      DataError: a file is missing or has changed.
    """
    record = read_record(folder / RECORD_FILE)
    digests = {name: record["files"][name] for name in names if name in record["files"]} if record else {}
    for name, digest in digests.items():
        if not _has_digest(folder / name, digest):
            raise DataError(f"{folder / name} is missing or has changed; {remedy}.")


def _has_digest(path: Path, digest: str | None) -> bool:
    return path.is_file() and sha256_of_file(str(path)) == digest


def read_record(path: Path) -> dict[str, Any] | None:
    """Reads the record of a folder's files; None if there is none of ours."""
    try:
        content: dict[str, Any] = parse_json(path.read_text(encoding="utf-8"))
        is_ours = content["made_by"] == MADE_BY and isinstance(content["kind"], str)
        return content if is_ours and isinstance(content["files"], dict | list) else None
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def held_names(folder: Path) -> list[str]:
    """The names in a folder, without that of the lock."""
    return sorted(path.name for path in folder.iterdir() if path.name != LOCK_FILE)


def not_empty_fault(held: Sequence[str], writer: str) -> str:
    """Returns why a command does not write into a folder with files of the user's."""
    more = f" and {len(held) - 1} more" if len(held) > 1 else ""
    return f"must be empty, or the output of an earlier {writer}; it holds {held[0]}{more}; choose another output."


def unreadable_fault(folder: Path, error: OSError) -> str:
    """Returns why a command does not write into a folder that it cannot read."""
    return f"must be a folder that can be read; {error.filename or folder}: {error.strerror}."


def remove_file(folder: Path, name: str) -> None:
    """Removes a file, and its subfolder if that is empty then."""
    path = folder / name
    if path.is_file() or path.is_symlink():
        path.unlink()
    if path.parent != folder and path.parent.is_dir() and not any(path.parent.iterdir()):
        path.parent.rmdir()
