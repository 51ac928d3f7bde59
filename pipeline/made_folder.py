"""A folder of files that a command makes of others': what is ours there, and what is left alone.

As for a run (`pipeline.output_folder`), but its files may be larger than memory: they are written beside their places,
and moved there when all are whole.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from pipeline.atomic_file import write_atomically
from pipeline.layout import CONFIG_FILE, LOCK_FILE
from pipeline.output_folder import write_fault
from schemas.errors import DataError

_HOW_TO_GO_ON: Final = "move it away, or choose another output."


class Made(NamedTuple):
    """What makes a folder.

    Attributes:
      kind: its name in the account.
      what: its name in sentences, such as "conversion".
      account: the file with the account of what was done; it also tells that a folder is ours, and which files are.
      names: matches the names of its files.
      groups: matches the names of folders in it that may hold such files, too.
    """

    kind: str
    what: str
    account: str
    names: re.Pattern[str]
    groups: re.Pattern[str] = re.compile("(?!)")

    @property
    def partial(self) -> str:
        """The folder of files that are not whole yet."""
        return f".{self.kind}.partial"

    @property
    def work(self) -> str:
        """The folder of what a killed command leaves, so that the same command goes on from there."""
        return f".{self.kind}.work"

    @property
    def folders(self) -> tuple[str, str]:
        """Both of them."""
        return self.partial, self.work


def made_fault(output: str, made: Made) -> str | None:
    """Why a folder cannot be the output of something, if so."""
    if "://" in output:
        return f"must be a local folder; got {output!r}."
    if signs := sorted(set(os.path.realpath(output)) & set("[]*?")):
        # A run writes below it.
        return f"must hold none of [ ] * ?, for TFX finds its files by patterns; got {' '.join(signs)} in {output!r}."
    folder = Path(output)
    if fault := write_fault(folder):
        return fault
    if not folder.is_dir():
        return None
    try:
        held = sorted(path.name for path in folder.iterdir() if path.name != LOCK_FILE)
        record = _record(folder, made)
        if record is None and held:
            more = f" and {len(held) - 1} more" if len(held) > 1 else ""
            return (
                f"must be empty, or the output of an earlier {made.what}; it holds {held[0]}{more}, and what is not "
                "ours is left alone; choose another output."
            )
        groups = [name for name in held if made.groups.fullmatch(name) and (folder / name).is_dir()]
        held += [f"{group}/{path.name}" for group in groups for path in (folder / group).iterdir()]
        for name in held:
            is_ours = record is not None and name in record["files"]
            if not is_ours and (made.names.fullmatch(Path(name).name) or name in made.folders):
                return f"must hold no {name} but one that a {made.what} wrote; it holds another; {_HOW_TO_GO_ON}"
        for file in record["files"] if record else ():
            if (folder / file).is_dir() and file not in made.folders:
                return f"must hold nothing named {file}, or a file; it holds a folder; {_HOW_TO_GO_ON}"
            if Path(file).name == CONFIG_FILE and (folder / file).is_file():
                if record and _sha256(folder / file) not in record["config_sha256"]:
                    return f"must hold {file} as a {made.what} wrote it; it was changed since; {_HOW_TO_GO_ON}"
    except OSError as error:
        return f"must be a folder that can be read; {error.filename or folder}: {error.strerror}."
    return None


class MadeFolder:
    """A folder of ours. The caller holds it (see `pipeline.run_lock`).

    Args:
      path: the folder.
      made: what makes it.

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
        record = _record(self.path, made)
        files, configs = (record["files"], record["config_sha256"]) if record else ([], [])
        # Before the files are there, so that no kill leaves one of ours unrecorded.
        self._save([*files, *made.folders], configs, record["account"] if record else None)
        partial = self.path / made.partial
        try:
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            yield partial
        finally:
            shutil.rmtree(partial, ignore_errors=True)
            ours = (made.names, made.groups, re.compile(re.escape(made.work)))
            if not record and not any(one.fullmatch(path.name) for path in self.path.iterdir() for one in ours):
                (self.path / made.account).unlink(missing_ok=True)

    def work(self, key: str) -> Path:
        """A folder for what the same command may go on from; that of another key is removed.

        Args:
          key: of the inputs and settings.
        """
        work = self.path / self._made.work
        for other in work.iterdir() if work.is_dir() else ():
            if other.name != key:
                shutil.rmtree(other)
        (work / key).mkdir(parents=True, exist_ok=True)
        return work / key

    def publish(self, staging: Path, account: dict[str, Any]) -> None:
        """Moves all staged files to their places; an earlier command's files go, and so does what it might go on from.

        Args:
          staging: what `staging` gave.
          account: what became of the input, for JSON.
        """
        record = _record(self.path, self._made) or {"files": [], "config_sha256": []}
        names = sorted(path.relative_to(staging).as_posix() for path in staging.rglob("*") if path.is_file())
        new = [_sha256(staging / name) for name in names if Path(name).name == CONFIG_FILE]
        self._save([*record["files"], *names], [*record["config_sha256"], *new], account)
        for name in names:
            (self.path / name).parent.mkdir(exist_ok=True)
            os.replace(staging / name, self.path / name)
        for name in set(record["files"]) - {*names, *self._made.folders}:
            (self.path / name).unlink(missing_ok=True)
            if (group := (self.path / name).parent) != self.path and group.is_dir() and not any(group.iterdir()):
                group.rmdir()
        self._save(names, new, account)
        shutil.rmtree(self.path / self._made.work, ignore_errors=True)

    def _save(self, files: Sequence[str], configs: Sequence[str], account: dict[str, Any] | None) -> None:
        content = {
            "made_by": "smooth-clir",
            "kind": self._made.kind,
            "files": sorted(set(files)),
            "config_sha256": configs,
            "account": account,
        }
        write_atomically(self.path / self._made.account, json.dumps(content, indent=2) + "\n")


def _record(folder: Path, made: Made) -> dict[str, Any] | None:
    """What an earlier command left in the folder; None where there was none."""
    try:
        content = json.loads((folder / made.account).read_text(encoding="utf-8"))
        is_ours = content["made_by"] == "smooth-clir" and content["kind"] == made.kind
        files, configs, account = content["files"], content["config_sha256"], content["account"]
        # Names alone: a record that was tampered with removes nothing outside the folder.
        is_ours = is_ours and all(file in made.folders or _is_name(file, made) for file in files)
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        return None
    return {"files": files, "config_sha256": configs, "account": account} if is_ours else None


def _is_name(file: str, made: Made) -> bool:
    *group, name = file.split("/")
    return made.names.fullmatch(name) is not None and (not group or made.groups.fullmatch("/".join(group)) is not None)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
