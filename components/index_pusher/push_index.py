"""Makes the index of a run the newest version, unless it is that already, whatever updates have changed since."""

import hashlib
from pathlib import Path

from components.index_pusher.index_versions import IndexVersions, link_files
from models.retrieval.corpus_index import read_manifest
from schemas.index_manifest import MANIFEST_FILE


def push_index(index: str, folder: str) -> str:
    """Pushes an index.

    Args:
      index: folder of what a run made.
      folder: of the versions.

    Returns:
      the folder of the newest version.
    """
    versions = IndexVersions(folder)
    origin = hashlib.sha256((Path(index) / MANIFEST_FILE).read_bytes()).hexdigest()
    with versions.writing():
        newest = versions.newest()
        if newest is not None and read_manifest(str(newest)).origin == origin:
            return str(newest)
        staging = versions.begin()
        staging.rmdir()
        link_files(Path(index), staging)
        manifest = read_manifest(index).model_copy(update={"origin": origin})
        (staging / MANIFEST_FILE).unlink()  # a link must not be written through
        (staging / MANIFEST_FILE).write_text(manifest.to_json(), encoding="utf-8")
        return str(versions.commit())
