"""The limits of the HTTP service."""

from pydantic import BaseModel, ConfigDict, Field


class ServiceSettings(BaseModel):
    """What the service grants: sizes, times, and how much at once.

    Example:
      >>> ServiceSettings(most_k=50).seconds
      10.0
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = "127.0.0.1"
    """The address that it listens at."""
    port: int = Field(default=8080, ge=0, le=65535)
    """0 for any that is free."""
    allowed_hosts: tuple[str, ...] = ()
    """The names by which clients may ask for it; empty for any, or, at an address of this machine alone, localhost."""
    most_bytes: int = Field(default=1 << 20, ge=1)
    """Of a request's body."""
    most_query_characters: int = Field(default=1000, ge=1)
    most_k: int = Field(default=100, ge=1)
    """Results of a search."""
    most_documents: int = Field(default=1000, ge=1)
    """Of a request to rank."""
    most_text_characters: int = Field(default=100_000, ge=1)
    """Of a text to rank or to explain."""
    seconds: float = Field(default=10.0, gt=0)
    """That a request may take to arrive, then to be answered, then to be read by the client."""
    threads: int = Field(default=2, ge=1)
    """Requests at work at once."""
    waiting: int = Field(default=64, ge=0)
    """Requests that may wait for a thread; the next one is told to come back."""
    connections: int = Field(default=512, ge=1)
    """Clients at once."""
    drain_seconds: float = Field(default=30.0, ge=0)
    """How long a stop waits for the requests that are at work."""
    poll_seconds: float = Field(default=5.0, gt=0)
    """Between two looks for a newer model or index."""
