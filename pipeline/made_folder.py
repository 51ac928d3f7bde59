"""The folder of a conversion or of a collection from dumps, whose files may be larger than memory.

Files are written to a folder of incomplete files, and moved to their places when all are complete. Lock and record are
those of every output folder (see `pipeline.output_folder`).
"""

import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.input_files import sha256_of_file
from pipeline.layout import CONFIG_FILE
from pipeline.output_folder import (
    HOW_TO_GO_ON,
    MADE_BY,
    held_names,
    not_empty_fault,
    read_record,
    remove_file,
    unreadable_fault,
    write_atomically,
)
from pipeline.output_path import local_fault, pattern_fault
from schemas.errors import DataError


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
    """Matches the names of its subfolders, which may hold such files, too."""

    @property
    def partial(self) -> str:
        """The folder of incomplete files."""
        return f".{self.kind}.partial"

    @property
    def work(self) -> str:
        """The folder from which the command resumes after a kill."""
        return f".{self.kind}.work"

    @property
    def folders(self) -> tuple[str, str]:
        """Both of these folders."""
        return self.partial, self.work


def made_fault(output: str, made: Made) -> str | None:
    """Returns why a folder cannot be the output of a command that makes a folder, or None."""
    folder = Path(output)
    # A run writes below it, and TFX finds its files by patterns.
    if fault := pattern_fault(output, "TFX"):
        return f"{fault}."
    if (fault := local_fault(output, "folder")) or not folder.is_dir():
        return fault
    try:
        record, held = _read_account(folder, made), held_names(folder)
        if record is None and held:
            return not_empty_fault(held, made.noun)
        groups = [name for name in held if made.groups.fullmatch(name) and (folder / name).is_dir()]
        held += [f"{group}/{path.name}" for group in groups for path in (folder / group).iterdir()]
        for name in held:
            is_ours = record is not None and name in record["files"]
            if not is_ours and (made.names.fullmatch(Path(name).name) or name in made.folders):
                return f"must not hold {name}, which no {made.noun} wrote; {HOW_TO_GO_ON}"
        for file in record["files"] if record else ():
            if (folder / file).is_dir() and file not in made.folders:
                return f"must hold no folder named {file}, which is the name of a file; {HOW_TO_GO_ON}"
            if Path(file).name == CONFIG_FILE and (folder / file).is_file():
                if record and sha256_of_file(str(folder / file)) not in record["config_sha256"]:
                    return f"must hold {file} as a {made.noun} wrote it; the file has changed; {HOW_TO_GO_ON}"
    except OSError as error:
        return unreadable_fault(folder, error)
    return None


class MadeFolder:
    """The folder of a command that makes files. The caller holds its `run_lock`.

    Args:
      path: the folder.
      made: the command.

    Raises:
      DataError: the folder is not ours, or a file of the user's has one of our names.
    """

    def __init__(self, path: Path, made: Made) -> None:
        if fault := made_fault(str(path), made):
            raise DataError(f"{path} {fault}")
        self.path = path
        self._made = made
        path.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def staging(self) -> Iterator[Path]:
        """An empty folder on the same disk for incomplete files; it is removed afterwards."""
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
        """A folder from which the command resumes after a kill, by the key of its inputs and settings.

        Folders of other keys are removed.
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
          account: the command's account of its input, for JSON.
        """
        record = _read_account(self.path, self._made) or {"files": [], "config_sha256": []}
        names = sorted(path.relative_to(staging).as_posix() for path in staging.rglob("*") if path.is_file())
        new = [sha256_of_file(str(staging / name)) for name in names if Path(name).name == CONFIG_FILE]
        self._save([*record["files"], *names], [*record["config_sha256"], *new], account)
        for name in names:
            (self.path / name).parent.mkdir(exist_ok=True)
            os.replace(staging / name, self.path / name)
        for name in set(record["files"]) - {*names, *self._made.folders}:
            remove_file(self.path, name)
        self._save(names, new, account)
        shutil.rmtree(self.path / self._made.work, ignore_errors=True)

    def _save(self, files: Sequence[str], configs: Sequence[str], account: dict[str, Any] | None) -> None:
        content = {
            "made_by": MADE_BY,
            "kind": self._made.kind,
            "files": sorted(set(files)),
            "config_sha256": configs,
            "account": account,
        }
        write_atomically(self.path / self._made.account, json.dumps(content, indent=2) + "\n")


def _read_account(folder: Path, made: Made) -> dict[str, Any] | None:
    """The account of an earlier command; None if there is none, or if it names files that are not ours."""
    record = read_record(folder / made.account)
    if record is None or record["kind"] != made.kind or not {"config_sha256", "account"} <= record.keys():
        return None
    return record if all(file in made.folders or _is_name(file, made) for file in record["files"]) else None


def _is_name(file: str, made: Made) -> bool:
    *group, name = file.split("/")
    return made.names.fullmatch(name) is not None and (not group or made.groups.fullmatch("/".join(group)) is not None)
