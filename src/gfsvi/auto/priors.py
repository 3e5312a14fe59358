"""Build the prior that a method needs; nothing else builds one."""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import PRNGKeyArray

from gfsvi import registry
from gfsvi.auto.kernel_text import is_expression, kernel_of
from gfsvi.auto.units import Feature, in_model_units
from gfsvi.data import Data
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.inference.label_scale import scaled_for_labels
from gfsvi.kernels.adapters import as_kernel
from gfsvi.kernels.base import AbstractKernel, ActiveDimensions
from gfsvi.kernels.lengthscales import with_common_lengthscale, with_own_lengthscales
from gfsvi.kernels.one_of import OneOf
from gfsvi.likelihoods.adaptive_normal import AdaptiveNormal
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.methods.base import AbstractMethod
from gfsvi.methods.empirical_bayes import EmpiricalBayes
from gfsvi.methods.evidence_search import EvidenceSearch
from gfsvi.model import Model
from gfsvi.networks.base import AbstractNetwork
from gfsvi.numerics.precision import to_numpy
from gfsvi.training.optimizers import Adam
from gfsvi.training.settings import Training

AUTO_KERNELS = ("matern52", "matern32", "rbf")
MIN_PRIOR_ROWS = 200


def kernels_named(
    kernel: object, shape: tuple[int, ...], *, common: bool = False
) -> tuple[AbstractKernel, ...]:
    """The kernel families to choose from, for inputs of this shape.

    Args:
        kernel: "auto", the name of a kernel, kernels written as text, or a kernel of any library.
        shape: The shape of one input.
        common: Whether all features share one length scale, as the pixels of images always do.
    """
    if not isinstance(kernel, str) or is_expression(kernel):
        return (kernel_of(kernel) if isinstance(kernel, str) else as_kernel(kernel),)
    size, common = math.prod(shape), common or len(shape) > 1
    if kernel != "auto":
        build = with_common_lengthscale if common else with_own_lengthscales
        return (build(registry.find("kernels", kernel), size),)
    families = tuple(registry.find("kernels", name) for name in AUTO_KERNELS)
    lengthscale = np.array(size**0.5) if common else np.full(size, size**0.5)
    choices = map(np.array, range(len(families)))
    return tuple(
        OneOf(families=families, choice=choice, lengthscale=lengthscale) for choice in choices
    )


def kernel_in_model_units(kernel: object, features: Sequence[Feature]) -> object:
    """A kernel, or kernels written as text, on the standardised scale of these features.

    The name of a kernel stays as it is, and so does a kernel of another library.
    """
    if isinstance(kernel, str) and is_expression(kernel):
        kernel = kernel_of(kernel)
    return in_model_units(kernel, features) if isinstance(kernel, AbstractKernel) else kernel


def blank_prior(
    method: AbstractMethod,
    likelihood: AbstractLikelihood,
    data: Data,
    *,
    kernel: AbstractKernel,
    network: AbstractNetwork,
    scale: float = 1.0,
) -> Model:
    """A prior of the kind that the method needs, before its parameters are chosen."""
    if method.prior_kind is BayesianNetwork:
        prior = BayesianNetwork.prior(network, data.x[:1], scale=scale)
        return to_numpy(Model(prior, likelihood))
    num_outputs = likelihood.num_outputs(data.y)
    return Model(GaussianProcess(kernel, outputs=num_outputs), likelihood)


def chosen_prior(
    prior: Model,
    data: Data,
    choice: EmpiricalBayes | EvidenceSearch,
    *,
    key: PRNGKeyArray,
    others: Sequence[AbstractKernel] = (),
    separate: Sequence[ActiveDimensions] = (),
    always_separate: bool = False,
) -> Model:
    """Choose the parameters of the prior by evidence, and its kernel from `others`.

    One of `separate` may describe the features that it sees, or always does, where a quasi-Newton
    method searches.
    """
    if isinstance(prior.function, BayesianNetwork):
        return prior
    if isinstance(prior.likelihood, AdaptiveNormal):  # whose tails have no evidence
        plain = Model(prior.function, prior.likelihood.normal)
        kernels = {"others": others, "separate": separate, "always_separate": always_separate}
        found = chosen_prior(plain, data, choice, key=key, **kernels)
        learned = {name: getattr(found.likelihood, name) for name in ("noise", "warp")}
        return Model(found.function, dataclasses.replace(prior.likelihood, **learned))
    if not prior.likelihood.has_gaussian_targets:  # there is no evidence to choose by
        return _with_plain_kernel(prior)
    if isinstance(choice, EvidenceSearch):
        choice = dataclasses.replace(
            choice, separate=tuple(separate), always_separate=always_separate
        )
        sized = _searching(choice, prior, data)
    else:
        sized = _stepping(choice, prior, data)
    method = dataclasses.replace(sized, kernels=tuple(others))
    chosen = _with_plain_kernel(to_numpy(method(prior, data, key=key).posterior))
    if isinstance(choice, EvidenceSearch):
        stop = choice.training.is_over
        chosen = to_numpy(scaled_for_labels(chosen, data, key=key, stop=stop))
    return chosen


def _stepping(choice: EmpiricalBayes, prior: Model, data: Data) -> EmpiricalBayes:
    """The choice with batches that suit the number of outputs and the kind of inputs."""
    outputs = prior.function.outputs
    last = None if choice.last is None or np.ndim(data.x) > 2 else choice.last
    return dataclasses.replace(
        choice,
        training=_for_outputs(choice.training, outputs),
        last=None if last is None else _for_outputs(last, outputs),
    )


def _searching(choice: EvidenceSearch, prior: Model, data: Data) -> EvidenceSearch:
    """The choice with fewer rows for more outputs, which may need a factorisation each."""
    share = prior.function.outputs**0.5
    few, most = (max(MIN_PRIOR_ROWS, round(n / share)) for n in (choice.few_rows, choice.max_rows))
    otherwise = _stepping(choice.otherwise, prior, data)
    return dataclasses.replace(choice, few_rows=few, max_rows=most, otherwise=otherwise)


def _for_outputs(training: Training, num_outputs: int) -> Training:
    """Fewer rows per step for more outputs, each of which needs a factorisation."""
    optimizer = training.optimizer
    if not isinstance(optimizer, Adam):
        return training
    batch_size = max(MIN_PRIOR_ROWS, round(optimizer.batch_size / num_outputs**0.5))
    return dataclasses.replace(
        training, optimizer=dataclasses.replace(optimizer, batch_size=batch_size)
    )


def _with_plain_kernel(prior: Model) -> Model:
    """The prior with the kernel of the chosen family in place of `OneOf`."""
    kernel = prior.function.kernel
    if isinstance(kernel, OneOf):
        return Model(dataclasses.replace(prior.function, kernel=kernel.kernel), prior.likelihood)
    return prior
