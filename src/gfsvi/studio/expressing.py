"""Can the network express the prior? Functions of both, and their spectra."""

from typing import Any

import numpy as np

from gfsvi.studio.building import grid_of, kernel_of, plain_kernel
from gfsvi.studio.looking import Drawn, numbers, white_noise
from gfsvi.studio.network import expression
from gfsvi.studio.workspace import Workspace

NUM_POINTS, NUM_DIRECTIONS = 200, 60
SMALLEST = 1e-12


def expressed(workspace: Workspace) -> dict[str, Any]:
    """Functions drawn from prior and network, both spectra, and what to know about them."""
    along, features = grid_of(workspace, NUM_POINTS)
    x = workspace.scale.inputs(features)
    kernel = kernel_of(workspace)
    cov = plain_kernel(kernel).gram(x)
    found = expression(workspace, kernel, cov, x)
    white, mean = white_noise(workspace, len(x)), np.zeros(len(x))
    prior, network = (Drawn(mean, matrix, white) for matrix in (cov, found.cov))
    warning = found.warning
    return {
        "along": numbers(along),
        "prior": prior.on_scale_of(workspace, noise=False),
        "network": network.on_scale_of(workspace, noise=False),
        "spectra": {
            name: np.log10(np.maximum(values[:NUM_DIRECTIONS], SMALLEST)).round(3).tolist()
            for name, values in found.spectra.items()
        },
        "missing": round(found.missing, 6),
        "warning": None if warning is None else [warning.title, warning.message, warning.remedy],
    }
