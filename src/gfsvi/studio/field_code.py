"""A field that is looked at as Python code."""

import numpy as np

from gfsvi.fields import HelmholtzKernel
from gfsvi.kernels import RBF, Matern52
from gfsvi.studio.field_view import field_of
from gfsvi.studio.workspace import Workspace

_KERNELS = {"rbf": RBF, "matern52": Matern52}


def field_kernel(workspace: Workspace) -> HelmholtzKernel:
    """The prior of the field, in the units of the axes."""
    plain = field_of(workspace)
    kind = _KERNELS[plain.family]
    potential, stream = (kind(plain.lengthscale, v) for v in (plain.potential, plain.stream))
    return HelmholtzKernel(potential=potential, stream=stream)


def field_python(workspace: Workspace) -> str:
    """Code that makes the same prior and, if there are data, the same posterior."""
    kernel = field_kernel(workspace)
    family = type(kernel.potential).__name__
    code = f"""\
import jax
import numpy as np

from gfsvi import Data, Model
from gfsvi.fields import HelmholtzKernel, field_of, rows_at
from gfsvi.functions import GaussianProcess
from gfsvi.kernels import {family}
from gfsvi.likelihoods import Normal
from gfsvi.methods import ExactGP

kernel = HelmholtzKernel(
    potential={kernel.potential.code(12)},  # sources and sinks
    stream={kernel.stream.code(12)},  # swirls
)
prior = Model(GaussianProcess(kernel), Normal({workspace.noise:.6g}))
"""
    low, high = zip(*((c.low, c.high) for c in workspace.columns), strict=True)
    grid = (
        f"axes = [np.linspace(low, high, 15) for low, high in zip({_listed(low)}, {_listed(high)})]"
        "\ngrid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)\n"
    )
    if not len(workspace.x):
        draw = "prior.function.at(rows_at(grid)).sample(1, key=jax.random.key(0))"
        return f"{code}\n{grid}arrows = field_of({draw})[0]\n"
    return f"""{code}
positions = np.array({_listed(workspace.x)})
velocities = np.array({_listed(workspace.y)})
data = Data(rows_at(positions), velocities.ravel())
posterior = ExactGP()(prior, data, key=jax.random.key(0)).posterior

{grid}predictive = posterior.predict(rows_at(grid))
arrows, doubt = field_of(predictive.mean), field_of(predictive.epistemic_std)
"""


def _listed(values: object) -> str:
    rounded = np.vectorize(lambda value: float(f"{value:.6g}"))(np.asarray(values, np.float64))
    return repr(rounded.tolist())
