"""HTTP requests with a deadline for the whole of each: name, connection, heads and body."""

import asyncio
import json
import os
import socket
import ssl
import threading
import weakref
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import aclosing
from functools import cache, partial
from typing import Any, Final, NamedTuple

import httpx

from models.keys import key_for
from models.proxies import http_proxy, through
from schemas.json_files import parse_json

_BYTES_OF_MESSAGE: Final = 1 << 16
"""Bytes that are read of an error's answer."""
_KEPT_SECONDS: Final = 4.0
"""Seconds that an idle connection is kept: some servers (uvicorn) close it after five, which may hit a request."""
_LOCK: Final = threading.Lock()


class Answer(NamedTuple):
    """An HTTP answer."""

    status: int
    headers: Mapping[str, str]
    body: bytearray
    is_cut: bool
    """Whether the rest of a too large body was not read."""
    is_whole: bool
    """Whether the server declared the body's end; otherwise a broken connection looks like its end."""


class HttpClient:
    """Asks a server; threads may share it, and requests share connections.

    Uses the environment's proxies; does not follow redirects, keep cookies, read `.netrc` or decode bodies.

    Args:
      address: http or https, with a host.
      key_variable: name of the environment variable with the key, see `models.keys`; None for none.
      key_field: the field of the JSON that takes the key; None for the header Authorization.

    Attributes:
      connections: number of connections that were opened.
      answers: number of answers received.
      route: the proxy in words, for messages; empty without a proxy.
      is_secret: whether requests hold a key or a password, which a server may repeat in its answers.
    """

    def __init__(self, address: str, key_variable: str | None = None, key_field: str | None = None) -> None:
        self._address, self._key_variable, self._proxy = address, key_variable, http_proxy(address)
        self._key_field = key_field
        self.connections = self.answers = 0
        self.route = through(self._proxy)
        self.is_secret = key_variable is not None or "@" in (self._proxy or "")
        # Reads the certificates once, not for each connection.
        self._context = ssl.create_default_context() if address.startswith("https:") else False
        self._transport: tuple[int, httpx.AsyncHTTPTransport] | None = None

    def request(self, path: str, content: bytes | None, seconds: float, max_bytes: int) -> Answer:
        """Sends JSON with POST, or a GET without content.

        Args:
          path: follows the address.
          content: JSON, or None.
          seconds: the deadline for the whole request.
          max_bytes: the approximate limit of a body.

        Raises:
          TimeoutError: the whole answer did not come in time.
          ConnectionError: the server is unreachable, breaks off, or does not speak HTTP; never with the server's words.
          ValueError: the server cannot be asked: a certificate, an address or a proxy is wrong.
          DataError: the key's variable is empty, or its key is not for this server.
        """
        if self._key_variable:
            key_for(self._key_variable, self._address)
        work = self._outcome(path, content, seconds, max_bytes)
        outcome = asyncio.run_coroutine_threadsafe(work, _loop(os.getpid())).result()
        # Raised here, because the frames of the thread hold the key.
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def _outcome(self, path: str, content: bytes | None, seconds: float, max_bytes: int) -> Answer | Exception:
        try:
            return await asyncio.wait_for(self._answer(path, content, max_bytes), seconds)
        except (TimeoutError, asyncio.TimeoutError):
            return TimeoutError()
        except httpx.ProxyError as error:
            status = str(error)[:3]  # the rest may repeat a password
            return (ValueError if status[:1] == "4" else ConnectionError)(f"the proxy refused it ({status})")
        except httpx.ConnectError as error:
            cause = _first_cause(error)
            if isinstance(cause, ssl.SSLCertVerificationError):
                return ValueError(f"its certificate is not trusted ({cause.verify_message})")
            if isinstance(cause, ConnectionError) and cause.errno:
                return ConnectionError(os.strerror(cause.errno))
            return ConnectionError(str(getattr(cause, "strerror", cause)))
        except (httpx.TransportError, OSError):
            return ConnectionError("it broke off, or did not speak HTTP")
        except (httpx.InvalidURL, ImportError, ValueError) as error:  # a proxy of another kind is a ValueError
            return ValueError(f"the address or the proxy is not supported ({type(error).__name__})")

    async def _answer(self, path: str, content: bytes | None, max_bytes: int) -> Answer:
        # Some gateways refuse the User-Agents of libraries.
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "smooth-clir"}
        if content is not None:
            headers["Content-Type"] = "application/json"
        if self._key_variable and self._key_field:
            fields = {**parse_json(content or b"{}"), self._key_field: key_for(self._key_variable, self._address)}
            content = json.dumps(fields).encode()
        elif self._key_variable:
            headers["Authorization"] = f"Bearer {key_for(self._key_variable, self._address)}"
        method, url = "GET" if content is None else "POST", self._address + path
        extensions = {"trace": self._trace}
        request = httpx.Request(method, url, content=content, headers=headers, extensions=extensions)
        async with aclosing(await self._own_transport().handle_async_request(request)) as answer:
            body, limit = bytearray(), max_bytes if answer.is_success else _BYTES_OF_MESSAGE
            async for part in answer.aiter_raw():
                body += part
                if len(body) > limit:
                    break
            self.answers += 1
            is_whole = "content-length" in answer.headers or "transfer-encoding" in answer.headers
            return Answer(answer.status_code, answer.headers, body, len(body) > limit, is_whole)

    async def _trace(self, event: str, details: Mapping[str, Any]) -> None:
        self.connections += event == "connection.connect_tcp.started"

    def _own_transport(self) -> httpx.AsyncHTTPTransport:
        """This process's connections, not those before a fork. Only the thread of the loop calls this."""
        process = os.getpid()
        if self._transport is None or self._transport[0] != process:
            # A client of httpx would keep cookies and log each request.
            limits = httpx.Limits(keepalive_expiry=_KEPT_SECONDS)
            transport = httpx.AsyncHTTPTransport(
                verify=self._context, proxy=self._proxy, trust_env=False, limits=limits
            )
            self._transport = process, transport
            weakref.finalize(self, _close, process, transport).atexit = False
        return self._transport[1]


class _Loop(asyncio.SelectorEventLoop):
    """Resolves each name in its own daemon thread, so that a hanging one delays neither others nor the process's
    end."""

    async def getaddrinfo(self, *arguments: Any, **named: Any) -> Any:
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()  # the thread goes on after a cancelled wait
        work = partial(_resolve, future, *arguments, **named)
        threading.Thread(target=work, name="getaddrinfo", daemon=True).start()
        return await asyncio.wrap_future(future, loop=self)


def _resolve(future: "Future[Any]", *arguments: Any, **named: Any) -> None:
    try:
        future.set_result(socket.getaddrinfo(*arguments, **named))
    except Exception as error:
        future.set_exception(error)


def _loop(process: int) -> asyncio.AbstractEventLoop:
    """The event loop of a process, in a daemon thread."""
    with _LOCK:
        return _started_loop(process)


@cache
def _started_loop(process: int) -> asyncio.AbstractEventLoop:
    loop = _Loop()
    threading.Thread(target=loop.run_forever, name="http", daemon=True).start()
    return loop


def _close(process: int, transport: httpx.AsyncHTTPTransport) -> None:
    if process == os.getpid():  # after a fork the connections are still the parent's
        asyncio.run_coroutine_threadsafe(transport.aclose(), _loop(process))


def _first_cause(error: BaseException) -> BaseException:
    """The first cause of an error, that of the first of several attempts."""
    while cause := error.__cause__ or error.__context__ or next(iter(getattr(error, "exceptions", ())), None):
        error = cause
    return error
