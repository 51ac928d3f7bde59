"""The HTTP service as an ASGI application."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from schemas.errors import DataError
from serving.http_records import describe_fault
from serving.middleware import BoundedBody, HostCheck, RequestFrame, problem_answer, sentence_answer
from serving.newest_engine import EngineHolder
from serving.refusals import Busy, Refusal
from serving.routes import add_routes
from serving.settings import ServiceSettings
from serving.telemetry import EventLog, ServiceMetrics
from serving.work_queue import WorkQueue

_SHOWN_FAULTS: Final = 3
_RETRY_AFTER: Final = 5


def create_app(
    holder: EngineHolder, queue: WorkQueue, metrics: ServiceMetrics, log: EventLog, settings: ServiceSettings
) -> FastAPI:
    """The service: its paths, its page, and what every request goes through.

    Args:
      holder: of the engine that answers.
      queue: for what takes time.
      metrics: that `/metrics` gives.
      log: that gets a line for each request.
      settings: limits.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        holder.start()
        yield
        holder.stop()

    app = FastAPI(
        title="Smooth CLIR",
        description="Searches a collection in one language with queries in another, and says why.",
        version="1",
        lifespan=lifespan,
        docs_url=None,  # its pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    add_page(app)
    add_routes(app, holder, queue, metrics, settings)

    @app.exception_handler(Refusal)
    async def refuse(request: Request, error: Refusal) -> Response:
        return problem_answer(error)

    @app.exception_handler(DataError)
    async def unavailable(request: Request, error: DataError) -> Response:
        log.warn("no answer", error=str(error))
        return problem_answer(Busy(str(error), _RETRY_AFTER))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        faults = error.errors()
        if any(fault["type"] == "json_invalid" for fault in faults):
            (fault, *_) = faults
            told = f"{fault['ctx']['error']}, at character {fault['loc'][-1]}"
            return sentence_answer(400, f"the body of a request must be JSON: {told}.")
        return sentence_answer(422, " ".join(describe_fault(fault) for fault in faults[:_SHOWN_FAULTS]))

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        method, path = request.method[:20], request.url.path[:80]
        if error.status_code == 404:
            return sentence_answer(404, f"there must be such a path; got {path!r}. /openapi.json names all.")
        if error.status_code == 405:
            allowed = sorted(_methods(app, request.url.path))
            told = f"the method of {path} must be {' or '.join(allowed)}; got {method}."
            return sentence_answer(405, told, {"allow": ", ".join(allowed)})
        return sentence_answer(error.status_code, f"{error.detail}.", error.headers)

    app.add_middleware(BoundedBody, most_bytes=settings.most_bytes, seconds=settings.seconds)
    app.add_middleware(HostCheck, host=settings.host, allowed=settings.allowed_hosts)
    app.add_middleware(RequestFrame, log=log, metrics=metrics)
    return app


def _methods(app: FastAPI, path: str) -> set[str]:
    """Those of all the routes of a path."""
    routes = (route for route in app.routes if isinstance(route, Route) and route.path == path)
    return {method for route in routes for method in route.methods or ()}


_FOLDER: Final = Path(__file__).parent / "page"
_FILES: Final = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
}


def add_page(app: FastAPI) -> None:
    """Adds the page and what it needs; a browser asks each time whether they have changed."""
    for path, (name, kind) in _FILES.items():
        content = (_FOLDER / name).read_bytes()
        headers = {"etag": f'"{hashlib.sha256(content).hexdigest()[:16]}"', "cache-control": "no-cache"}

        async def give(
            request: Request, content: bytes = content, kind: str = kind, headers: dict[str, str] = headers
        ) -> Response:
            if request.headers.get("if-none-match") == headers["etag"]:
                return Response(None, 304, headers)
            return Response(content, 200, headers, kind)

        app.add_route(path, give, methods=["GET"], include_in_schema=False)
