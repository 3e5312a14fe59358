"""Who may talk to the studio: pages that it served itself, on this machine, with its token.

The server listens on loopback. A page of another origin cannot read answers, but it can send
requests; a host name that is made to resolve to this machine would even make it the same origin.
So that the token in the address, the host and the origin are checked before anything is read.
"""

import secrets

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

HOSTS = ("127.0.0.1", "localhost", "[::1]")
MAX_BODY = 300 * 2**20
"""Bytes of a request, of which a table takes most."""
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def new_token() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(24)


class Guard:
    """Lets only requests through that have the token, our host and our origin.

    Args:
        app: What is guarded.
        token: The first part of every path.
        port: The port that the server listens on.
    """

    def __init__(self, app: ASGIApp, token: str, port: int):
        self._app, self._token = app, token
        self._hosts = {f"{host}:{port}" for host in HOSTS}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(Request(scope))
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        await self._app(_below_token(scope, self._token), receive, send)

    def _refusal(self, request: Request) -> Response | None:
        if request.headers.get("host", "") not in self._hosts:
            return _refused(421, "expected this machine as the host")
        origin = request.headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in self._hosts}:
            return _refused(403, "expected a page of the studio as the origin")
        if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return _refused(403, "expected a page of the studio as the origin")
        first = request.url.path.split("/")[1]
        if not secrets.compare_digest(first.encode(), self._token.encode()):
            return _refused(404, "expected the address that `gfsvi studio` printed")
        length = request.headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY:
            return _refused(413, f"expected at most {MAX_BODY // 2**20} MB")
        if request.method == "POST" and "content-length" not in request.headers:
            return _refused(411, "expected a request that says how long it is")
        return None


def headers(policy: str = PAGE_POLICY) -> dict[str, str]:
    """The headers of every answer."""
    return {**_HEADERS, "Content-Security-Policy": policy}


def _refused(status: int, sentence: str) -> Response:
    return PlainTextResponse(f"gfsvi studio: {sentence}.\n", status, headers())


def _below_token(scope: Scope, token: str) -> Scope:
    """The scope with the path that follows the token."""
    path = scope["path"].removeprefix(f"/{token}") or "/"
    return {**scope, "path": path, "raw_path": path.encode()}
