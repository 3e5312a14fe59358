"""Pictures of priors and fits as axes of matplotlib; needs the extra `plots`."""

from gfsvi.plots.calibration import plot_calibration as plot_calibration
from gfsvi.plots.effects import plot_1d as plot_1d
from gfsvi.plots.effects import plot_effects as plot_effects
from gfsvi.plots.priors import plot_prior as plot_prior
