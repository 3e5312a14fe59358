"""The closed-form posterior around a network that has been trained elsewhere."""

# pyright: reportArgumentType=false
# Arrays of NumPy go where arrays of JAX are annotated.

import dataclasses
from typing import Any, Literal

import jax
import numpy as np

from gfsvi import registry
from gfsvi.auto.priors import chosen_prior, kernels_named
from gfsvi.covariances.closed_form import EPS
from gfsvi.data import Data
from gfsvi.functions.conjugate_network import ConjugateNetwork
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.functions.means import Constant
from gfsvi.inference.conjugate import Interpolation, tangents_of
from gfsvi.inference.conjugate_fit import (
    closed_form_posterior,
    conjugate_posterior,
    has_learnable_noise,
)
from gfsvi.inference.representative_rows import further_points, points_with_rows
from gfsvi.kernels.base import AbstractKernel
from gfsvi.likelihoods.base import AbstractLabelLikelihood, AbstractLikelihood
from gfsvi.likelihoods.normal import Normal
from gfsvi.methods.evidence_search import EvidenceSearch
from gfsvi.model import Model
from gfsvi.networks.base import Params
from gfsvi.networks.in_numpy import network_in_numpy
from gfsvi.numerics.batching import spreads
from gfsvi.numerics.precision import double, to_numpy
from gfsvi.numerics.threads import limit_threads
from gfsvi.points import UniformBox
from gfsvi.post_hoc.noise import noise_around
from gfsvi.post_hoc.trained import Trained, trained

GAMMA = 1e-10
NUM_POINTS, NUM_BOX_POINTS = 500, 50
START_NOISE = 0.3

Prior = str | AbstractKernel | GaussianProcess


@double
def posterior_of(
    network: object,
    data: Data,
    *,
    params: Params | None = None,
    prior: Prior = "auto",
    likelihood: str | AbstractLikelihood | None = None,
    mean: Literal["network", "posterior"] = "network",
    num_points: int = NUM_POINTS,
    seed: int = 0,
) -> Model[ConjugateNetwork, AbstractLikelihood]:
    """The posterior of a trained network under a Gaussian-process prior, its weights untouched.

    Everything is on the network's own scale: inputs as it takes them, targets as it gives them.

    Args:
        network: A trained Equinox, Flax, Haiku or PyTorch network, a fitted `MLPRegressor` or
            `MLPClassifier` of scikit-learn, a network of this library, or a function
            `(params, x) -> outputs`, whose outputs are (point, output).
        data: The rows it was trained on, or others like them. Labels are class numbers, or those
            of the `MLPClassifier`.
        params: The weights, for networks that do not hold them: linen, Haiku, functions.
        prior: "auto" to choose a kernel by its evidence on the rows, the name of a kernel, whose
            parameters are then chosen so, or a kernel or process to be used as it is.
        likelihood: How targets scatter around the outputs: by default normal noise, whose size is
            learned, or what the classifier was trained with; for labels "categorical", or
            "bernoulli" for one output.
        mean: "network" to predict what the network predicts, "posterior" to move to the mean of
            the linearised network under the prior.
        num_points: The number of rows to use as measurement points, if there are more.
        seed: Determines what is chosen at random.

    Returns:
        The posterior: `predict(x)` has its predictions, `gfsvi.condition_on` adds rows to it.
    """
    if mean not in ("network", "posterior"):
        raise ValueError(f'posterior_of expects mean="network" or "posterior"; got {mean!r}.')
    found = trained(network, params, data.x)
    data = Data(np.asarray(data.x), found.class_numbers(np.asarray(data.y)), data.weights)
    noise = _likelihood(found, likelihood)
    with limit_threads(len(data)):
        model = _prior(prior, noise, data, seed)
        _check_outputs(found, noise.num_outputs(data.y), data)
        interpolation = _interpolation(found, model, data, num_points, seed)
        learn_noise = has_learnable_noise(model, None)
        posterior = closed_form_posterior(interpolation, model, data, learn_noise=learn_noise)
        if mean == "posterior":
            return to_numpy(posterior)
        around = _around_network(posterior)
        noise = noise_around(around, data) if learn_noise else None
        if noise is None:
            return around
        return _around_network(
            conjugate_posterior(interpolation, Model(model.function, noise), data)
        )


def _interpolation(
    found: Trained, model: Model, data: Data, num_points: int, seed: int
) -> Interpolation:
    """What interpolates values at points, by the network with the weights as they are."""
    box = UniformBox(NUM_BOX_POINTS)
    further = further_points(box, data.x, key=jax.random.key(seed))
    points = points_with_rows(model.function, data.x, further, num_points)
    tangents = tangents_of(found.network, found.params)
    return Interpolation.at(tangents, model.function, points, gamma=GAMMA, eps=EPS)


def _around_network(posterior: Model) -> Model[ConjugateNetwork, AbstractLikelihood]:
    """The posterior with the network's own predictions as its mean."""
    posterior = to_numpy(posterior)
    function = dataclasses.replace(posterior.function, shift=0 * posterior.function.shift)
    return Model(function, posterior.likelihood)


def _check_outputs(found: Trained, expected: int, data: Data) -> None:
    x, network = np.asarray(data.x[:1]), network_in_numpy(found.network, found.params)
    if network is not None:
        num_outputs = len(network.linearized(x)[0])
    else:
        num_outputs = jax.eval_shape(found.network.apply, found.params, x).shape[-1]
    if num_outputs != expected:
        raise ValueError(
            f"posterior_of expects a network with {expected} outputs for these targets and this "
            f"likelihood; got one with {num_outputs}. Pass targets (row, output) of the network, "
            'or for labels likelihood="categorical", for one output "bernoulli".'
        )


def _likelihood(found: Trained, given: str | AbstractLikelihood | None) -> AbstractLikelihood:
    if isinstance(given, str):
        return registry.find("likelihoods", given)()
    return given or found.likelihood or Normal(START_NOISE)


def _prior(prior: Prior, likelihood: AbstractLikelihood, data: Data, seed: int) -> Model:
    """The prior with its likelihood, on the network's scale."""
    outputs = likelihood.num_outputs(data.y)
    if isinstance(prior, GaussianProcess):
        return Model(prior, likelihood)
    if isinstance(prior, AbstractKernel):
        return Model(GaussianProcess(prior, outputs=outputs), likelihood)
    scale = _Scale.of(data, isinstance(likelihood, AbstractLabelLikelihood))
    kernel, *others = kernels_named(prior, np.shape(data.x)[1:])
    blank = Model(GaussianProcess(kernel, outputs=outputs), likelihood)
    key = jax.random.key(seed)
    chosen = chosen_prior(blank, scale.standardized(data), EvidenceSearch(), key=key, others=others)
    return scale.on_network_scale(chosen)


@dataclasses.dataclass(frozen=True)
class _Scale:
    """Centres and spreads of inputs and targets; a prior is chosen for standardised rows."""

    inputs: tuple[Any, Any]
    targets: tuple[Any, Any]

    @classmethod
    def of(cls, data: Data, are_labels: bool) -> "_Scale":
        x, y = np.asarray(data.x, np.float64), np.asarray(data.y)
        inputs = (x.mean(axis=0), spreads(x)) if x.ndim == 2 else (x.mean(), x.std() or 1.0)
        if are_labels:
            return cls(inputs, (0, 1))
        # One spread for all outputs, which share a kernel.
        return cls(inputs, (y.mean(axis=0), float(np.sqrt(np.mean(y.var(axis=0)))) or 1.0))

    def standardized(self, data: Data) -> Data:
        (centre, spread), (y_centre, y_spread) = self.inputs, self.targets
        y = np.asarray(data.y)
        y = y if y_spread == 1 and np.all(y_centre == 0) else (y - y_centre) / y_spread
        return Data((np.asarray(data.x) - centre) / spread, y, data.weights)

    def on_network_scale(self, prior: Model) -> Model:
        (_, spread), (centre, y_spread) = self.inputs, self.targets
        kernel = prior.function.kernel
        changes = {"lengthscale": np.asarray(kernel.lengthscale) * spread}
        changes["variance"] = np.asarray(kernel.variance) * y_spread**2
        mean = Constant(np.asarray(centre, np.float64))
        function = dataclasses.replace(
            prior.function, kernel=dataclasses.replace(kernel, **changes), mean=mean
        )
        likelihood = prior.likelihood
        if isinstance(likelihood, Normal):
            likelihood = Normal(np.asarray(likelihood.noise) * y_spread)
        return Model(function, likelihood)
