"""The stage PassageGen: splits the documents of a collection into passages."""

from components.passage_gen.write_passages import write_passages
from components.stage import Apply, Input, Output, stage
from schemas.artifacts import Collection
from schemas.passages import PassageSettings


@stage
def PassageGen(
    collection: Input[Collection],
    passages: Output[Collection],
    apply: Apply,
    settings: PassageSettings,
    segmented: bool,
) -> None:
    """Splits every document of a collection into passages, which later stages read in place of the documents.

    Args:
      collection: the documents.
      passages: see `write_passages`.
      apply: shares the shards among workers.
      settings: the lengths of the passages.
      segmented: whether white space alone parts words.
    """
    write_passages(collection.uri, passages.uri, settings, segmented, apply)
