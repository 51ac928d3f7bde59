"""Collections that tests make of files' contents."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from components.collection_gen.write_collection import write_collection
from schemas.collection import Role
from schemas.relevance import MOST_RELEVANT


def collect(
    folder: Path,
    contents: Mapping[str, bytes | Sequence[bytes]],
    digests: Mapping[str, str] | None = None,
    top_grade: int = MOST_RELEVANT,
) -> dict[str, Role]:
    """Makes a collection.

    Args:
      folder: to write to; files may stand there already.
      contents: of each role's file, which is written beside the folder under the role's name, or of its several files,
        which get numbers.
      digests, top_grade: see `write_collection`.

    Returns:
      what the manifest holds.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths: dict[str, list[str]] = {}
    for role, content in contents.items():
        several = (
            {role: content} if isinstance(content, bytes) else {f"{role}-{n}": part for n, part in enumerate(content)}
        )
        for name, part in several.items():
            (folder.parent / name).write_bytes(part)
        paths[role] = [str(folder.parent / name) for name in several]
    return write_collection(paths, digests or {}, top_grade, str(folder))
