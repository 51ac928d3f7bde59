"""The limits of the HTTP service."""

from pydantic import ConfigDict, Field

from schemas.settings import Settings


class ServiceSettings(Settings):
    """Limits on sizes, times and numbers of requests.

    Example:
      >>> ServiceSettings(most_k=50).seconds
      10.0
    """

    model_config = ConfigDict(allow_inf_nan=True)  # a time may be unlimited

    host: str = "127.0.0.1"
    """Address to listen at; 0.0.0.0 lets other machines in."""
    port: int = Field(default=8080, ge=0, le=65535)
    """Port; 0 for any free port."""
    allowed_hosts: tuple[str, ...] = ()
    """Accepted Host headers; empty accepts all, or only localhost if `host` is local."""
    most_bytes: int = Field(default=1 << 20, ge=1)
    """Largest request body in bytes."""
    most_query_characters: int = Field(default=1000, ge=1)
    """Longest query in characters."""
    most_k: int = Field(default=100, ge=1)
    """Largest number of results of a search."""
    most_documents: int = Field(default=1000, ge=1)
    """Largest number of documents of a request to rank."""
    most_text_characters: int = Field(default=100_000, ge=1)
    """Longest text to rank or to explain, in characters."""
    seconds: float = Field(default=10.0, gt=0)
    """Request timeout in seconds: for its arrival, then for its answer, then for the client to read it."""
    threads: int = Field(default=2, ge=1)
    """Number of requests that run at once."""
    waiting: int = Field(default=64, ge=0)
    """Number of requests that may wait for a thread; further requests get 503."""
    connections: int = Field(default=512, ge=1)
    """Number of connected clients; further clients get 503."""
    drain_seconds: float = Field(default=30.0, ge=0)
    """Longest time in seconds that a stop waits for running requests."""
    poll_seconds: float = Field(default=5.0, gt=0)
    """Seconds between two checks for a newer model or index."""
