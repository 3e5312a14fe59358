"""Requests to an application, without a network between."""

import asyncio
import json
from typing import Any


async def asked(
    app: Any,
    path: str,
    body: bytes = b"",
    *,
    method: str = "POST",
    chunks: int = 1,
    host: str = "localhost",
    origin: str | None = None,
) -> tuple[int, Any, dict[bytes, bytes]]:
    """Status, content and headers of the answer."""
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [
            (b"host", host.encode()),
            (b"content-type", b"application/json"),
            *([] if origin is None else [(b"origin", origin.encode())]),
        ],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8000),
    }
    step = max(1, -(-len(body) // chunks))
    parts = [body[i : i + step] for i in range(0, len(body), step)] or [b""]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if parts:
            part = parts.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(parts)}
        await asyncio.sleep(3600)
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    content = b"".join(message.get("body", b"") for message in sent[1:])
    headers = dict(sent[0]["headers"])
    is_json = headers.get(b"content-type") == b"application/json"
    return sent[0]["status"], json.loads(content) if is_json else content.decode(), headers


def post(app: Any, content: Any, **options: Any) -> tuple[int, Any]:
    """Status and content of the answer to predictions of this JSON."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return asyncio.run(asked(app, "/predict", body, **options))[:2]
