"""Output folders: which files in them are ours, and what is left alone."""

import fcntl
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from pipeline.input_files import is_remote, scheme_fault
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
    LOCK_FILE,
    METADATA_FILE,
    PUBLISHED,
    RECORD_FILE,
    REPORT_FILE,
)
from schemas.errors import ConfigError, DataError


def write_atomically(path: Path, text: str) -> None:
    """Writes a file under another name, and renames it: a kill at any moment leaves the old content or the new.

    Raises:
      OSError: it cannot be written; what was written of it is removed.
    """
    partial = path.with_name(f"{path.name}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


@contextmanager
def run_lock(output: Path) -> Iterator[None]:
    """Holds an output folder, which is made where it is missing.

    The kernel frees the lock with the process that holds it, however that ends.

    Raises:
      DataError: another run holds the folder, or the lock cannot be written.
    """
    output.mkdir(parents=True, exist_ok=True)
    try:
        lock = open(output / LOCK_FILE, "a")
    except OSError as error:
        raise DataError(
            f"{output / LOCK_FILE} must be a file that you can write, for it tells whether a run is at work; "
            f"{error.strerror}: move it away, or choose another output."
        ) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataError(
                f"{output} must be written by one run at a time, and another run is at work there; "
                "wait for it, or choose another output."
            ) from None
        yield


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
    """A folder of ours, which is made where it is missing. The caller holds it (see `pipeline.output_folder`).

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
        names = (EXPERIMENT_FILE, REPORT_FILE, *figures)
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
    """A folder of ours. The caller holds it (see `pipeline.output_folder`).

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
