"""The routes of the server, and what they refuse."""

import asyncio
import dataclasses
import json
from typing import Any, NoReturn

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from gfsvi.server.batching import Batches
from gfsvi.server.openapi import document, page
from gfsvi.server.served import Row, Served, checked_rows
from gfsvi.version import __version__

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_BAD_ROWS = (ValueError, TypeError, ArithmeticError)
"""What rows lead to that cannot be predicted; the messages are meant for users."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """What a request may be.

    Args:
        bytes: Of the body.
        rows: Per request.
        rows_at_once: Rows of several requests that are predicted together.
        waiting: Requests that may wait for an answer.
    """

    bytes: int = 2**20
    rows: int = 1000
    rows_at_once: int = 2000
    waiting: int = 1000


def application(served: Served, limits: Limits | None = None) -> Starlette:
    """The server of a model."""
    server = _Server(served, limits or Limits())
    return Starlette(
        routes=[
            Route("/", server.page),
            Route("/health", server.health),
            Route("/model", server.model),
            Route("/openapi.json", server.openapi),
            Route("/predict", server.predict, methods=["POST"]),
        ],
        exception_handlers={HTTPException: _refused},
    )


class _Server:
    def __init__(self, served: Served, limits: Limits):
        self._served, self._limits = served, limits
        self._batches = Batches(served.predict, limits.rows_at_once, limits.waiting)
        preparation = served.preparation
        names = (*(column.name for column in preparation.columns), *preparation.target)
        self._known = set(names)

    async def page(self, request: Request) -> Response:
        text = page(self._served, most_rows=self._limits.rows)
        return HTMLResponse(text, headers={"content-security-policy": POLICY})

    async def health(self, request: Request) -> Response:
        return JSONResponse({"status": "ok", "version": __version__})

    async def model(self, request: Request) -> Response:
        return JSONResponse(self._served.described)

    async def openapi(self, request: Request) -> Response:
        return JSONResponse(document(self._served, most_rows=self._limits.rows))

    async def predict(self, request: Request) -> Response:
        rows, level = self._checked(_parsed(await _body(request, self._limits.bytes)))
        try:
            x = await run_in_threadpool(self._served.prepared, rows)
            found = await self._batches.predict(x, level)
        except asyncio.QueueFull:
            raise HTTPException(503, "too many requests are waiting; try again later.") from None
        except _BAD_ROWS as error:
            raise HTTPException(422, _sentence(error)) from None
        return JSONResponse({"predictions": found})

    def _checked(self, content: object) -> tuple[list[Row], float]:
        """Rows and level of a request."""
        if not isinstance(content, dict) or not set(content) <= {"rows", "level"}:
            _refuse(400, 'expected {"rows": [...], "level": 0.95}; got something else.')
        level = content.get("level", self._served.model.level)
        is_number = isinstance(level, int | float) and not isinstance(level, bool)
        if not is_number or not 0 < level < 1:
            _refuse(422, "expected a level between 0 and 1; got something else.")
        try:
            columns, most = self._served.columns, self._limits.rows
            return checked_rows(content.get("rows"), columns, self._known, most), float(level)
        except _BAD_ROWS as error:
            _refuse(422, _sentence(error))


async def _body(request: Request, most: int) -> bytes:
    """The body; refused as soon as it is too large, whatever its headers say."""
    chunks, size = [], 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > most:
                _refuse(413, f"expected at most {most} bytes; got more. Send fewer rows at a time.")
            chunks.append(chunk)
    except ClientDisconnect:
        _refuse(400, "expected a whole request; the connection was closed.")
    return b"".join(chunks)


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        _refuse(400, f"expected JSON in UTF-8; got something else ({_sentence(error):.100}).")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON; send null for a missing value")


def _refuse(code: int, words: str) -> NoReturn:
    raise HTTPException(code, words)


async def _refused(request: Request, error: Exception) -> Response:
    code = error.status_code if isinstance(error, HTTPException) else 400
    words = error.detail if isinstance(error, HTTPException) else str(error)
    known = {404: "expected /predict, /model, /health or /openapi.json; got another address."}
    known |= {405: "expected POST to /predict and GET to all others; got another method."}
    return JSONResponse({"error": known.get(code, words)}, code)


def _sentence(error: BaseException) -> str:
    return " ".join(str(error).split())[:500] or type(error).__name__
