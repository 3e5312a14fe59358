"""A studio that really serves, and requests to it."""

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gfsvi.numerics.threads import limit_threads
from gfsvi.studio.server import Studio
from gfsvi.studio.serving import in_background

BAD_INPUT = 400
"""Stands for an answer that complains."""
Ask = Callable[..., tuple[int, Any]]


@pytest.fixture(autouse=True, scope="module")
def _quick_small_matrices() -> Iterator[None]:
    """The server limits threads, too."""
    with limit_threads(0):
        yield


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with in_background(Studio()) as found:
        yield found


@pytest.fixture(scope="module")
def ask(address: str) -> Ask:
    """Sends a request below the token and returns status and answer."""

    def asked(path: str, content: Any = None, **headers: str) -> tuple[int, Any]:
        body = content if content is None or isinstance(content, bytes) else _text(content)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(address + path, body, named)
        try:
            with urllib.request.urlopen(request) as answer:
                found = _content(answer)
                if isinstance(found, dict) and "complaint" in found:
                    return BAD_INPUT, {"sentence": found["complaint"]}
                return answer.status, found
        except urllib.error.HTTPError as error:
            return error.code, _content(error)

    return asked


def _text(content: Any) -> bytes:
    return json.dumps(content).encode()


def _content(answer: Any) -> Any:
    body = answer.read()
    return json.loads(body) if "json" in answer.headers["content-type"] else body.decode()
