"""The noise around what a trained network predicts."""

# pyright: reportArgumentType=false
# Arrays of NumPy go where arrays of JAX are annotated.

import dataclasses

import numpy as np

from gfsvi.data import Data
from gfsvi.functions.conjugate_network import ConjugateNetwork
from gfsvi.inference.leave_one_out import leave_one_out
from gfsvi.likelihoods.base import AbstractLikelihood, per_output
from gfsvi.likelihoods.normal import Normal
from gfsvi.model import Model

FACTORS = np.exp(np.linspace(-2.5, 2.5, 201))


def noise_around(model: Model[ConjugateNetwork, AbstractLikelihood], data: Data) -> Normal | None:
    """The normal noise under which rows left out are most probable; None for other likelihoods.

    The noise of a posterior is that around its own mean; around a network that predicts something
    else, rows scatter more or less.
    """
    likelihood, values = model.likelihood, leave_one_out(model, data)
    if not isinstance(likelihood, Normal) or values is None:
        return None
    y = np.asarray(data.y, np.float64).reshape(len(data), -1).T
    squared = (y - np.asarray(values.mean)) ** 2
    before = np.broadcast_to(np.asarray(per_output(likelihood.noise)), (len(y), 1))
    candidates = FACTORS[:, None, None] * before
    variance = np.asarray(values.variance) + candidates**2  # (factor, output, row)
    log_densities = -0.5 * (np.log(variance) + squared / variance)
    best = np.argmax(log_densities @ np.asarray(data.row_weights, np.float64), axis=0)
    noise = FACTORS[best] * before[:, 0]
    return dataclasses.replace(likelihood, noise=noise)
