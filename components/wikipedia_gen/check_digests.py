"""Whether the files that were read are those that a run began with."""

from collections.abc import Mapping, Sequence

from components.wikipedia_gen.dumps.checksums import FileSum
from schemas.byte_streams import input_digest
from schemas.errors import DataError


def check_digests(files: Mapping[str, Sequence[FileSum]], digests: Mapping[str, str]) -> None:
    """Refuses inputs of other bytes.

    Args:
      files: what was read, by the keys of its settings.
      digests: key to what `schemas.byte_streams` made of its files before.

    Raises:
      DataError: an input has changed.
    """
    for key, some in files.items():
        found = input_digest([one.sha256 for one in sorted(some, key=lambda one: one.path)])
        if found != digests.get(key, found):
            raise DataError(
                f"{' and '.join(one.path for one in some)} must not change while a run reads the data "
                f"(wikipedia.{key}): expected the SHA-256 {digests[key]}; got {found}. Run again once the files are "
                "complete."
            )
