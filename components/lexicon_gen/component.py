"""The stage LexiconGen: translations of words."""

import os

from tfx.dsl.io import fileio
from tfx.types.standard_artifacts import Examples

from components.artifact_files import split_files
from components.lexicon_gen.write_lexicon import FurtherPairs, mr_pairs, write_lexicon
from components.stage import Apply, Input, Output, stage
from models.lexicon.lexicon import Kind
from schemas.artifacts import Collection, Lexicon, WikiClirFiles
from schemas.collection import DocumentTexts
from schemas.domains import domains_to_train
from schemas.wikiclir import PAIRS_FILE


@stage
def LexiconGen(
    examples: Input[Examples],
    collection: Input[Collection],
    lexicon: Output[Lexicon],
    apply: Apply,
    kind: Kind,
    languages: tuple[str, str],
    max_tokens: int,
    top_grade: int,
    max_bad_share: float,
    pairs: list[str],
    pairs_digest: str | None = None,
    held_out: tuple[str, ...] = (),
    wikiclir_files: Input[WikiClirFiles] | None = None,
) -> None:
    """Learns which words of the two languages translate each other, and counts the words of the collection.

    Args:
      examples: listwise Examples with a train split, as texts.
      collection: the documents whose statistics the channel uses.
      lexicon: see `models.lexicon.lexicon`.
      apply: shares the reading of the collection among workers.
      kind: see `LexiconSettings`.
      languages: of the queries, and of the documents.
      max_tokens: the model's limit on a text.
      top_grade: the MR grade.
      max_bad_share: the largest share of broken lines among further pairs.
      pairs: files with further pairs of texts.
      pairs_digest: the digest of these files; other content is refused.
      held_out: the domains whose train pairs are left out.
      wikiclir_files: files made from dumps, whose pairs of titles are learned from, too.

    Raises:
      DataError: see `write_lexicon`.
    """
    is_learned = kind == "lexicon"
    train = split_files(examples, "train")
    train_pairs = mr_pairs(train, top_grade, domains_to_train(held_out)) if is_learned else []
    titles = [os.path.join(wikiclir_files.uri, PAIRS_FILE)] if wikiclir_files else []
    further = FurtherPairs(pairs, pairs_digest, max_bad_share, fileio.open, titles)
    texts = DocumentTexts(collection.uri, fileio.open, apply)
    write_lexicon(
        kind,
        languages,
        max_tokens,
        train_pairs,
        further if pairs or titles else None,
        texts,
        lexicon.uri,
        fileio.open,
    )
