"""Pages from templates: escaped by default, and asking for nothing outside themselves."""

from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup, escape


def render(package: str, name: str, **values: Any) -> str:
    """The template `name` of a package, filled in; it finds the common style sheet as `style`."""
    # StrictUndefined: a name the template misspells is an error, not a hole in the page.
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda wanted: _source(package, wanted)),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["marked"] = marked
    style = Markup(_source("gfsvi.pages", "page.css"))  # ours, and CSS knows no HTML escapes
    return environment.get_template(name).render(style=style, **values)


def marked(sentence: str) -> Markup:
    """A sentence as HTML, with the parts between backticks as code; everything is escaped."""
    pieces = sentence.split("`")
    if len(pieces) % 2 == 0:  # a lone backtick is a backtick
        return escape(sentence)
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if i % 2 else escape(piece)
        for i, piece in enumerate(pieces)
    )


def _source(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")
