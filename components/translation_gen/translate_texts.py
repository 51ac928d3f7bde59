"""Translates sentences in pieces that survive a kill. Never imports TFX."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from components.piece_store import PieceStore, in_pieces, work_on_pieces
from models.encoders.text_vectors import Keys, text_keys
from models.lists.ranking_lists import TEXT_SPEC
from models.translators.load_translator import load_translator
from models.translators.settings import Side, TranslatorSettings
from models.translators.translator import Translator
from schemas import features as f
from schemas.byte_streams import Apply, OpenFile
from schemas.collection import MANIFEST_FILE, Shard, parse_manifest, read_texts
from schemas.domains import DomainFilter
from wikipedia.wikitext.sentences import split_sentences

_TEXTS_OF_A_PIECE: Final = 512
"""A kill loses the work on so many texts; a program starts once for them."""
_LISTS: Final = 512

log = logging.getLogger("clir.data")


class Piece(NamedTuple):
    """Texts that are translated together."""

    keys: Keys
    texts: tuple[str, ...] = ()
    """The texts; of sentences of documents none, because they are read where they are translated."""
    shard: Shard | None = None
    lines: tuple[int, int] = (0, 0)
    """The first and the last line of the shard that holds sentences of the piece, from 0."""


class Sentences:
    """The sentences of a collection's documents.

    Args:
      collection: its folder.
      language: of the documents, ISO 639-1.
      open_file: opens its files.
    """

    def __init__(self, collection: str, language: str, open_file: OpenFile) -> None:
        self._folder, self._language, self._open = collection, language, open_file

    def shards(self) -> tuple[Shard, ...]:
        """The shards of documents."""
        with self._open(f"{self._folder}/{MANIFEST_FILE}", "r") as manifest:
            return parse_manifest(manifest.read())["documents"].shards

    def read(self, shard: Shard, first: int = 0, last: int | None = None) -> Iterator[tuple[int, str]]:
        """Yields the sentences of a shard's lines from `first` to `last`, each with its line."""
        with self._open(f"{self._folder}/{shard.name}", "rb") as stream:
            for text in read_texts(stream, shard):
                line = text.line - shard.first_line
                if last is not None and line > last:
                    return
                if line >= first:
                    for sentence in split_sentences(text.text, self._language):
                        yield line, sentence

    def keys(self, shard: Shard) -> tuple[Keys, npt.NDArray[np.int64]]:
        """The key and the line of each sentence of a shard: S16, int64 [sentences]."""
        lines: list[int] = []

        def sentences() -> Iterator[str]:
            for line, sentence in self.read(shard):
                lines.append(line)
                yield sentence

        keys = text_keys(sentences())
        return keys, np.array(lines, np.int64)


def read_queries(paths: Iterable[str], domains: DomainFilter) -> list[str]:
    """Returns the distinct texts of the queries of lists in some domains, in the order of their ids.

    Args:
      paths: gzipped TFRecords of Examples.
      domains: the domains of the queries.
    """
    spec = {name: TEXT_SPEC[name] for name in (f.QUERY_ID, f.QUERY_DOMAIN, f.QUERY_TEXT)}
    queries: dict[bytes, str] = {}
    for batch in tf.data.TFRecordDataset(sorted(paths), "GZIP").batch(_LISTS):
        columns = tf.io.parse_example(batch, spec)
        rows = zip(*(columns[name].numpy().tolist() for name in spec), strict=True)
        queries |= {query_id: text.decode() for query_id, domain, text in rows if domains.keeps(domain)}
    return list(dict.fromkeys(text for _, text in sorted(queries.items())))


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
      settings: the translator, with probes.
      languages: of queries and of documents.
      sentences: of the collection.
      store: the translator's.
      apply: applies a function to shards and pieces, perhaps on workers.

    Raises:
      DataError: the translator fails, or is another one than it was.
    """
    held, pieces = store.keys("document"), []
    shards = sentences.shards()
    for shard, (keys, lines) in zip(shards, apply(sentences.keys, shards), strict=True):
        distinct, first = np.unique(keys, return_index=True)
        rows = np.sort(first[~np.isin(distinct, held)])
        for part in in_pieces(rows, _TEXTS_OF_A_PIECE):
            pieces.append(Piece(keys[part], shard=shard, lines=(int(lines[part[0]]), int(lines[part[-1]]))))
        held = np.union1d(held, distinct)
    translation_of = _translations(settings, "document", languages, sentences, store, apply, pieces)
    done: set[bytes] = set()
    for shard in shards:
        for _, sentence in sentences.read(shard):
            (key,) = text_keys([sentence]).tolist()
            if key not in done and (translation := translation_of[key]):
                yield translation, sentence
            done.add(key)


def translate_queries(
    settings: TranslatorSettings,
    languages: tuple[str, str],
    queries: list[str],
    store: PieceStore,
    apply: Apply = map,
) -> Iterator[tuple[str, str]]:
    """Translates the queries that the store does not hold, and yields (query, translation) of each that has one.

    Args:
      settings, languages, store, apply: see `translate_sentences`.
      queries: distinct.
    """
    keys = text_keys(queries)
    new = np.flatnonzero(~np.isin(keys, store.keys("query")))
    pieces = [Piece(keys[part], tuple(queries[row] for row in part)) for part in in_pieces(new, _TEXTS_OF_A_PIECE)]
    translation_of = _translations(settings, "query", languages, None, store, apply, pieces)
    for key, query in zip(keys.tolist(), queries, strict=True):
        if translation := translation_of[key]:
            yield query, translation


def _translations(
    settings: TranslatorSettings,
    side: Side,
    languages: tuple[str, str],
    sentences: Sentences | None,
    store: PieceStore,
    apply: Apply,
    pieces: list[Piece],
) -> Mapping[bytes, str]:
    """Translates pieces into the store; returns all translations of a side by the keys of their texts."""
    log.info("%s texts to translate (%s)", f"{sum(len(piece.keys) for piece in pieces):,}", side)
    work = partial(_translate_piece, settings, side, languages, sentences, store)
    work_on_pieces(work, pieces, apply, "texts")
    translation_of: dict[bytes, str] = {}
    for piece in store.read(side):
        texts = piece["translations"].tobytes().decode().split("\n")
        translation_of |= zip(piece["keys"].tolist(), texts, strict=True)
    return translation_of


@lru_cache(maxsize=1)
def _translator(settings: str, side: Side, languages: tuple[str, str]) -> Translator:
    """The translator of settings, as JSON; a worker makes it once."""
    return load_translator(TranslatorSettings.model_validate_json(settings), side, languages)


def _translate_piece(
    settings: TranslatorSettings,
    side: Side,
    languages: tuple[str, str],
    sentences: Sentences | None,
    store: PieceStore,
    piece: Piece,
) -> None:
    """Translates a piece and writes it to the store."""
    texts = piece.texts
    if piece.shard and sentences:
        read = [sentence for _, sentence in sentences.read(piece.shard, *piece.lines)]
        text_of = dict(zip(text_keys(read).tolist(), read, strict=True))
        texts = tuple(text_of[key] for key in piece.keys.tolist())
    translations = _translator(settings.model_dump_json(), side, languages).translate(texts)
    store.write(side, piece.keys, translations=np.frombuffer("\n".join(translations).encode(), np.uint8))
