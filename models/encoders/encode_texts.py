"""Encodes texts in pieces that survive a kill. Never imports TFX."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.encoders.load_encoder import load_encoder
from models.encoders.pretrained_encoder import PretrainedEncoder, Role, is_cut
from models.encoders.settings import EncoderSettings, VectorsSettings
from models.encoders.text_vectors import Keys, stored_form, text_keys
from models.encoders.vector_files import read_vectors
from models.lists.ranking_lists import TEXT_SPEC
from models.piece_store import PieceStore, in_pieces, work_on_pieces
from schemas import features as f
from schemas import file_system
from schemas.apply import Apply
from schemas.collection import MANIFEST_FILE, Shard, parse_manifest, raw_documents, read_texts
from schemas.errors import DataError

Tables = dict[Role, tuple[Keys, npt.NDArray[np.float16]]]
"""The distinct keys of each role's texts, and their vectors."""


class EncodedTexts(NamedTuple):
    """The vectors of all texts."""

    tables: Tables
    cut_texts: dict[Role, int]
    """The number of each role's distinct texts that `channels.encoder.max_characters` cuts."""


_TEXTS_OF_A_PIECE: Final = 256
"""Number of texts that a kill loses at most: about a minute of a transformer on one core."""
_LISTS: Final = 512
_NO_KEYS: Final = text_keys([])

log = logging.getLogger("clir.data")


class Piece(NamedTuple):
    """Texts that are encoded together."""

    role: Role
    keys: Keys
    texts: tuple[str, ...] = ()
    """The texts of queries; those of documents are read when they are encoded."""
    shard: Shard | None = None
    rows: tuple[int, ...] = ()
    """The lines of the documents in the shard, from 0, ascending."""


def read_queries(paths: Iterable[str]) -> dict[str, str]:
    """Reads the text of each query by its id from gzipped TFRecords of Examples."""
    spec = {name: TEXT_SPEC[name] for name in (f.QUERY_ID, f.QUERY_TEXT)}
    queries: dict[str, str] = {}
    for batch in tf.data.TFRecordDataset(sorted(paths), "GZIP").batch(_LISTS):
        columns = tf.io.parse_example(batch, spec)
        ids, texts = (columns[name].numpy().tolist() for name in (f.QUERY_ID, f.QUERY_TEXT))
        queries |= {query_id.decode(): text.decode() for query_id, text in zip(ids, texts, strict=True)}
    return queries


def encode_texts(
    settings: EncoderSettings,
    queries: Mapping[str, str],
    collection: str,
    store: PieceStore,
    apply: Apply = map,
) -> EncodedTexts:
    """Encodes the texts that the store lacks, returns the vectors of all texts, and logs how many texts are cut.

    Pieces follow the order of the ids and of the collection, so that a killed run resumes with the same pieces and
    gives the same bytes.

    Args:
      settings: the encoder.
      queries: the text of each query by its id.
      collection: the folder of the documents.
      store: the encoder's store.
      apply: applies a function to the pieces, possibly in other processes.

    Raises:
      DataError: a text cannot be encoded.
    """
    known = {role: store.keys(role) for role in ("query", "document")}
    texts = list(dict.fromkeys(queries[query_id] for query_id in sorted(queries)))
    query_keys = text_keys(texts)
    new = np.flatnonzero(~np.isin(query_keys, known["query"]))
    pieces = [
        Piece("query", query_keys[rows], tuple(texts[row] for row in rows.tolist()))
        for rows in in_pieces(new, _TEXTS_OF_A_PIECE)
    ]
    with file_system.open_file(f"{collection}/{MANIFEST_FILE}", "r") as manifest:
        shards = parse_manifest(manifest.read())["documents"].shards
    document_keys, cut_keys = [], [_NO_KEYS]
    held = known["document"]
    keys_of_shard = partial(_keys_of_shard, settings, collection)
    for shard, (keys, is_cut_line) in zip(shards, apply(keys_of_shard, shards), strict=True):
        there = np.flatnonzero(keys != b"")
        cut_keys.append(keys[is_cut_line])
        distinct, first = np.unique(keys[there], return_index=True)
        is_new = ~np.isin(distinct, held)
        rows = np.sort(there[first[is_new]])
        pieces += [
            Piece("document", keys[part], shard=shard, rows=tuple(part.tolist()))
            for part in in_pieces(rows, _TEXTS_OF_A_PIECE)
        ]
        held = np.union1d(held, distinct)
        document_keys.append(distinct)
    all_keys: dict[Role, Keys] = {
        "query": np.unique(query_keys),
        "document": np.unique(np.concatenate([_NO_KEYS, *document_keys])),
    }
    cut_texts: dict[Role, int] = {
        "query": int(is_cut(tf.constant(texts, tf.string), settings).numpy().sum()),
        "document": len(np.unique(np.concatenate(cut_keys))),
    }
    wanted = sum(len(piece.keys) for piece in pieces)
    log.info("%s distinct texts, %s of them to encode", f"{sum(map(len, all_keys.values())):,}", f"{wanted:,}")
    for role, count in cut_texts.items():
        if count:
            share, limit = count / len(all_keys[role]), f"{settings.max_characters:,}"
            sentence = (
                "%s distinct texts, %.1f%% of the role %s, are longer than channels.encoder.max_characters (%s): "
            )
            sentence += "the encoder does not see their ends"
            log.log(logging.WARNING if share > 0.1 else logging.INFO, sentence, f"{count:,}", 100 * share, role, limit)
    work_on_pieces(partial(_encode_piece, settings, collection, store), pieces, apply, "texts")
    tables = {role: _collected(store, role, keys) for role, keys in all_keys.items()}
    return EncodedTexts(tables, cut_texts)


def tables_of_files(settings: VectorsSettings, queries: Mapping[str, str], collection: str) -> Tables:
    """Reads the vectors of files, and keys them by the texts of their ids.

    Raises:
      DataError: a file lacks the id of a query or a document.
    """
    documents = ((doc_id.decode(), text.decode()) for doc_id, text in raw_documents(collection))
    return {
        "query": _table_of_file("query", settings.query_vectors, queries.items()),
        "document": _table_of_file("document", settings.document_vectors, documents),
    }


def length_of_vectors(settings: EncoderSettings, tables: Tables) -> int:
    """Returns the length of a vector.

    Raises:
      DataError: the vectors of queries and documents differ in length, or there are no vectors.
    """
    lengths: dict[str, int] = {role: vectors.shape[1] for role, (keys, vectors) in tables.items() if len(keys)}
    if len({*lengths.values()}) != 1:
        got = " and ".join(f"{length} of each {role}" for role, length in lengths.items()) or "no vector"
        raise DataError(
            f"the vectors of queries and documents must have the same length, because their cosine is the score; got "
            f"{got} (encoder {settings.shown_name})."
        )
    return max(lengths.values())


def _table_of_file(
    role: Role, path: str | None, texts: Iterable[tuple[str, str]]
) -> tuple[Keys, npt.NDArray[np.float16]]:
    if path is None:
        raise ValueError(f"the kind vectors needs {role}_vectors")
    file = read_vectors(path)
    row_of = {text_id: row for row, text_id in enumerate(file.ids)}
    keys, rows, missing = [], [], []
    for text_id, text in texts:
        row = row_of.get(text_id)
        if row is None:
            missing.append(text_id)
        else:
            keys.append(text)
            rows.append(row)
    if missing:
        raise DataError(
            f"channels.encoder.{role}_vectors: {path} must hold a vector for the id of each {role}; {len(missing):,} "
            f"are missing, such as {missing[0]!r}."
        )
    distinct, first = np.unique(text_keys(keys), return_index=True)
    file_rows = np.array(rows, np.int64)[first]
    order = np.argsort(file_rows)  # reads the file from front to back
    return distinct[order], np.concatenate(
        [np.zeros([0, file.vectors.shape[1]], np.float16)]
        + [stored_form(np.asarray(file.vectors[part], np.float32)) for part in in_pieces(file_rows[order], 1 << 14)]
    )


@lru_cache(maxsize=1)
def _encoder(settings: str) -> PretrainedEncoder:
    """The encoder of settings, as JSON; a worker loads it once."""
    return load_encoder(EncoderSettings.model_validate_json(settings))


def _encode_piece(settings: EncoderSettings, collection: str, store: PieceStore, piece: Piece) -> None:
    """Encodes a piece and writes it to the store.

    Raises an error if the encoder is an endpoint whose model changed during the piece.
    """
    texts = list(piece.texts or _texts_of_rows(collection, piece))
    # Texts of similar length share a batch, because many encoders pad batches.
    order = np.array(sorted(range(len(texts)), key=lambda index: len(texts[index])))
    vectors = _encoder(settings.model_dump_json()).encode([texts[index] for index in order], piece.role)
    in_order = np.empty(vectors.shape, np.float16)
    in_order[order] = stored_form(vectors)
    store.write(piece.role, piece.keys, vectors=in_order)


def _texts_of_rows(collection: str, piece: Piece) -> Iterator[str]:
    """The documents of a piece."""
    if piece.shard is None:
        raise ValueError("a piece of documents needs a shard")
    first, wanted = piece.shard.first_line, set(piece.rows)
    with file_system.open_file(f"{collection}/{piece.shard.name}", "rb") as stream:
        for text in read_texts(stream, piece.shard):
            if text.line - first in wanted:
                yield text.text
            if text.line - first >= piece.rows[-1]:
                return


def _keys_of_shard(settings: EncoderSettings, collection: str, shard: Shard) -> tuple[Keys, npt.NDArray[np.bool_]]:
    """The key of each line of a shard (b"" for an empty line), and whether its text is cut: S16, bool [lines]."""
    keys: Keys = np.zeros(shard.lines, _NO_KEYS.dtype)
    is_cut_line = np.zeros(shard.lines, bool)
    with file_system.open_file(f"{collection}/{shard.name}", "rb") as stream:
        texts = list(read_texts(stream, shard))
    rows = [text.line - shard.first_line for text in texts]
    keys[rows] = text_keys(text.text for text in texts)
    is_cut_line[rows] = is_cut(tf.constant([text.text for text in texts], tf.string), settings)
    return keys, is_cut_line


def _collected(store: PieceStore, role: Role, keys: Keys) -> tuple[Keys, npt.NDArray[np.float16]]:
    """Collects the vectors of sorted, distinct keys from the pieces of the store."""
    vectors: npt.NDArray[np.float16] | None = None
    is_held = np.zeros(len(keys), bool)
    for piece in store.read(role):
        piece_keys, piece_vectors = piece["keys"], piece["vectors"]
        if vectors is None:
            vectors = np.zeros([len(keys), piece_vectors.shape[1]], np.float16)
        if piece_vectors.shape[1] != vectors.shape[1]:
            raise DataError(
                f"the vectors in {store.folder} must have the same length; got {vectors.shape[1]} and "
                f"{piece_vectors.shape[1]}. Remove the folder to encode all texts again."
            )
        rows = np.minimum(np.searchsorted(keys, piece_keys), len(keys) - 1)
        is_wanted = keys[rows] == piece_keys if len(keys) else np.zeros(len(piece_keys), bool)
        vectors[rows[is_wanted]] = piece_vectors[is_wanted]
        is_held[rows[is_wanted]] = True
    if not is_held.all():
        raise DataError(f"{store.folder} must hold the vector of each {role}; {int((~is_held).sum()):,} are missing.")
    return keys, np.zeros([0, 1], np.float16) if vectors is None else vectors
