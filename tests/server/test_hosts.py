"""A server on this machine answers no page of another site."""

import asyncio

import pytest
from starlette.responses import JSONResponse

from gfsvi.server.hosts import LOOPBACK, OnlyHosts

from .client import asked

GUARDED = OnlyHosts(JSONResponse({"answer": 1}), [*LOOPBACK, "Models.example.org"])


def answer(**headers):
    status, content, _ = asyncio.run(asked(GUARDED, "/model", method="GET", **headers))
    return status, content


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:8000", "127.0.0.1:1", "[::1]:8000", "LOCALHOST", "models.example.org"],
)
def test_requests_to_this_machine_and_to_names_that_are_allowed_are_answered(host):
    assert answer(host=host) == (200, {"answer": 1})


@pytest.mark.parametrize(
    "host",
    ["evil.example:8000", "localhost.evil.example", "", "[::1", "example.org", "127.0.0.1.nip.io"],
)
def test_a_name_that_was_made_to_resolve_to_this_machine_is_refused(host):
    status, content = answer(host=host)
    assert status == 421 and "expected 127.0.0.1, ::1, localhost" in content["error"]
    assert "--allow-host" in content["error"]


@pytest.mark.parametrize("origin", ["http://localhost:3000", "https://models.example.org"])
def test_pages_of_hosts_that_are_allowed_may_ask(origin):
    assert answer(origin=origin)[0] == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "", "http://[::1"])
def test_pages_of_other_sites_may_not_ask(origin):
    status, content = answer(origin=origin)
    assert status == 403 and "as the origin; got another one" in content["error"]
