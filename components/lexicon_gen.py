"""The stage LexiconGen: learns translations of words."""

import os

from tfx.dsl.io import fileio
from tfx.types.standard_artifacts import Examples

from components.artifact_files import split_files
from components.stage import Apply, Input, Output, stage
from models.lexicon.lexicon import WITHOUT_DOMAIN, Kind
from models.lexicon.write_lexicon import FurtherPairs, PairSource, mr_pairs, write_lexicon
from models.lists.ranking_lists import IDS_SPEC, read_lists
from schemas.artifacts import Collection, Lexicon, Translations, WikiClirFiles
from schemas.collection import DocumentTexts
from schemas.domains import DomainFilter, domains_to_train
from schemas.languages import are_several
from schemas.lexicon_pairs import TRANSLATIONS_FILE
from schemas.wikiclir import PAIRS_FILE
from schemas.word_rules import WordRules


@stage
def LexiconGen(
    examples: Input[Examples],
    collection: Input[Collection],
    lexicon: Output[Lexicon],
    apply: Apply,
    kind: Kind,
    languages: tuple[str, str],
    rules: WordRules,
    top_grade: int,
    max_bad_share: float,
    pairs: list[str],
    pairs_digest: str | None = None,
    pairs_weight: float = 1.0,
    title_pairs_weight: float = 1.0,
    held_out: tuple[str, ...] = (),
    leaves_out: bool = False,
    wikiclir_files: Input[WikiClirFiles] | None = None,
    translations: Input[Translations] | None = None,
    translations_weight: float = 1.0,
) -> None:
    """Learns which words of the two languages translate each other, and counts the words of the collection.

    Args:
      examples: listwise Examples with a train split, as texts.
      collection: the documents whose statistics the channel uses.
      lexicon: see `models.lexicon.lexicon`.
      apply: shares the reading of the collection among workers.
      kind: see `LexiconSettings`.
      languages: the query and the document language.
      rules: what words are, and how many of a text count.
      top_grade: the MR grade.
      max_bad_share: the largest share of broken lines among further pairs.
      pairs: files with further pairs of texts.
      pairs_digest: the digest of these files; other content is refused.
      pairs_weight: how often each of their pairs counts beside a train pair.
      title_pairs_weight: how often each pair of titles counts.
      held_out: the domains whose train pairs are left out.
      leaves_out: whether to learn, for each domain that is not held out, another lexicon without this domain, in the
        folder `without`.
      wikiclir_files: files made from dumps, with further pairs of texts: titles.
      translations: further pairs of texts: sentences and their translations.
      translations_weight: how often each of these pairs counts.

    Raises:
      DataError: see `write_lexicon`.
    """
    train = split_files(examples, "train")
    sources = [PairSource("pairs", pairs, pairs_weight, pairs_digest)] if pairs else []
    if wikiclir_files:
        sources.append(PairSource("title_pairs", [os.path.join(wikiclir_files.uri, PAIRS_FILE)], title_pairs_weight))
    if translations:
        path = os.path.join(translations.uri, TRANSLATIONS_FILE)
        sources.append(PairSource("translations", [path], translations_weight))
    texts = DocumentTexts(collection.uri, apply)

    def write(folder: str, domains: DomainFilter) -> None:
        write_lexicon(
            kind,
            languages,
            rules,
            mr_pairs(train, top_grade, domains, languages) if kind == "lexicon" else [],
            FurtherPairs(sources, max_bad_share, any(map(are_several, languages))) if sources else None,
            texts,
            folder,
        )

    known = domains_to_train(held_out)
    write(lexicon.uri, known)
    if leaves_out:
        for number, name in enumerate(sorted({*read_lists(train, IDS_SPEC, 0, known).domains})):
            folder = os.path.join(lexicon.uri, WITHOUT_DOMAIN, str(number))
            fileio.makedirs(folder)
            write(folder, domains_to_train((*held_out, name)))
