"""The folder that a conversion writes: what is ours there, and what is left alone.

As for a run (`pipeline.output_folder`), but its files may be larger than memory: they are written beside their places,
and moved there when all are whole.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from pipeline.atomic_file import write_atomically
from pipeline.layout import CONFIG_FILE, LOCK_FILE
from pipeline.output_folder import write_fault
from schemas.errors import DataError

QUERIES_FILE: Final = "queries.tsv"
DOCUMENTS_FILE: Final = "documents.tsv"
JUDGMENTS_FILE: Final = "judgments.tsv"
CANDIDATES_FILE: Final = "candidates.tsv"
ACCOUNT_FILE: Final = "conversion.json"
"""The account of the conversion; it also tells that a folder is a conversion's, and which files are."""

_PARTIAL: Final = ".conversion.partial"
_NAMES: Final = (QUERIES_FILE, DOCUMENTS_FILE, JUDGMENTS_FILE, CANDIDATES_FILE, CONFIG_FILE, _PARTIAL)
_HOW_TO_GO_ON: Final = "move it away, or choose another output."


def conversion_fault(output: str) -> str | None:
    """Why a folder cannot be a conversion's output, if so."""
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
        record = _record(folder)
        if record is None and held:
            more = f" and {len(held) - 1} more" if len(held) > 1 else ""
            return (
                f"must be empty, or the output of an earlier conversion; it holds {held[0]}{more}, and what is not "
                "ours is left alone; choose another output."
            )
        for name in set(_NAMES) & set(held):
            if record is None or name not in record["files"]:
                return f"must hold no {name} but one that a conversion wrote; it holds another; {_HOW_TO_GO_ON}"
            if name != _PARTIAL and (folder / name).is_dir():
                return f"must hold nothing named {name}, or a file; it holds a folder; {_HOW_TO_GO_ON}"
        if record and (folder / CONFIG_FILE).is_file() and _sha256(folder / CONFIG_FILE) not in record["config_sha256"]:
            return f"must hold {CONFIG_FILE} as a conversion wrote it; it was changed since; {_HOW_TO_GO_ON}"
    except OSError as error:
        return f"must be a folder that can be read; {error.filename or folder}: {error.strerror}."
    return None


class ConversionFolder:
    """A conversion's folder. The caller holds it (see `pipeline.run_lock`).

    Args:
      path: the folder.

    Raises:
      DataError: it is no folder of ours, or a file of the user's has one of our names.
    """

    def __init__(self, path: Path) -> None:
        if fault := conversion_fault(str(path)):
            raise DataError(f"{path} {fault}")
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def staging(self) -> Iterator[Path]:
        """An empty folder, on the same disk, for files that are not whole yet; it is gone afterwards."""
        record = _record(self.path)
        files, configs = (record["files"], record["config_sha256"]) if record else ([], [])
        # Before the files are there, so that no kill leaves one of ours unrecorded.
        self._save([*files, _PARTIAL], configs, record["account"] if record else None)
        partial = self.path / _PARTIAL
        try:
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            yield partial
        finally:
            shutil.rmtree(partial, ignore_errors=True)
            if not record and not any((self.path / name).exists() for name in _NAMES):
                (self.path / ACCOUNT_FILE).unlink(missing_ok=True)

    def publish(self, staging: Path, account: dict[str, Any]) -> None:
        """Moves all staged files to their places; an earlier conversion's files go.

        Args:
          staging: what `staging` gave.
          account: what became of the input, for JSON.
        """
        record = _record(self.path) or {"files": [], "config_sha256": []}
        names = sorted(path.name for path in staging.iterdir())
        new = _sha256(staging / CONFIG_FILE)
        self._save([*record["files"], *names], [*record["config_sha256"], new], account)
        for name in names:
            os.replace(staging / name, self.path / name)
        for name in set(record["files"]) - {*names, _PARTIAL}:
            (self.path / name).unlink(missing_ok=True)
        self._save(names, [new], account)

    def _save(self, files: Sequence[str], configs: Sequence[str], account: dict[str, Any] | None) -> None:
        content = {
            "made_by": "smooth-clir",
            "kind": "conversion",
            "files": sorted(set(files)),
            "config_sha256": configs,
            "account": account,
        }
        write_atomically(self.path / ACCOUNT_FILE, json.dumps(content, indent=2) + "\n")


def _record(folder: Path) -> dict[str, Any] | None:
    """What an earlier conversion left in the folder; None where there was none."""
    try:
        content = json.loads((folder / ACCOUNT_FILE).read_text(encoding="utf-8"))
        is_ours = content["made_by"] == "smooth-clir" and content["kind"] == "conversion"
        files, configs, account = content["files"], content["config_sha256"], content["account"]
        # Names alone: a record that was tampered with removes nothing outside the folder.
        is_ours = is_ours and set(files) <= set(_NAMES)
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        return None
    return {"files": files, "config_sha256": configs, "account": account} if is_ours else None


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
