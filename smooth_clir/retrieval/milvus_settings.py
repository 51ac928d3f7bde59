"""The settings of an index in Milvus. Importing this file imports neither TensorFlow nor the client."""

import re
import urllib.parse
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from schemas.settings import Settings

TOKEN_VARIABLE: Final = "CLIR_MILVUS_TOKEN"
"""The environment variable that holds the token, `user:password` or a key, if there is one. See `models.keys`."""
FLAT_BELOW: Final = 100_000
"""Number of documents from which `vector_index: auto` is HNSW."""

_SCHEMES: Final = {"milvus": "http", "milvus+tls": "https"}
_PORT: Final = 19530
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}", re.ASCII)


class MilvusAddress(NamedTuple):
    """The address of an index in Milvus.

    Example:
      >>> address = MilvusAddress.parse("milvus+tls://search.example.org/pages")
      >>> address.uri, address.name, str(address)
      ('https://search.example.org:19530', 'pages', 'milvus+tls://search.example.org:19530/pages')
    """

    uri: str
    """The server, in the form that the client takes."""
    name: str
    """The alias of the newest version, and the beginning of the collections' names."""

    @property
    def server(self) -> str:
        """The server's host and port."""
        return self.uri.partition("://")[2]

    @classmethod
    def parse(cls, text: str) -> "MilvusAddress":
        """Reads `milvus://host:port/name`, or `milvus+tls://` for an encrypted connection; the port is 19530.

        Raises:
          ValueError: the text has another form.
        """
        if "@" in text:
            raise ValueError(f"must hold no user and no password: {TOKEN_VARIABLE} in the environment holds them")
        try:
            parts = urllib.parse.urlsplit(text)
            host, port = parts.hostname, _PORT if parts.port is None else parts.port
        except ValueError:
            host, port = None, 0
        if not host or not port or parts.scheme not in _SCHEMES or parts.query or parts.fragment:
            raise ValueError(f"must be milvus://host:port/name, or milvus+tls:// for TLS; got {text!r}")
        if not _NAME.fullmatch(name := parts.path.removeprefix("/")):
            raise ValueError(
                "must end in a name for a collection: at most 200 letters, digits and underscores, and no digit first; "
                f"got {name!r}"
            )
        if ":" in host:
            raise ValueError(f"must name its host, because the client pymilvus takes no IPv6 address; got {text!r}")
        return cls(f"{_SCHEMES[parts.scheme]}://{host}:{port}", name)

    @staticmethod
    def is_address(text: str) -> bool:
        """Returns whether a text is meant as an address, not as a folder's path."""
        return text.strip().lower().startswith(tuple(f"{scheme}:" for scheme in _SCHEMES))

    def __str__(self) -> str:
        (scheme,) = (scheme for scheme, client_scheme in _SCHEMES.items() if self.uri.startswith(f"{client_scheme}://"))
        return f"{scheme}://{self.server}/{self.name}"


def _checked(address: str | None) -> str | None:
    return None if address is None else str(MilvusAddress.parse(address))


class VectorIndex(Settings):
    """The index of the vectors in Milvus, and how a search reads it. Names and defaults are those of Milvus."""

    kind: Literal["auto", "flat", "ivf", "hnsw"] = "auto"
    """flat compares all vectors (FLAT), ivf reads some lists (IVF_FLAT), hnsw walks a graph (HNSW); auto
    is flat below 100,000 documents, otherwise hnsw."""
    nlist: Annotated[int, Field(ge=1, le=65536)] = 128
    """Number of lists of ivf; 4 times the square root of the number of documents is usual."""
    nprobe: Annotated[int, Field(ge=1, le=65536)] = 8
    """Number of lists that a search reads, at most nlist."""
    m: Annotated[int, Field(ge=2, le=2048)] = 30
    """Largest number of edges of a node of hnsw."""
    ef_construction: Annotated[int, Field(ge=1, le=100_000)] = 360
    """Number of nodes that are examined for the edges of a new node."""
    ef: Annotated[int, Field(ge=1, le=100_000)] = 1000
    """Number of nodes that a search keeps; raised to the number of candidates, 1,000 or more."""

    @field_validator("nprobe")
    @classmethod
    def _probes_are_lists(cls, nprobe: int, info: ValidationInfo) -> int:
        if nprobe > (nlist := info.data.get("nlist", nprobe)):
            raise ValueError(f"must be at most nlist, {nlist}; got {nprobe}")
        return nprobe

    def chosen_for(self, documents: int) -> str:
        """Returns the kind for a number of documents.

        Example:
          >>> VectorIndex().chosen_for(99_999), VectorIndex().chosen_for(100_000), VectorIndex(kind="ivf").chosen_for(9)
          ('flat', 'hnsw', 'ivf')
        """
        if self.kind != "auto":
            return self.kind
        return "flat" if documents < FLAT_BELOW else "hnsw"


class MilvusSettings(Settings):
    """An index in Milvus."""

    address: Annotated[str | None, AfterValidator(_checked)] = None
    """`milvus://host:port/name`, or `milvus+tls://` for TLS; the default port is 19530. The name becomes the alias of
    the newest version. If the server needs a token, the environment variable `CLIR_MILVUS_TOKEN` holds `user:password`
    or a key, and `CLIR_MILVUS_TOKEN_HOST` the host that it is for."""
    vector_index: VectorIndex = VectorIndex()
    """The index of the vectors; words are always searched in full."""
    shards: Annotated[int, Field(ge=1, le=1024)] = 1
    """Number of shards, which are written in parallel."""
    replicas: Annotated[int, Field(ge=1, le=1024)] = 1
    """Number of copies in memory, on as many query nodes."""
    consistency: Literal["Strong", "Bounded", "Session", "Eventually"] = "Bounded"
    """Consistency level of searches. A version is complete before it is searched, so all levels give the same hits."""
