"""Vectors in files, keyed by texts: each distinct text of a collection is encoded once."""

import hashlib
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.encoders.pretrained_encoder import PretrainedEncoder, Role, Vectors
from models.encoders.settings import EncoderSettings, TextForm
from models.lists.mapped_rows import MappedVectors
from models.lists.ranking_lists import RankingLists
from schemas import features as f
from schemas.errors import DataError
from schemas.json_record import JsonRecord

ROLES: Final[tuple[Role, ...]] = ("query", "document")
RECORD_FILE: Final = "encoder.json"
_KEY_BYTES: Final = 16

Keys = npt.NDArray[np.bytes_]
"""Digests of texts, S16 [texts]."""


class EncoderRecord(JsonRecord):
    """The record of the encoder that made vectors, in `encoder.json` and in an exported model."""

    settings: dict[str, Any]
    """The settings of the encoder, see `EncoderSettings`."""
    digest: str = ""
    """Digest of all that affects the vectors, see `pipeline.encoder_identity`."""
    dim: int = 0
    """Length of a vector."""
    probes: tuple[float, ...] = ()
    """Fingerprint of an endpoint, see `models.encoders.endpoint`; empty for other kinds."""
    text_form: TextForm = TextForm()
    """The form of the encoded texts. Records of earlier versions of the project, which sent raw texts, lack it."""
    cut_texts: dict[Role, int] = {}
    """The number of each role's distinct texts that `max_characters` cuts; empty for files of vectors."""

    def without_folders(self) -> "EncoderRecord":
        """The record for publication, with files' names instead of paths."""
        paths = {
            name: os.path.basename(path.rstrip("/"))
            for name in ("path", "query_vectors", "document_vectors")
            if (path := self.settings.get(name))
        }
        return self.model_copy(update={"settings": {**self.settings, **paths}})

    @property
    def encoder(self) -> EncoderSettings:
        """The settings of the encoder."""
        return EncoderSettings.from_record(self.settings)


def text_keys(texts: Iterable[str | bytes]) -> Keys:
    """Returns the digests of texts: S16 [texts]."""
    encoded = (text.encode() if isinstance(text, str) else text for text in texts)
    digests = [hashlib.blake2b(text, digest_size=_KEY_BYTES).digest() for text in encoded]
    return np.array(digests, f"S{_KEY_BYTES}")


def stored_form(vectors: Vectors) -> npt.NDArray[np.float16]:
    """Scales vectors to length 1 in float16, which changes a cosine of 512 components by about 1e-5.

    Example:
      >>> stored_form(np.array([[3.0, 4.0]], np.float32)).tolist()
      [[0.60009765625, 0.7998046875]]
    """
    unit: npt.NDArray[Any] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit.astype(np.float16)


class _Table(NamedTuple):
    """The vectors of one role's texts."""

    keys: Keys
    """Sorted."""
    vectors: npt.NDArray[np.float16]
    """float16 [texts, dim], mapped into memory."""


class TextVectors(PretrainedEncoder):
    """The vectors of all texts of a collection and its lists, mapped into memory.

    Args:
      folder: the folder of `write_text_vectors`, local or remote.

    Raises:
      DataError: the folder holds no vectors.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        try:
            with tf.io.gfile.GFile(f"{folder}/{RECORD_FILE}") as file:
                self.record = EncoderRecord.from_json(file.read())
            self._tables = {role: _Table(*map(self._load, _files(role))) for role in ROLES}
        except (tf.errors.OpError, OSError, ValueError, EOFError) as error:
            raise DataError(f"{folder} must hold the vectors of texts: {str(error).splitlines()[0]}.") from None

    def encode(self, texts: Sequence[str | bytes], role: Role) -> Vectors:
        """Looks texts up: float32 [texts, dim]; an empty text has the zero vector.

        Raises:
          DataError: a text was not encoded.
        """
        rows = self.rows(texts, role)
        vectors: Vectors = self._tables[role].vectors[np.maximum(rows, 0)].astype(np.float32)
        vectors[rows < 0] = 0.0
        return vectors

    def rows(self, texts: Sequence[str | bytes], role: Role) -> npt.NDArray[np.int64]:
        """The rows of texts among the role's vectors: int64 [texts]; -1 for an empty text.

        Raises:
          DataError: a text was not encoded.
        """
        keys, known = text_keys(texts), self._tables[role].keys
        rows = np.minimum(np.searchsorted(known, keys), max(len(known) - 1, 0))
        is_empty = np.array([len(text) == 0 for text in texts], bool)
        is_known = known[rows] == keys if len(known) else np.zeros(len(keys), bool)
        if missing := np.flatnonzero(~is_known & ~is_empty).tolist():
            text = texts[missing[0]]
            shown = text if isinstance(text, str) else text.decode()
            raise DataError(
                f"the vectors in {self._folder} must hold each {role}; {len(missing):,} of {len(keys):,} are missing, "
                f"such as {shown[:60]!r}."
            )
        return np.where(is_empty, -1, rows)

    def mapped(self, texts: Sequence[bytes], role: Role) -> MappedVectors:
        """The vectors of texts as a column of lists."""
        return MappedVectors(self._tables[role].vectors, self.rows(texts, role))

    def _load(self, name: str) -> Any:
        path = f"{self._folder}/{name}"
        if "://" not in path:
            return np.load(path, mmap_mode="r", allow_pickle=False)
        with tempfile.TemporaryDirectory() as folder:  # a map outlives its file's name
            local = os.path.join(folder, name)
            tf.io.gfile.copy(path, local)
            return np.load(local, mmap_mode="r", allow_pickle=False)


def with_text_vectors(lists: RankingLists, texts: RankingLists, vectors: TextVectors) -> RankingLists:
    """Adds the columns of the encoder's vectors to lists.

    Args:
      lists: lists, such as of tokens.
      texts: lists with the same queries and documents, as texts.
      vectors: the vectors of all of these texts.
    """

    def column(columns: Mapping[str, Any], role: Role, name_of_id: str, text: str) -> MappedVectors:
        ids = columns[name_of_id].numpy().tolist()
        source = texts.query_columns if role == "query" else texts.document_columns
        text_of = dict(zip(source[name_of_id].numpy().tolist(), source[text].numpy().tolist(), strict=True))
        return vectors.mapped([text_of[text_id] for text_id in ids], role)

    query_vectors = column(lists.query_columns, "query", f.QUERY_ID, f.QUERY_TEXT)
    document_vectors = column(lists.document_columns, "document", f.DOC_ID, f.DOC_TEXT)
    return replace(
        lists,
        query_columns={**lists.query_columns, f.QUERY_VECTOR: query_vectors},
        document_columns={**lists.document_columns, f.DOC_VECTOR: document_vectors},
    )


def write_text_vectors(
    folder: str, record: EncoderRecord, tables: Mapping[Role, tuple[Keys, npt.NDArray[np.float16]]]
) -> None:
    """Writes the vectors of both roles.

    Args:
      folder: a folder, local or remote.
      record: the encoder's record.
      tables: the distinct keys of each role's texts, and their vectors in the stored form.
    """
    for role, (keys, vectors) in tables.items():
        order = np.argsort(keys, kind="stable")
        for name, array in zip(_files(role), (keys[order], vectors[order]), strict=True):
            with tf.io.gfile.GFile(f"{folder}/{name}", "wb") as file:
                np.save(file, array, allow_pickle=False)
    with tf.io.gfile.GFile(f"{folder}/{RECORD_FILE}", "w") as file:
        file.write(record.to_json())


def _files(role: Role) -> tuple[str, str]:
    return f"{role}_keys.npy", f"{role}_vectors.npy"
