"""Figures of experiments, drawn from records alone."""

from gfsvi.bench.reporting.figures.drawing import draw_figure as draw_figure
