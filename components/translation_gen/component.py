"""The stage TranslationGen: the collection's sentences, and perhaps the train queries, with their translations."""

import os

from tfx.dsl.io import fileio
from tfx.types.standard_artifacts import Examples

from components.artifact_files import split_files
from components.piece_store import PieceStore
from components.stage import Apply, Input, Output, stage
from components.translation_gen.translate_texts import Sentences, read_queries, translate_queries, translate_sentences
from models.translators.load_translator import translator_digest, with_probes
from models.translators.settings import Side, TranslatorSettings
from schemas.artifacts import Collection, Translations
from schemas.domains import domains_to_train
from schemas.lexicon_pairs import TRANSLATIONS_FILE


@stage
def TranslationGen(
    collection: Input[Collection],
    translations: Output[Translations],
    apply: Apply,
    translator: TranslatorSettings,
    languages: tuple[str, str],
    store: str,
    held_out: tuple[str, ...] = (),
    examples: Input[Examples] | None = None,
) -> None:
    """Translates every distinct sentence of the documents into the query language, or train queries into theirs.

    No judgment and no test query is read. What an earlier or a killed execution has translated is in the store and is
    taken from there, so that after a change of the collection only new sentences are translated.

    Args:
      collection: the documents.
      translations: pairs of texts for the lexicon, `schemas.lexicon_pairs.TRANSLATIONS_FILE`.
      apply: shares the texts among workers.
      translator: the translator; without probes where nobody has asked it yet.
      languages: of queries and of documents.
      store: folder of all translators' translations, local or remote.
      held_out: the domains whose queries are left out.
      examples: listwise Examples with the train queries, as texts; None where no query is translated.

    Raises:
      DataError: the translator fails, is not allowed, or changes.
    """
    if not translator.probes:
        translator = with_probes(translator, languages)  # in a cluster nobody has asked it

    def store_of(side: Side) -> PieceStore:
        return PieceStore(os.path.join(store, translator_digest(translator, side, languages)))

    with fileio.open(os.path.join(translations.uri, TRANSLATIONS_FILE), "w") as file:
        if "document" in translator.sides:
            sentences = Sentences(collection.uri, languages[1], fileio.open)
            for pair in translate_sentences(translator, languages, sentences, store_of("document"), apply):
                file.write("\t".join(pair) + "\n")
        if "query" in translator.sides:
            queries = read_queries(split_files(examples, "train") if examples else [], domains_to_train(held_out))
            for pair in translate_queries(translator, languages, queries, store_of("query"), apply):
                file.write("\t".join(pair) + "\n")
