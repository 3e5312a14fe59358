"""Render self-contained HTML pages from templates that escape everything by default."""

from importlib import resources

import jinja2
from markupsafe import Markup, escape


def render(package: str, name: str, **values: object) -> str:
    """Render the template `name` of a package; `style` is the common style sheet."""
    # StrictUndefined: a misspelled name raises instead of leaving a gap in the page.
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda wanted: _source(package, wanted)),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["marked"] = marked
    style = Markup(_source("gfsvi.pages", "page.css"))  # trusted, and CSS has no HTML escapes
    return environment.get_template(name).render(style=style, **values)


def marked(sentence: str) -> Markup:
    """Convert a sentence to escaped HTML, with the parts between backticks as code."""
    pieces = sentence.split("`")
    if len(pieces) % 2 == 0:  # a single backtick marks nothing
        return escape(sentence)
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if i % 2 else escape(piece)
        for i, piece in enumerate(pieces)
    )


def _source(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")
