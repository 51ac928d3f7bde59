"""Makes pairs of a query and its document from documents alone: the query is a document's title or first sentence.

Such queries are in the documents' language; a machine translator brings them into the query language.
"""

import logging
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final, Literal, TypeAlias

from models.translators.settings import TranslatorSettings
from models.translators.translator import Translator, load_translator, translator_digest, with_probe
from pipeline.conversion.convert import CONVERSION, Conversion
from pipeline.conversion.inputs import ConversionSettings, FileAccount
from pipeline.conversion.pair_files import Pair, checked_pair
from pipeline.conversion.pairs import write_pairs
from pipeline.made_folder import MadeFolder
from schemas.columns import own_columns
from schemas.drops import Drop, DropReason
from schemas.errors import DataError
from schemas.record_files import parse_texts
from schemas.wikiclir import excerpt_of
from smooth_clir.wikipedia.wikitext.sentences import split_sentences

progress_log = logging.getLogger("clir.progress")

QuerySource: TypeAlias = Literal["titles", "sentences"]

_NOUNS: Final = {"titles": "title", "sentences": "first sentence"}
_NOTE: Final = (
    "the metrics of a run say how well a document is found by its own {noun}{translated}; nobody judged relevance, and "
    "people ask differently: judge documents for some of their queries before you rely on these figures"
)


class DocumentReason(DropReason):
    """The reasons why a document gives no pair."""

    NO_TITLE = ("document without a title", False)
    ONE_SENTENCE = ("document of a single sentence", False)
    NO_TRANSLATION = ("query without a translation", False)


def convert_documents(
    path: str,
    query_source: QuerySource,
    translator: TranslatorSettings | None,
    settings: ConversionSettings,
    output: Path,
) -> Conversion:
    """Converts documents: all files of the output are written, or none. The caller holds it (`pipeline.output_folder`).

    A pair has the id of its document. Documents without a pair are left out, and counted. Finished translations of a
    killed conversion are taken over.

    Args:
      path: the documents.
      query_source: `sentences` takes the first sentence out of a document's text.
      translator: translates the queries into the query language, and teaches the lexicon in a run; None where queries
        and documents have one language.
      settings: of the conversion.
      output: the folder.

    Raises:
      DataError: see `convert_pairs`; or the translator fails, is not allowed, or changes.
    """
    languages = settings.query_language, settings.document_language
    probed = translator and with_probe(translator, languages)
    pairs, translated = _document_pairs(path, query_source, settings), ""
    folder = MadeFolder(output, CONVERSION)
    with folder.staging() as staging:
        if probed:
            program = load_translator(probed, languages)
            pairs = _translated(pairs, program, folder.work(translator_digest(probed, languages)), path)
            translated = f" in the translation of {program.name}"
        note = _NOTE.format(noun=_NOUNS[query_source], translated=translated)
        account = FileAccount("documents", path)
        conversion = write_pairs(pairs, account, settings, staging, [note], translator)
        folder.publish(staging, conversion.as_dict())
    return conversion


def _document_pairs(path: str, query_source: QuerySource, settings: ConversionSettings) -> Iterator[Pair | Drop]:
    """Yields the pair of each document, with a query in the documents' language, or a drop."""
    try:
        stream = open(path, "rb")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}.") from None
    with stream:
        for document in parse_texts(stream, path, columns=own_columns("documents", settings.columns)):
            if isinstance(document, Drop):
                yield document
                continue
            reason = None
            if query_source == "titles":
                query, text = document.title, document.text
                reason = None if query.strip() else DocumentReason.NO_TITLE
            else:
                query, *sentences = split_sentences(document.text, settings.document_language)
                text = " ".join(sentences)
                reason = None if sentences else DocumentReason.ONE_SENTENCE
            if reason:
                yield Drop(reason, path, document.line, excerpt_of(document.tsv()))
            else:
                yield checked_pair(Pair(query, (text,), (), document.line, document.id), path)


def _translated(pairs: Iterator[Pair | Drop], translator: Translator, folder: Path, path: str) -> Iterator[Pair | Drop]:
    """Translates the queries of pairs; keeps translations in a folder."""
    # Imported late: TensorFlow takes seconds, and other conversions do not need it.
    from components.translation_gen.translate_sentences import TEXTS_OF_A_PIECE, read_translations, write_translations
    from models.encoders.text_vectors import text_keys
    from models.piece_store import PieceStore

    store = PieceStore(str(folder))
    translation_of = read_translations(store)
    while items := [*islice(pairs, TEXTS_OF_A_PIECE)]:
        queries = [item.query for item in items if isinstance(item, Pair)]
        keys = dict(zip(queries, text_keys(queries).tolist(), strict=True))
        if new := [query for query, key in keys.items() if key not in translation_of]:
            translations = translator.translate(new)
            write_translations(store, text_keys(new), translations)
            translation_of |= zip((keys[query] for query in new), translations, strict=True)
        progress_log.info("%s queries translated", f"{len(translation_of):,}")
        for item in items:
            if isinstance(item, Drop):
                yield item
            elif translation := translation_of[keys[item.query]]:
                yield item._replace(query=translation)
            else:
                yield Drop(DocumentReason.NO_TRANSLATION, path, item.line, excerpt_of(item.query))
