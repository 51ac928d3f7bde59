"""The stage CollectionGen: reads the input files once."""

import os

from tfx.dsl.io import fileio

from components.collection_gen.write_collection import write_collection
from components.stage import Apply, Input, Output, stage
from schemas.artifacts import Collection, WikiClirFiles


@stage
def CollectionGen(
    collection: Output[Collection],
    apply: Apply,
    paths: dict[str, list[str]],
    digests: dict[str, str],
    top_grade: int,
    wikiclir_files: Input[WikiClirFiles] | None = None,
    fields: list[str] | None = None,
    text_languages: dict[str, list[str]] | None = None,
) -> None:
    """Reads the input files once, and makes the collection that all later stages read.

    Args:
      collection: shards and a manifest.
      apply: shares the files among workers.
      paths: role (queries, documents, judgments, perhaps candidates) to its files, or, with `wikiclir_files`, to
        patterns of file names in that artifact.
      digests: role to the digest that `input_digest` makes of its files; other content is refused.
      top_grade: the MR grade; judgments with a higher grade are left out.
      wikiclir_files: files that an earlier stage made from dumps.
      fields: the fields of documents that are kept for the index.
      text_languages: role (queries, documents) to the codes of its languages, where these are several.

    Raises:
      DataError: see `write_collection`.
    """
    if wikiclir_files:
        paths = {
            role: sorted(path for name in names for path in fileio.glob(os.path.join(wikiclir_files.uri, name)))
            for role, names in paths.items()
        }
    write_collection(paths, digests, top_grade, collection.uri, apply, fields or (), text_languages or {})
