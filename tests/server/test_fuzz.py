"""Thousands of hostile requests, none of which is the server's fault."""

import asyncio
import json
import random

import pytest

from gfsvi.server import Limits, application
from gfsvi.server.served import Served

from .client import asked

ROW = {"size": 100.0, "town": "Bonn", "age": 30}
VALUES = (
    *(None, True, 0, -1, 1e-300, 1e299, 1e308, 10**30, 10**400, "", "Bonn", "x" * 500, "12,5"),
    *("2020-01-01", "\x00", "\ud83d\ude00", "nan", "-inf", [], {}, [ROW], {"size": 1}),
)


def mangled(source: random.Random) -> bytes:
    """A request with something wrong, or nothing."""
    rows = [dict(ROW) for _ in range(source.choice((0, 1, 1, 2, 5, 60)))]
    for row in rows:
        for _ in range(source.randrange(3)):
            row[source.choice(("size", "town", "age", "price", "", "what"))] = source.choice(VALUES)
        if source.random() < 0.1:
            row.pop(source.choice(tuple(row)))
    content = {"rows": rows}
    if source.random() < 0.3:
        content["level"] = source.choice((*VALUES, 0.5, 0.9, 0.99999))
    if source.random() < 0.1:
        content = source.choice((rows, *VALUES, {"rows": content}, {"level": 0.5}))
    body = bytearray(json.dumps(content).encode())
    for _ in range(source.choice((0, 0, 0, 1, 3))):
        if body:
            body[source.randrange(len(body))] = source.randrange(256)
    return bytes(body[: source.randrange(len(body) + 1)] if source.random() < 0.05 else body)


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_no_request_is_the_servers_fault(regressor_file, count):
    app = application(Served.read(regressor_file, "houses.gfsvi"), Limits(bytes=9_000, rows=50))
    source = random.Random(0)

    async def all_of_them() -> dict[int, int]:
        statuses: dict[int, int] = {}
        for start in range(0, count, 20):
            bodies = [mangled(source) for _ in range(min(20, count - start))]
            for status, content, _ in await asyncio.gather(
                *(asked(app, "/predict", body) for body in bodies)
            ):
                statuses[status] = statuses.get(status, 0) + 1
                assert status == 200 or content["error"].strip()
        return statuses

    found = asyncio.run(all_of_them())
    assert set(found) <= {200, 400, 413, 422}
    assert {200, 400, 422} <= set(found)
