"""Writes the passages of a collection's documents. Never imports TFX."""

import os
from dataclasses import replace
from functools import partial
from itertools import accumulate

from models.texts.passages import passages_of
from schemas import file_system
from schemas.apply import Apply
from schemas.collection import MANIFEST_FILE, Role, Shard, manifest_text, parse_manifest, read_texts
from schemas.passages import PassageSettings


def write_passages(
    collection: str, target: str, settings: PassageSettings, segmented: bool, apply: Apply = map
) -> Role:
    """Writes a collection whose documents are the passages of another's, without queries and judgments.

    The passages of a document follow each other. Each has the document's title, and an id of
    `schemas.passages.passage_id`.

    Args:
      collection: folder of the documents.
      target: folder of the passages.
      settings: the lengths of the passages.
      segmented: whether white space alone parts words.
      apply: shares the shards among workers.

    Returns:
      the shards of the passages, with the account of the documents.
    """
    with file_system.open_file(os.path.join(collection, MANIFEST_FILE), "r") as manifest:
        documents = parse_manifest(manifest.read())["documents"]
    split = partial(_split_shard, collection, target, settings, segmented)
    lines = list(apply(split, documents.shards))
    first_lines = accumulate(lines, initial=1)
    shards = (
        replace(shard, first_line=first, lines=count)
        for shard, first, count in zip(documents.shards, first_lines, lines, strict=False)
    )
    role = Role(documents.files, tuple(shards), documents.report)
    with file_system.open_file(os.path.join(target, MANIFEST_FILE), "w") as file:
        file.write(manifest_text({"documents": role}))
    return role


def _split_shard(source: str, target: str, settings: PassageSettings, segmented: bool, shard: Shard) -> int:
    """Writes the passages of a shard's documents, and their ids; returns their number."""
    count = 0
    with (
        file_system.open_file(os.path.join(source, shard.name), "rb") as documents,
        file_system.open_file(os.path.join(target, shard.name), "wb") as texts,
        file_system.open_file(os.path.join(target, shard.ids_name), "wb") as ids,
    ):
        for document in read_texts(documents, shard):
            for passage in passages_of(document, settings, segmented):
                texts.write(f"{passage.tsv()}\n".encode())
                ids.write(f"{passage.id}\n".encode())
                count += 1
    return count
