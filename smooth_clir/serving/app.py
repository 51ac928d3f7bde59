"""The HTTP service as an ASGI application: its page, its error answers, its middleware."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from schemas.errors import ConfigError, DataError
from smooth_clir.retrieval.answers import NotFound
from smooth_clir.serving.engine_holder import EngineHolder
from smooth_clir.serving.middleware import BoundedBody, HostCheck, RequestFrame, refusal_answer, sentence_answer
from smooth_clir.serving.refusals import Busy, Refusal
from smooth_clir.serving.routes import add_routes
from smooth_clir.serving.settings import ServiceSettings
from smooth_clir.serving.telemetry import EventLog, ServiceMetrics
from smooth_clir.serving.work_queue import WorkQueue

_SHOWN_FAULTS: Final = 3
_JSON: Final = "application/json"
_PAGE_FOLDER: Final = Path(__file__).parent / "page"
_PAGE_FILES: Final = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
}


def create_app(
    holder: EngineHolder, queue: WorkQueue, metrics: ServiceMetrics, log: EventLog, settings: ServiceSettings
) -> FastAPI:
    """Creates the application.

    Args:
      holder: the holder of the engine that answers.
      queue: the queue for slow work.
      metrics: the content of `/metrics`.
      log: the log of requests.
      settings: limits.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        holder.start()
        yield
        holder.stop()

    app = FastAPI(
        title="Smooth CLIR",
        description="Searches a collection with queries in another language, and explains each score.",
        version="1",
        lifespan=lifespan,
        docs_url=None,  # FastAPI's pages load scripts from other servers
        redoc_url=None,
        redirect_slashes=False,
    )
    _add_page(app)
    add_routes(app, holder, queue, metrics, settings)

    @app.exception_handler(DataError)
    async def unavailable(request: Request, error: DataError) -> Response:
        log.warning("no answer", error=str(error))
        return refusal_answer(Busy(str(error)))

    @app.exception_handler(ConfigError)
    async def bad_filter(request: Request, error: ConfigError) -> Response:
        return sentence_answer(422, " ".join(error.faults))

    @app.exception_handler(NotFound)
    async def not_found(request: Request, error: NotFound) -> Response:
        return sentence_answer(404, str(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        faults = error.errors()
        if any(fault["type"] == "json_invalid" for fault in faults):
            (fault, *_) = faults
            fault_text = f"{fault['ctx']['error']}, at character {fault['loc'][-1]}"
            return sentence_answer(400, f"the body of a request must be JSON: {fault_text}.")
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != _JSON and any(fault["type"] != "missing" and [*fault["loc"]] == ["body"] for fault in faults):
            sentence = f"the body of a request must be {_JSON}; got {kind[:60]!r}. Send it with that Content-Type."
            return sentence_answer(415, sentence)
        return sentence_answer(422, " ".join(describe_fault(fault) for fault in faults[:_SHOWN_FAULTS]))

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        if isinstance(error, Refusal):
            return refusal_answer(error)
        method, path = request.method[:20], request.url.path[:80]
        if error.status_code == 404:
            return sentence_answer(404, f"unknown path {path!r}; see /openapi.json.")
        if error.status_code == 405:
            allowed = sorted(_methods(app, request.url.path))
            sentence = f"the method of {path} must be {' or '.join(allowed)}; got {method}."
            return sentence_answer(405, sentence, {"allow": ", ".join(allowed)})
        if error.status_code == 400:
            sentence = 'the body of a request must be JSON in UTF-8, such as {"query": "a word"}; it cannot be read.'
            return sentence_answer(400, sentence)
        return sentence_answer(error.status_code, f"{error.detail}.", error.headers)

    app.add_middleware(BoundedBody, max_bytes=settings.most_bytes, seconds=settings.seconds)
    app.add_middleware(HostCheck, host=settings.host, allowed=settings.allowed_hosts)
    app.add_middleware(RequestFrame, log=log, metrics=metrics)
    return app


def _add_page(app: FastAPI) -> None:
    """Adds the page and its files; a browser asks every time whether they have changed."""
    for path, (name, kind) in _PAGE_FILES.items():
        content = (_PAGE_FOLDER / name).read_bytes()
        headers = {"etag": f'"{hashlib.sha256(content).hexdigest()[:16]}"', "cache-control": "no-cache"}

        async def give(
            request: Request, content: bytes = content, kind: str = kind, headers: dict[str, str] = headers
        ) -> Response:
            if request.headers.get("if-none-match") == headers["etag"]:
                return Response(None, 304, headers)
            return Response(content, 200, headers, kind)

        app.add_route(path, give, methods=["GET"], include_in_schema=False)


def _methods(app: FastAPI, path: str) -> set[str]:
    """Returns the methods of all routes of a path."""
    routes = (route for route in app.routes if isinstance(route, Route) and route.path == path)
    return {method for route in routes for method in route.methods or ()}


def describe_fault(fault: dict[str, Any]) -> str:
    """Describes pydantic's error for a request.

    Example:
      >>> describe_fault({"loc": ("query", "k"), "msg": "Input should be greater than 0", "input": "0"})
      "k: input should be greater than 0; got '0'."
      >>> describe_fault({"loc": ("query", "q"), "msg": "Field required", "type": "missing", "input": {}})
      'q is missing.'
    """
    path = fault["loc"][1:] if fault["loc"] and fault["loc"][0] in ("query", "body") else fault["loc"]
    field = ".".join(map(str, path)) or "the body"
    message, kind, value = fault["msg"], fault.get("type"), _shown(fault.get("input"))
    if kind == "missing":
        return f"{field} is missing."
    if kind == "extra_forbidden":
        return f"{field} is unknown; leave it out, or see /openapi.json."
    if kind == "string_pattern_mismatch":
        return f"{field} must hold a word; got {value}."
    if kind == "string_unicode":  # JSON can escape lone surrogates, which no encoding has
        return f"{field} must hold whole characters; got half of a surrogate pair: {value}."
    return f"{field}: {message[:1].lower()}{message[1:]}; got {value}."


def _shown(value: Any, limit: int = 60) -> str:
    text = repr(value).encode("ascii", "backslashreplace").decode() if isinstance(value, str) else repr(value)
    return text if len(text) <= limit else f"{text[:limit]}…"
