"""Translates the sentences of documents in pieces that survive a kill. Never imports TFX."""

import logging
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from models.encoders.text_vectors import Keys, text_keys
from models.piece_store import PieceStore, in_pieces, work_on_pieces
from models.translators.settings import TranslatorSettings
from models.translators.translator import Translator, load_translator
from schemas import file_system
from schemas.apply import Apply
from schemas.collection import MANIFEST_FILE, Shard, parse_manifest, read_texts
from smooth_clir.wikipedia.wikitext.sentences import split_sentences

TEXTS_OF_A_PIECE: Final = 512
"""Number of texts that a kill may lose; a program starts once for each piece."""
_GROUP: Final = "sentences"
"""The name of the pieces in the store."""

log = logging.getLogger("clir.data")


class Piece(NamedTuple):
    """Sentences of a shard that are translated together; they are read where they are translated."""

    keys: Keys
    shard: Shard
    lines: tuple[int, int]
    """The first and the last line of the shard that holds sentences of the piece, from 0."""


class Sentences:
    """The sentences of a collection's documents.

    Args:
      collection: the collection's folder.
      language: the documents' language, ISO 639-1.
    """

    def __init__(self, collection: str, language: str) -> None:
        self._folder, self._language = collection, language

    def shards(self) -> tuple[Shard, ...]:
        with file_system.open_file(f"{self._folder}/{MANIFEST_FILE}", "r") as manifest:
            return parse_manifest(manifest.read())["documents"].shards

    def read(self, shard: Shard, first: int = 0, last: int | None = None) -> Iterator[tuple[int, str]]:
        """Yields the sentences of a shard's lines from `first` to `last`, each with its line."""
        with file_system.open_file(f"{self._folder}/{shard.name}", "rb") as stream:
            for text in read_texts(stream, shard):
                line = text.line - shard.first_line
                if last is not None and line > last:
                    return
                if line >= first:
                    for sentence in split_sentences(text.text, self._language):
                        yield line, sentence

    def keys(self, shard: Shard) -> tuple[Keys, npt.NDArray[np.int64]]:
        """Returns the key and the line of each sentence of a shard: S16, int64 [sentences]."""
        lines: list[int] = []

        def sentences() -> Iterator[str]:
            for line, sentence in self.read(shard):
                lines.append(line)
                yield sentence

        keys = text_keys(sentences())
        return keys, np.array(lines, np.int64)


def translate_sentences(
    settings: TranslatorSettings,
    languages: tuple[str, str],
    sentences: Sentences,
    store: PieceStore,
    apply: Apply = map,
) -> Iterator[tuple[str, str]]:
    """Translates the sentences that the store does not hold, and yields (translation, sentence) of each distinct one.

    Pieces follow the order of the collection: a killed run goes on with the same pieces, and its result is the same.
    Sentences without a translation are left out.

    Args:
      settings: the translator, with the probe.
      languages: the query and the document language.
      sentences: the collection's sentences.
      store: the translator's store.
      apply: shares shards and pieces among workers.

    Raises:
      DataError: the translator fails or has changed.
    """
    held, pieces = store.keys(_GROUP), []
    shards = sentences.shards()
    for shard, (keys, lines) in zip(shards, apply(sentences.keys, shards), strict=True):
        distinct, first = np.unique(keys, return_index=True)
        rows = np.sort(first[~np.isin(distinct, held)])
        for part in in_pieces(rows, TEXTS_OF_A_PIECE):
            pieces.append(Piece(keys[part], shard, (int(lines[part[0]]), int(lines[part[-1]]))))
        held = np.union1d(held, distinct)
    log.info("%s sentences to translate", f"{sum(len(piece.keys) for piece in pieces):,}")
    work_on_pieces(partial(_translate_piece, settings, languages, sentences, store), pieces, apply, "sentences")
    translation_of = read_translations(store)
    done: set[bytes] = set()
    for shard in shards:
        for _, sentence in sentences.read(shard):
            (key,) = text_keys([sentence]).tolist()
            if key not in done and (translation := translation_of[key]):
                yield translation, sentence
            done.add(key)


@lru_cache(maxsize=1)
def _translator(settings: str, languages: tuple[str, str]) -> Translator:
    """Returns the translator of settings, as JSON; a worker loads it once."""
    return load_translator(TranslatorSettings.model_validate_json(settings), languages)


def _translate_piece(
    settings: TranslatorSettings, languages: tuple[str, str], sentences: Sentences, store: PieceStore, piece: Piece
) -> None:
    """Translates a piece and writes it to the store."""
    read = [sentence for _, sentence in sentences.read(piece.shard, *piece.lines)]
    sentence_of = dict(zip(text_keys(read).tolist(), read, strict=True))
    translator = _translator(settings.model_dump_json(), languages)
    write_translations(store, piece.keys, translator.translate([sentence_of[key] for key in piece.keys.tolist()]))


def read_translations(store: PieceStore) -> dict[bytes, str]:
    """Returns the translation of each text in a store, by the text's key."""
    translation_of: dict[bytes, str] = {}
    for piece in store.read(_GROUP):
        translations = piece["translations"].tobytes().decode().split("\n")
        translation_of |= zip(piece["keys"].tolist(), translations, strict=True)
    return translation_of


def write_translations(store: PieceStore, keys: Keys, translations: Sequence[str]) -> None:
    """Writes the translations of texts, which are a piece, into a store."""
    store.write(_GROUP, keys, translations=np.frombuffer("\n".join(translations).encode(), np.uint8))
