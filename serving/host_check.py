"""Refuses requests that were meant for another server."""

import ipaddress
from collections.abc import Collection

from starlette.types import ASGIApp, Receive, Scope, Send

from serving.problem_answer import problem_answer
from serving.refusals import Misdirected


class HostCheck:
    """Lets requests in that name this service.

    A page from elsewhere can make its own name point to this machine, and a browser then lets it read the answers. But
    it cannot change the name that it asks for.

    Args:
      app: that gets the request.
      host: the address that the service listens at.
      allowed: names by which clients may ask for it; an address is always allowed. Without names, any is at an address
        that other machines reach, and localhost alone at one that they do not.
    """

    def __init__(self, app: ASGIApp, host: str, allowed: Collection[str]) -> None:
        self._app = app
        self._names = {name.lower() for name in allowed}
        self._all = not allowed and not _is_local(host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._all:
            asked = dict(scope["headers"]).get(b"host", b"").decode("latin-1").lower()
            name = asked[1:].partition("]")[0] if asked.startswith("[") else asked.partition(":")[0]
            if name not in self._names | {"localhost"} and not _is_address(name):
                refusal = Misdirected(
                    f"the host of a request must be one of {', '.join(sorted(self._names | {'localhost'}))}, or an "
                    f"address; got {asked[:80]!r}. Start the service with --allow-host to add one."
                )
                await problem_answer(refusal)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _is_local(host: str) -> bool:
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
