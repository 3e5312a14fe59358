"""Pictures of what runs saw, drawn from their records alone."""

from gfsvi.bench.reporting.figures.drawing import draw_figure as draw_figure
