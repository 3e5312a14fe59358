"""The server of the studio: functions of a workspace, and the tables and fits it knows."""

import json
import mimetypes
from collections.abc import Callable
from importlib import resources
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gfsvi.studio import blocks, presets
from gfsvi.studio.eliciting import elicited
from gfsvi.studio.exporting import exported
from gfsvi.studio.expressing import expressed
from gfsvi.studio.field_view import look_at_field
from gfsvi.studio.fitting import Fits
from gfsvi.studio.looking import look
from gfsvi.studio.opened import Table, Tables, field_rows_of, rows_of
from gfsvi.studio.reading import Reader
from gfsvi.studio.security import REPORT_POLICY, headers
from gfsvi.studio.workspace import Workspace
from gfsvi.version import __version__

MAX_JSON = 8 * 2**20
_SENTENCES = (ValueError, TypeError, ArithmeticError, OSError, MemoryError, ImportError)
"""Errors whose message is meant for users."""


class Studio:
    """What the server knows beyond requests: tables that were opened, and fits.

    Args:
        first: The table that was named on the command line.
        target: Its target.
    """

    def __init__(self, first: Table | None = None, target: str | None = None):
        self.tables, self.fits = Tables(), Fits()
        self._begin: dict[str, Any] = {}
        if first is not None:
            table = self.tables.open(first.name, first.data)
            self._begin = {"table": table.summary, "chosen": target}

    def application(self) -> Starlette:
        """The routes, all of them below the token."""
        files = [Route(f"/{name}", _file(name)) for name in page_files()]
        return Starlette(
            routes=[
                Route("/", _file("index.html")),
                *files,
                Route("/begin", self._answer_begin),
                Route("/tables", self._open, methods=["POST"]),
                Route("/rows", self._calling(self._rows), methods=["POST"]),
                Route("/preset", self._calling(_preset), methods=["POST"]),
                Route("/look", self._calling(_look), methods=["POST"]),
                Route("/express", self._calling(_express), methods=["POST"]),
                Route("/elicit", self._calling(_elicit), methods=["POST"]),
                Route("/export", self._calling(_export), methods=["POST"]),
                Route("/check", self._calling(_check), methods=["POST"]),
                Route("/fits", self._calling(self._fit), methods=["POST"]),
                Route("/fits/{number:int}", self._progress),
                Route("/fits/{number:int}/stop", self._stop, methods=["POST"]),
                Route("/fits/{number:int}/report", self._report),
                Route("/fits/{number:int}/model", self._model),
            ]
        )

    def _calling(self, function: Callable[[Reader], Any]) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            body = await request.body()
            return await run_in_threadpool(_answered, function, body)

        return answer

    async def _answer_begin(self, request: Request) -> Response:
        families, names = blocks.described(), presets.NAMES
        known = {"version": __version__, "families": families, "presets": names}
        return _json(known | self._begin)

    async def _open(self, request: Request) -> Response:
        name, body = unquote(request.headers.get("x-name", "")), await request.body()

        def opened() -> dict[str, Any]:
            plain = name.replace("\\", "/").rpartition("/")[2][:200]
            return self.tables.open(plain or "table.csv", body).summary

        return await run_in_threadpool(_told, opened)

    def _rows(self, reader: Reader) -> dict[str, Any]:
        table, target = self.tables[reader.text("id")], reader.text("target")
        second = reader.text("second", "")
        return field_rows_of(table, target, second) if second else rows_of(table, target)

    def _fit(self, reader: Reader) -> dict[str, Any]:
        workspace = _workspace(reader)
        table = self.tables[workspace.table] if workspace.source == "table" else None
        return {"number": self.fits.begin(workspace, table)}

    async def _progress(self, request: Request) -> Response:
        return _told(lambda: self.fits[request.path_params["number"]].progress)

    async def _stop(self, request: Request) -> Response:
        return _told(lambda: self.fits[request.path_params["number"]].stop())

    async def _report(self, request: Request) -> Response:
        return _sent(lambda: self.fits[request.path_params["number"]].report(), "text/html")

    async def _model(self, request: Request) -> Response:
        kind = "application/octet-stream"
        return _sent(lambda: self.fits[request.path_params["number"]].model(), kind)


def page_files() -> list[str]:
    """The files of the page; nothing else on this machine is ever sent."""
    folder = resources.files("gfsvi.studio").joinpath("page")
    return sorted(item.name for item in folder.iterdir() if item.is_file())


def _file(name: str) -> Callable[[Request], Any]:
    kind = "text/javascript" if name.endswith(".js") else mimetypes.guess_type(name)[0]

    async def answer(request: Request) -> Response:
        content = resources.files("gfsvi.studio").joinpath("page", name).read_bytes()
        return Response(content, media_type=kind, headers=headers())

    return answer


def _workspace(reader: Reader) -> Workspace:
    return Workspace.read(reader.content("workspace"))


def _look(reader: Reader) -> dict[str, Any]:
    workspace, at_rest = _workspace(reader), reader.flag("at_rest")
    if workspace.kind == "field":
        return look_at_field(workspace)
    return look(workspace, at_rest=at_rest)


def _preset(reader: Reader) -> dict[str, Any]:
    return presets.preset(_workspace(reader), reader.text("name"))


def _express(reader: Reader) -> dict[str, Any]:
    return expressed(_workspace(reader))


def _elicit(reader: Reader) -> dict[str, Any]:
    return elicited(_workspace(reader), reader.content("answers"))


def _export(reader: Reader) -> dict[str, Any]:
    return exported(_workspace(reader))


def _check(reader: Reader) -> dict[str, Any]:
    """Whether a file that was opened is a workspace."""
    _workspace(reader)
    return {"good": True}


def _answered(function: Callable[[Reader], Any], body: bytes) -> Response:
    def read() -> Any:
        if len(body) > MAX_JSON:
            raise ValueError(f"expected at most {MAX_JSON // 2**20} MB; got {len(body):,} bytes.")
        return function(Reader(json.loads(body), "a request"))

    return _told(read)


def _told(function: Callable[[], Any]) -> Response:
    """The answer as JSON; what is wrong with the input as one sentence.

    A complaint is an answer like others: browsers print requests that fail to their consoles.
    """
    try:
        return _json(function())
    except _SENTENCES as error:
        sentence = " ".join(str(error).split()) or f"{type(error).__name__} without a message."
        return _json({"complaint": sentence})


def _sent(function: Callable[[], bytes], kind: str) -> Response:
    try:
        policy = REPORT_POLICY if kind == "text/html" else "default-src 'none'"
        return Response(function(), media_type=kind, headers=headers(policy))
    except _SENTENCES as error:
        return _json({"complaint": str(error)})


def _json(content: Any) -> Response:
    return JSONResponse(content, headers=headers())
