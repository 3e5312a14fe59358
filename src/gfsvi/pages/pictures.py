"""Matplotlib figures as SVG that follows the page's colours, light or dark."""

import html
import io
import re
import warnings
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

# Drawn in these colours, which nothing else uses, and replaced by the page's variables.
_SENTINELS = {
    "ink": "#010203",
    "muted": "#020305",
    "faint": "#030507",
    "surface": "#05070b",
    "blue": "#070b0d",
    "orange": "#0b0d11",
    "green": "#0d1113",
}
INK, MUTED, FAINT, SURFACE, BLUE, ORANGE, GREEN = _SENTINELS.values()

_STYLE = {
    "svg.fonttype": "none",  # text stays text: to be searched, read aloud and set in our font
    "svg.hashsalt": "gfsvi",
    "text.parse_math": False,  # a dollar sign in a column name is a dollar sign
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": MUTED,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "axes.formatter.use_mathtext": False,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "text.color": INK,
    "legend.frameon": False,
    "legend.labelcolor": MUTED,
    "lines.linewidth": 1.8,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}


def picture(
    name: str,
    description: str,
    draw: Callable[[Any], None],
    size: tuple[float, float] = (4.6, 3.3),
) -> str:
    """An SVG element drawn by `draw(axes)`; `name` is unique on the page, sizes are in inches."""
    with mpl.rc_context(), warnings.catch_warnings():
        # A browser has the signs that the font used for measuring has not.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing", UserWarning)
        mpl.rcdefaults()  # a user's own style sheet must not change the page
        mpl.rcParams.update(_STYLE)
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.add_subplot())
        buffer = io.StringIO()
        metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
        FigureCanvasSVG(figure).print_svg(buffer, metadata=metadata)
    return _inlined(buffer.getvalue(), name, description)


def _inlined(svg: str, name: str, description: str) -> str:
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # Its style sheet would reach beyond the picture; the page's own has the same rules.
    svg = re.sub(r"<style[^>]*>.*?</style>", "", svg, flags=re.DOTALL)
    # Ids are the page's: each picture gets its own.
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)
    for variable, sentinel in _SENTINELS.items():
        svg = svg.replace(sentinel, f"var(--{variable})")
    return re.sub(
        r"<svg[^>]*>", lambda match: _head(match.group(), name, description), svg, count=1
    )


def _head(tag: str, name: str, description: str) -> str:
    box = re.search(r'viewBox="[^"]+"', tag)
    size = "" if box is None else box.group()
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'{size} role="img" aria-labelledby="{name}-title">'
        f'<title id="{name}-title">{html.escape(description)}</title>'
    )
