"""Under which names a server answers, so that pages of other sites cannot ask it in a browser.

A page can make its own host name resolve to this machine and then read what a server on loopback
answers; and it can send requests whose answers it never sees.
"""

from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = ("localhost", "127.0.0.1", "::1")


class OnlyHosts:
    """Lets only requests through that name one of these hosts, also as where a page came from.

    Args:
        app: What answers them.
        hosts: The names.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str]):
        self._app, self._hosts = app, {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        refusal = self._refusal(Request(scope)) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, request: Request) -> JSONResponse | None:
        names = ", ".join(sorted(self._hosts))
        remedy = "Start `gfsvi serve` with --allow-host if another name is right."
        if _host("//" + request.headers.get("host", "")) not in self._hosts:
            words = f"expected {names} as the host of a request; got another one. {remedy}"
            return JSONResponse({"error": words}, 421)
        origin = request.headers.get("origin")
        if origin is not None and _host(origin) not in self._hosts:
            words = f"expected a page of {names} as the origin; got another one. {remedy}"
            return JSONResponse({"error": words}, 403)
        return None


def _host(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
