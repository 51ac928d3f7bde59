"""The stage TranslationGen: translates the sentences of all documents into the query language."""

import os

from components.stage import Apply, Input, Output, stage
from components.translation_gen.translate_sentences import Sentences, translate_sentences
from models.piece_store import PieceStore
from models.translators.settings import TranslatorSettings
from models.translators.translator import translator_digest, with_probe
from schemas import file_system
from schemas.artifacts import Collection, Translations
from schemas.lexicon_pairs import TRANSLATIONS_FILE


@stage
def TranslationGen(
    collection: Input[Collection],
    translations: Output[Translations],
    apply: Apply,
    translator: TranslatorSettings,
    languages: tuple[str, str],
    store: str,
) -> None:
    """Translates every distinct sentence of the documents once, for the lexicon. Reads no query and no judgment.

    Translations of an earlier execution, even of a killed one, are taken from the store: after a change of the
    collection only new sentences are translated.

    Args:
      collection: the documents.
      translations: pairs of texts for the lexicon, `schemas.lexicon_pairs.TRANSLATIONS_FILE`.
      apply: shares the sentences among workers.
      translator: the translator; has no probe if it was not asked yet.
      languages: the query and the document language.
      store: folder of all translations, local or remote, with a folder for each translator.

    Raises:
      DataError: the translator fails, is not allowed, or changes.
    """
    if translator.probe is None:
        translator = with_probe(translator, languages)  # in a cluster the translator was not asked yet
    sentences = Sentences(collection.uri, languages[1])
    own = PieceStore(os.path.join(store, translator_digest(translator, languages)))
    with file_system.open_file(os.path.join(translations.uri, TRANSLATIONS_FILE), "w") as file:
        for pair in translate_sentences(translator, languages, sentences, own, apply):
            file.write("\t".join(pair) + "\n")
