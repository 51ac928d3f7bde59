"""The files of the page, as the service gives them."""

import hashlib
from pathlib import Path
from typing import Final

from fastapi import FastAPI, Request
from starlette.responses import Response

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
