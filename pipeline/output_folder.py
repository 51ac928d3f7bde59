"""Output folders: one command at a time writes a folder, and only our files in it are ever replaced or removed.

A run, an experiment and its cells write into an `OutputFolder`; a conversion and a collection from dumps, whose files
may be larger than memory, into a `MadeFolder`. Either was empty, or a command of the same kind made it. Each file is
recorded before it is there, so that no kill leaves a file of ours unrecorded; anything else is the user's.

Both stand in one file because they share lock, record and refusals; what the path itself must be stands in
`pipeline.output_path`.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from pipeline.input_files import is_remote, scheme_fault
from pipeline.layout import CONFIG_FILE, FILES, FOLDERS, LOCK_FILE, RECORD_FILE
from pipeline.output_path import length_fault, local_fault, pattern_fault
from pipeline.stages import PUBLISHED
from schemas.errors import DataError
from schemas.json_files import parse_json
from schemas.lock_file import held_lock

Kind = Literal["run", "experiment", "cell"]

_KINDS: Final[Mapping[str, str]] = {"run": "a run", "experiment": "an experiment", "cell": "an experiment's cell"}
_MADE_BY: Final = "smooth-clir"
_HOW_TO_GO_ON: Final = "move it away, or choose another output."


def write_atomically(path: Path, content: str | bytes) -> None:
    """Writes a file under another name, and renames it: a kill at any moment leaves the old content or the new.

    Args:
      path: the file.
      content: bytes, or a text, which is written as UTF-8.

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
    """The name under which a file is written; what a kill left there is removed, and a link is not followed."""
    partial = path.with_name(f"{path.name}.partial")
    partial.unlink(missing_ok=True)
    return partial


@contextmanager
def run_lock(output: Path) -> Iterator[None]:
    """Holds an output folder, which is made where it is missing.

    Raises:
      DataError: another run holds the folder, or the lock cannot be written.
    """
    output.mkdir(parents=True, exist_ok=True)
    busy = (
        f"{output} must be written by one run at a time, and another run is at work there; wait for it, or choose "
        "another output."
    )
    with held_lock(output / LOCK_FILE, busy):
        yield


def output_fault(output: str, kind: Kind | None) -> str | None:
    """The reason why a folder cannot be the output of a run or an experiment, or None.

    Args:
      output: the folder.
      kind: what writes it; None checks the name alone, for the folder is not on this machine.
    """
    if (fault := scheme_fault(output)) or is_remote(output):
        return fault
    if fault := pattern_fault(output, "TFX"):
        return f"{fault}."
    if kind is None:
        return None
    return length_fault(output) or local_fault(output, "folder") or _output_claim_fault(Path(output), kind)


class OutputFolder:
    """The folder of a run, an experiment or a cell, made where it is missing. The caller holds it (`run_lock`).

    Args:
      path: the folder.
      kind: what writes it.

    Raises:
      DataError: it is no folder of ours, or a file of the user's has one of our names.
    """

    def __init__(self, path: Path, kind: Kind = "run") -> None:
        if fault := _output_claim_fault(path, kind):
            raise DataError(f"{path} {fault}")
        self.path = path
        self._kind = kind
        path.mkdir(parents=True, exist_ok=True)
        record = _read_record(path / RECORD_FILE)
        self._files: dict[str, str] = record["files"] if record else {}
        if record is None:
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
        """Copies files to where people look for them, in place of all that was published there before.

        Args:
          files: path in the folder to the file that is copied.
          keep: other recorded files that stay.

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
            self._files[name] = _sha256(target)
        self.remove(self._files.keys() - files.keys() - set(keep))

    def remove(self, names: Iterable[str]) -> None:
        """Removes recorded files, and the folders that are empty then."""
        for name in [name for name in names if name in self._files]:
            _remove_file(self.path, name)
            del self._files[name]
        self._save()

    def _claim(self, names: Iterable[str]) -> None:
        """Records names before their files are there."""
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
        content = {"made_by": _MADE_BY, "kind": self._kind, "files": dict(sorted(self._files.items()))}
        write_atomically(self.path / RECORD_FILE, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _output_claim_fault(folder: Path, kind: Kind) -> str | None:
    """The reason why a run or an experiment must not write a folder, or None."""
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
                    return f"must hold nothing named {name}, or a {expected}; it holds a {unexpected}; {_HOW_TO_GO_ON}"
        record, held = _read_record(folder / RECORD_FILE), _held(folder)
        if not held:
            return None
        if record is None:
            return _not_empty(held, kind)
        if (recorded := record["kind"]) != kind:
            return f"must be the output of {_KINDS[kind]}; it is that of {_KINDS[recorded]}; choose another output."
        theirs = [name for name in PUBLISHED if os.path.lexists(folder / name) and name not in record["files"]]
        if kind == "run" and theirs:
            return f"must hold no {theirs[0]} but one that a run wrote; it holds another; {_HOW_TO_GO_ON}"
    except OSError as error:
        return _unreadable(folder, error)
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
    record = _read_record(folder / RECORD_FILE)
    digests = {name: record["files"][name] for name in names if name in record["files"]} if record else {}
    for name, digest in digests.items():
        if not (folder / name).is_file() or _sha256(folder / name) != digest:
            raise DataError(f"{folder / name}: must be as it was written, and is missing or has changed; {remedy}.")


class Made(NamedTuple):
    """A command that makes a folder of files."""

    kind: str
    """Its name in the account."""
    noun: str
    """Its name in sentences, such as "conversion"."""
    account: str
    """The file with the account of the command, which is also the record of the folder."""
    names: re.Pattern[str]
    """Matches the names of its files."""
    groups: re.Pattern[str] = re.compile("(?!)")
    """Matches the names of folders in it that may hold such files, too."""

    @property
    def partial(self) -> str:
        """The folder of files that are not whole yet."""
        return f".{self.kind}.partial"

    @property
    def work(self) -> str:
        """The folder from which the same command goes on after a kill."""
        return f".{self.kind}.work"

    @property
    def folders(self) -> tuple[str, str]:
        """Both of them."""
        return self.partial, self.work


def made_fault(output: str, made: Made) -> str | None:
    """The reason why a folder cannot be the output of a command that makes one, or None."""
    folder = Path(output)
    # A run writes below it, and TFX finds its files by patterns.
    if fault := pattern_fault(output, "TFX"):
        return f"{fault}."
    if (fault := local_fault(output, "folder")) or not folder.is_dir():
        return fault
    try:
        record, held = _read_account(folder, made), _held(folder)
        if record is None and held:
            return _not_empty(held, made.noun)
        groups = [name for name in held if made.groups.fullmatch(name) and (folder / name).is_dir()]
        held += [f"{group}/{path.name}" for group in groups for path in (folder / group).iterdir()]
        for name in held:
            is_ours = record is not None and name in record["files"]
            if not is_ours and (made.names.fullmatch(Path(name).name) or name in made.folders):
                return f"must hold no {name} but one that a {made.noun} wrote; it holds another; {_HOW_TO_GO_ON}"
        for file in record["files"] if record else ():
            if (folder / file).is_dir() and file not in made.folders:
                return f"must hold nothing named {file}, or a file; it holds a folder; {_HOW_TO_GO_ON}"
            if Path(file).name == CONFIG_FILE and (folder / file).is_file():
                if record and _sha256(folder / file) not in record["config_sha256"]:
                    return f"must hold {file} as a {made.noun} wrote it; it was changed since; {_HOW_TO_GO_ON}"
    except OSError as error:
        return _unreadable(folder, error)
    return None


class MadeFolder:
    """The folder of a command that makes files, written beside their places and moved there when all are whole.

    The caller holds it (`run_lock`).

    Args:
      path: the folder.
      made: the command.

    Raises:
      DataError: it is no folder of ours, or a file of the user's has one of our names.
    """

    def __init__(self, path: Path, made: Made) -> None:
        if fault := made_fault(str(path), made):
            raise DataError(f"{path} {fault}")
        self.path = path
        self._made = made
        path.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def staging(self) -> Iterator[Path]:
        """An empty folder, on the same disk, for files that are not whole yet; it is gone afterwards."""
        made = self._made
        record = _read_account(self.path, made)
        files, configs = (record["files"], record["config_sha256"]) if record else ([], [])
        self._save([*files, *made.folders], configs, record["account"] if record else None)
        partial = self.path / made.partial
        try:
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            yield partial
        finally:
            shutil.rmtree(partial, ignore_errors=True)
            ours = (made.names, made.groups, re.compile(re.escape(made.work)))
            if not record and not any(pattern.fullmatch(path.name) for path in self.path.iterdir() for pattern in ours):
                (self.path / made.account).unlink(missing_ok=True)

    def work(self, key: str) -> Path:
        """A folder from which the same command may go on; that of another key is removed.

        Args:
          key: of the inputs and settings.
        """
        work = self.path / self._made.work
        for folder in work.iterdir() if work.is_dir() else ():
            if folder.name != key:
                shutil.rmtree(folder)
        (work / key).mkdir(parents=True, exist_ok=True)
        return work / key

    def publish(self, staging: Path, account: dict[str, Any]) -> None:
        """Moves all staged files to their places; removes an earlier command's files, and the folder of `work`.

        Args:
          staging: the folder that `staging` gave.
          account: of the input, for JSON.
        """
        record = _read_account(self.path, self._made) or {"files": [], "config_sha256": []}
        names = sorted(path.relative_to(staging).as_posix() for path in staging.rglob("*") if path.is_file())
        new = [_sha256(staging / name) for name in names if Path(name).name == CONFIG_FILE]
        self._save([*record["files"], *names], [*record["config_sha256"], *new], account)
        for name in names:
            (self.path / name).parent.mkdir(exist_ok=True)
            os.replace(staging / name, self.path / name)
        for name in set(record["files"]) - {*names, *self._made.folders}:
            _remove_file(self.path, name)
        self._save(names, new, account)
        shutil.rmtree(self.path / self._made.work, ignore_errors=True)

    def _save(self, files: Sequence[str], configs: Sequence[str], account: dict[str, Any] | None) -> None:
        content = {
            "made_by": _MADE_BY,
            "kind": self._made.kind,
            "files": sorted(set(files)),
            "config_sha256": configs,
            "account": account,
        }
        write_atomically(self.path / self._made.account, json.dumps(content, indent=2) + "\n")


def _read_account(folder: Path, made: Made) -> dict[str, Any] | None:
    """The account of an earlier command; None where there was none.

    All files in it have names that the command may give: an account that was tampered with removes nothing else.
    """
    record = _read_record(folder / made.account)
    if record is None or record["kind"] != made.kind or not {"config_sha256", "account"} <= record.keys():
        return None
    return record if all(file in made.folders or _is_name(file, made) for file in record["files"]) else None


def _is_name(file: str, made: Made) -> bool:
    *group, name = file.split("/")
    return made.names.fullmatch(name) is not None and (not group or made.groups.fullmatch("/".join(group)) is not None)


def _read_record(path: Path) -> dict[str, Any] | None:
    """The record of a folder's files; None where there is none of ours."""
    try:
        content: dict[str, Any] = parse_json(path.read_text(encoding="utf-8"))
        is_ours = content["made_by"] == _MADE_BY and isinstance(content["kind"], str)
        return content if is_ours and isinstance(content["files"], dict | list) else None
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def _held(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != LOCK_FILE)


def _not_empty(held: Sequence[str], writer: str) -> str:
    more = f" and {len(held) - 1} more" if len(held) > 1 else ""
    return (
        f"must be empty, or the output of an earlier {writer}; it holds {held[0]}{more}, and what is not ours is "
        "left alone; choose another output."
    )


def _unreadable(folder: Path, error: OSError) -> str:
    return f"must be a folder that can be read; {error.filename or folder}: {error.strerror}."


def _remove_file(folder: Path, name: str) -> None:
    """Removes a file, and the folder below the output that is empty then."""
    path = folder / name
    if path.is_file() or path.is_symlink():
        path.unlink()
    if path.parent != folder and path.parent.is_dir() and not any(path.parent.iterdir()):
        path.parent.rmdir()


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
