"""What the server offers, as an OpenAPI document and as a page."""

import html
import json
from typing import Any

from gfsvi.server.served import Served
from gfsvi.version import __version__


def document(served: Served, *, most_rows: int) -> dict[str, Any]:
    """The OpenAPI document of a model."""
    cell = {"type": ["string", "number", "null"]}
    row = {
        "type": "object",
        "properties": dict.fromkeys(served.columns, cell),
        "required": list(served.columns),
    }
    request = {
        "type": "object",
        "properties": {
            "rows": {"type": "array", "items": row, "minItems": 1, "maxItems": most_rows},
            "level": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        },
        "required": ["rows"],
    }
    answer = {"type": "object", "properties": {"predictions": {"type": "array"}}}
    errors = {
        code: {"description": words, "content": {"application/json": {"schema": _ERROR}}}
        for code, words in (
            ("400", "The body is not JSON of this form."),
            ("413", "The body is too large."),
            ("422", "The rows cannot be predicted; the error says why."),
            ("503", "Too many requests are waiting."),
        )
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": f"gfsvi: {served.name}", "version": __version__},
        "paths": {
            "/health": {"get": _get("Whether the server answers.")},
            "/model": {"get": _get("The model: its target, columns and task.")},
            "/predict": {
                "post": {
                    "summary": "Predict rows, with uncertainty.",
                    "requestBody": {
                        "required": True,
                        "content": {"application/json": {"schema": request}},
                    },
                    "responses": {"200": _answered(answer), **errors},
                }
            },
        },
    }


_ERROR = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}


def _answered(schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": "The answer.", "content": {"application/json": {"schema": schema}}}


def _get(summary: str) -> dict[str, Any]:
    return {"summary": summary, "responses": {"200": _answered({"type": "object"})}}


def page(served: Served, *, most_rows: int) -> str:
    """A page about the model that needs nothing but this server; all of it is escaped."""
    example = {"rows": [dict.fromkeys(served.columns)], "level": served.model.level}
    text = html.escape(json.dumps(example, indent=2))
    known = html.escape(json.dumps(served.described, indent=2))
    api = html.escape(json.dumps(document(served, most_rows=most_rows), indent=2))
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        f"<title>{html.escape(served.name)}</title>"
        "<style>body{font:16px system-ui;max-width:50rem;margin:2rem auto;padding:0 1rem}"
        "pre{background:#8881;padding:1rem;overflow:auto}:root{color-scheme:light dark}</style>"
        f"<h1>{html.escape(served.name)}</h1><p>Send rows to <code>POST /predict</code>; null is a "
        f"missing value.</p><pre>{text}</pre><h2>Model</h2><pre>{known}</pre>"
        f'<h2><a href="openapi.json">OpenAPI</a></h2><pre>{api}</pre></html>'
    )
