"""Whatever is posted to the server: predictions, or a refusal in words; never its own fault."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportIndexIssue=false, reportOptionalMemberAccess=false, reportMissingImports=false
# pyright: reportOperatorIssue=false, reportReturnType=false, reportAssignmentType=false
# pyright: reportIncompatibleMethodOverride=false, reportOptionalSubscript=false
# Stubs of frames, pictures and estimators are narrower than what they take.

import asyncio
import functools
import json
import math
import tempfile
import warnings
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from fuzz.corpus import TINY, table
from fuzz.edits import damaged, edit_tree
from fuzz.engine import ACCEPTED, REFUSED, Kind
from gfsvi import GFSVIClassifier, GFSVIRegressor
from gfsvi.server import Limits, application
from gfsvi.server.served import Served

LIMITS = Limits(bytes=9_000, rows=50)
ROW = {"size": 100.0, "town": "Bonn", "sold": "2020-03-01"}
REFUSALS = (400, 413, 422)
CELLS = (
    *(None, True, 0, -1, 1e-300, 1e299, 1e308, 10**30, 10**400, "", "Bonn", "x" * 500, "12,5"),
    *("2020-01-01", "9999-99-99", "\x00", "\U0001f600", "nan", "-inf", [], {}, [ROW], math.nan),
)
ADDRESSES = ("/predict",) * 20 + ("/", "/model", "/health", "/openapi.json", "/what", "/..")

cells = st.sampled_from(CELLS) | st.floats() | st.integers() | st.text(max_size=20)
rows = st.builds(
    lambda new, gone: {k: v for k, v in {**ROW, **new}.items() if k not in gone},
    st.dictionaries(st.sampled_from(["size", "town", "sold", "price", "tax", "", "what"]), cells)
    | st.just({}),
    st.sets(st.sampled_from(["size", "town", "sold"]), max_size=1) | st.just(set()),
)
several = st.lists(rows, max_size=4) | st.builds(lambda row, n: [row] * n, rows, st.integers(0, 60))
levels = st.sampled_from([{}, {}, {"level": 0.5}, {"level": 0.99999}]) | cells.map(
    lambda cell: {"level": cell}
)
places = st.integers(0, 2**32)
of_tree = st.tuples(st.sampled_from(["replace", "remove", "nest"]), places, st.just(3))
of_text = st.one_of(
    st.tuples(st.just("cut"), places, st.none()),
    st.tuples(st.just("flip"), places, st.integers(1, 255)),
    st.tuples(st.just("insert"), places, st.sampled_from([b"NaN", b"{", b"\xff", b"\0", b"[" * 9])),
)
plain = st.tuples(
    st.just("/predict"),
    st.builds(lambda num_rows: {"rows": [ROW] * num_rows}, st.integers(1, 3)),
    st.just([]),
    st.just([]),
)
requests = plain | st.tuples(
    st.sampled_from(ADDRESSES),
    st.builds(lambda rows, level: {"rows": rows, **level}, several, levels),
    st.lists(of_tree, max_size=1),
    st.lists(of_text, max_size=2) | st.just([]),
)
cases = st.tuples(st.booleans(), st.lists(requests, min_size=1, max_size=4))


@functools.cache
def served(is_of_labels: bool) -> Served:
    """A small model of numbers, or of labels."""
    kind = GFSVIClassifier if is_of_labels else GFSVIRegressor
    target, other = ("kind", "price") if is_of_labels else ("price", "kind")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, "model.gfsvi")
        frame = table().drop(columns=[other, "tax"])
        kind(**TINY, conformal="left_out", prior_mean=None).fit_table(frame, target).save(path)
        return Served.read(path, path.name)


def body_of(content: Any, tree: list[Any], text: list[Any]) -> bytes:
    """A request in JSON with these changes, which may be none any more."""
    for name, place, value in tree:
        edit_tree(content, name, place, value)
    body = json.dumps(content).encode()
    for name, place, value in text:
        body = damaged(body, name, place, value)
    return body


async def answered(app: Any, path: str, body: bytes) -> tuple[int, str]:
    """Status and text of the answer."""
    sent: list[dict[str, Any]] = []
    kind = {"type": "http", "http_version": "1.1", "method": "POST" if body else "GET"}
    place = {"path": path, "raw_path": path.encode(), "query_string": b"", "scheme": "http"}
    scope = kind | place | {"headers": [(b"host", b"a")], "asgi": {"version": "3.0"}}

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    content = b"".join(message.get("body", b"") for message in sent[1:])
    return sent[0]["status"], content.decode()


async def all_answered(app: Any, asked: list[tuple[str, bytes]]) -> list[tuple[int, str]]:
    """The answers to requests that are sent at the same time."""
    return await asyncio.gather(*(answered(app, path, body) for path, body in asked))


def check(case: tuple[bool, list[tuple[str, Any, list[Any], list[Any]]]]) -> str:
    """Send requests together; every one is answered, or refused in words."""
    is_of_labels, wanted = case
    asked = [(path, body_of(*parts)) for path, *parts in wanted]
    app = application(served(is_of_labels), LIMITS)
    outcome = REFUSED
    for (path, body), (status, text) in zip(
        asked, asyncio.run(all_answered(app, asked)), strict=True
    ):
        if status == 200 and path == "/predict":
            _check_predictions(body, text)
            outcome = ACCEPTED
        elif status not in (200, 404, 405, *REFUSALS) or not text.strip():
            raise AssertionError(f"answered {status}: {text:.500}")
        elif status != 200 and not json.loads(text)["error"].strip():
            raise AssertionError(f"refused without words: {text:.500}")
    return outcome


def _check_predictions(body: bytes, text: str) -> None:
    """One prediction per row, of finite numbers."""
    found = json.loads(text, parse_constant=_refuse_constant)["predictions"]
    if len(found) != len(json.loads(body)["rows"]) or not found[0]:
        raise AssertionError(f"not one prediction per row: {text:.500}")


def _refuse_constant(name: str) -> None:
    raise AssertionError(f"predicted {name}")


KIND = Kind("requests", cases, check)
