"""Small pre-trained encoders, vectors of texts in a folder, and lists with them."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.encoders.pretrained_encoder import GraphEncoder, PretrainedEncoder, Role, Vectors
from models.encoders.settings import EncoderSettings, EndpointSettings, SavedModelSettings, VectorsSettings
from models.encoders.text_vectors import ROLES, EncoderRecord, TextVectors, stored_form, text_keys, write_text_vectors
from models.lists.mapped_rows import MappedVectors
from models.lists.ranking_lists import RankingLists

DIM: Final = 3
ENDPOINT: Final = EndpointSettings(address="http://localhost:1", query_model="m")
FILES: Final = VectorsSettings(query_vectors="q.npy", document_vectors="d.npy")
IN_GRAPH: Final = SavedModelSettings(path="m", query_prefix="query: ", max_characters=20, batch=2)

ALIKE: Final = {
    "soft hyphens": (
        "Le vol\u00adcan re\u00adjette de la lave en fu\u00adsion",
        "Le volcan rejette de la lave en fusion",
    ),
    "a byte order mark": ("\ufeffLe volcan", "Le volcan"),
    "a zero-width space": ("Le vol\u200bcan", "Le volcan"),
    "a word joiner": ("Le vol\u2060can", "Le volcan"),
    "marks of direction": ("\u200fالبركان\u202c \u2067جبل\u2069", "البركان جبل"),
    "joiners": ("می\u200cخواهم", "میخواهم"),
    "a combining grapheme joiner": ("vol\u034fcan", "volcan"),
    "a selector of a variant": ("\u2764\ufe0f lave", "\u2764 lave"),
    "a Mongolian separator": ("vol\u180ecan", "volcan"),
    "a filler of Hangul": ("화\u3164산", "화산"),
    "marks of annotations": ("\ufff9vol\ufffbcan", "volcan"),
    "a tag": ("volcan\U000e0067", "volcan"),
    "controls": ("\x00Le \x07vol\x1fcan\x7f\x9f", "Le volcan"),
    "noncharacters": ("vol\uffffcan \ufdd0\U0001fffe", "volcan "),
    "tatweel": ("البركـــان", "البركان"),
    "its counterpart in N'Ko": ("ߒߺߞ", "ߒߞ"),
    "harakat": ("الْبُرْكَانُ جَبَلٌ", "البركان جبل"),
    "capitals": ("LE VOLCAN REJETTE DE LA LAVE, ÉTÉ 1902!", "le volcan rejette de la lave, été 1902!"),
    "capitals with soft hyphens": ("LE VOL\u00adCAN RE\u00adJETTE", "le volcan rejette"),
    "Cyrillic capitals": ("ВУЛКАН ИЗВЕРГАЕТ ЛАВУ", "вулкан извергает лаву"),
}
"""A text and another that an encoder must see in its place."""


def vector_of(text: str, role: Role, dim: int = DIM) -> npt.NDArray[np.float32]:
    """A vector that a text has in one role alone."""
    seed = int.from_bytes(hashlib.sha256(f"{role} {text}".encode()).digest()[:8], "big")
    return np.random.default_rng(seed).normal(size=dim).astype(np.float32)


class CountingEncoder(PretrainedEncoder):
    """Gives the vectors of `vector_of`, and counts the texts of each role.

    Attributes:
      seen: how often each text was encoded, by (role, text).
      calls: number of the texts of each call.
      fails_at: the number of the call, from 1, that raises an error; None for none.
    """

    def __init__(self) -> None:
        self.seen: Counter[tuple[Role, str]] = Counter()
        self.calls: list[int] = []
        self.fails_at: int | None = None

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        self.calls.append(len(texts))
        if len(self.calls) == self.fails_at:
            raise KeyboardInterrupt
        self.seen.update((role, text) for text in texts)
        return np.stack([vector_of(text, role) for text in texts])


class HashedWords(GraphEncoder):
    """The sum of a first row and of the rows of a text's words, by their hashes, as operations of a graph.

    Attributes:
      traces: how often its operations were made.
    """

    def __init__(self, settings: EncoderSettings = IN_GRAPH) -> None:
        super().__init__(settings)
        self.traces = 0
        self.table = tf.Variable(np.random.default_rng(1).normal(size=(51, DIM)).astype(np.float32))

    def encode_tensor(self, texts: tf.Tensor) -> tf.Tensor:
        self.traces += 1
        words = tf.ragged.map_flat_values(tf.strings.to_hash_bucket_fast, tf.strings.split(texts), 50)
        return self.table[50] + tf.reduce_sum(tf.ragged.map_flat_values(tf.gather, self.table, words), axis=1)


def record_of(settings: EncoderSettings, dim: int = DIM, **fields: Any) -> EncoderRecord:
    """The record of an encoder."""
    return EncoderRecord(**{"settings": settings.model_dump(mode="json"), "digest": "a", "dim": dim, **fields})


def write_vectors(
    folder: str | Path,
    texts: Mapping[Role, Sequence[str]],
    encoder: PretrainedEncoder | None = None,
    settings: EncoderSettings = ENDPOINT,
    **fields: Any,
) -> TextVectors:
    """Writes the vectors of texts, all different, and takes them."""
    encoder = encoder or CountingEncoder()
    tables = {
        role: (text_keys(texts[role]), stored_form(encoder.encode(texts[role], role)))
        if texts[role]
        else (text_keys([]), np.zeros([0, DIM], np.float16))
        for role in ROLES
    }
    Path(folder).mkdir(parents=True, exist_ok=True)
    write_text_vectors(str(folder), record_of(settings, **fields), tables)
    return TextVectors(str(folder))


def with_vectors(lists: RankingLists, queries: npt.ArrayLike, documents: npt.ArrayLike) -> RankingLists:
    """Lists with the vectors of their queries and documents, float [rows, dim]; one of zeros stands for an empty
    text."""

    def column(vectors: npt.ArrayLike) -> MappedVectors:
        rows = np.asarray(vectors, np.float32)
        is_there = np.any(rows != 0, axis=1)
        held = np.concatenate([rows[is_there], np.ones_like(rows[:1])])  # a file has one vector at least
        return MappedVectors(stored_form(held), np.where(is_there, np.cumsum(is_there) - 1, -1))

    return replace(
        lists,
        query_columns={**lists.query_columns, "query_vector": column(queries)},
        document_columns={**lists.document_columns, "doc_vector": column(documents)},
    )
