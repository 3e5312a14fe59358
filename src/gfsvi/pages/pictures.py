"""Matplotlib figures as inline SVG in the colours of the page, light or dark."""

import html
import io
import re
import warnings
from collections.abc import Callable

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

# Placeholder colours that nothing else uses, replaced by the CSS variables of the page.
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
    "svg.fonttype": "none",  # text stays text: searchable, read aloud, and in the font of the page
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
    draw: Callable[[Axes], None],
    size: tuple[float, float] = (4.6, 3.3),
) -> str:
    """Draw an SVG element with `draw(axes)`; `name` is unique on the page, `size` is in inches."""
    with mpl.rc_context(), warnings.catch_warnings():
        # The browser has glyphs that the font used for measuring text lacks.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing", UserWarning)
        mpl.rcdefaults()  # the user's style sheet must not change the page
        mpl.rcParams.update(_STYLE)  # pyright: ignore[reportCallIssue, reportArgumentType]
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.add_subplot())
        buffer = io.StringIO()
        metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
        FigureCanvasSVG(figure).print_svg(buffer, metadata=metadata)
    return _inline(buffer.getvalue(), name, description)


def _inline(svg: str, name: str, description: str) -> str:
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # A style sheet inside the picture would apply to the whole page, which has the same rules.
    svg = re.sub(r"<style[^>]*>.*?</style>", "", svg, flags=re.DOTALL)
    # Ids are shared by the whole page, so each picture prefixes its own.
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
