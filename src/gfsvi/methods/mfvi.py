"""Mean-field variational inference over weights (Blundell et al. 2015)."""

from typing import ClassVar

import equinox as eqx
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.covariances.base import AbstractIndependent
from gfsvi.covariances.diagonal import Diagonal
from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.inference.calibration import AbstractCalibration, HeldOut
from gfsvi.inference.divergences import weight_kl
from gfsvi.inference.elbo import Plan, sampled_plan
from gfsvi.inference.initialization import posterior_network
from gfsvi.inference.models import BNNModel
from gfsvi.methods.variational import AbstractVariational
from gfsvi.training.settings import Training
from gfsvi.training.steps import Parts, Where


class MFVI(AbstractVariational[BayesianNetwork]):
    """Independent Gaussian weights, kept near their prior by the KL between weights.

    Dense layers are sampled by local reparameterisation, which makes gradients far less noisy.

    Args:
        covariance: The family of independent weights.
        training: Steps, batches and learning rate.
        num_samples: Functions drawn per training step.
        learn_scale: Whether to learn the prior's scale, one per layer, as well.
        calibration: How held-out rows, if given, set the noise.
        fixed: Picks the parts of the model that stay fixed.
    """

    prior_kind: ClassVar[type[AbstractRandomFunction]] = BayesianNetwork

    covariance: AbstractIndependent = Diagonal()
    training: Training = eqx.field(static=True, default=Training(num_steps=1500, evaluate_every=25))
    num_samples: int = eqx.field(static=True, default=2)
    learn_scale: bool = eqx.field(static=True, default=False)
    calibration: AbstractCalibration = HeldOut()
    fixed: Where | None = eqx.field(static=True, default=None)

    def plan(self, model: BNNModel, data: Data, *, key: PRNGKeyArray) -> Plan:
        self.check(model, data)
        start = posterior_network(model.function, self.covariance, data, key=key)
        divergence = WeightKL(model.function, self.learn_scale)
        return sampled_plan(start, model.likelihood, divergence, num_samples=self.num_samples)


class WeightKL(eqx.Module):
    """The KL between the weights of posterior and prior."""

    prior: BayesianNetwork
    learn_scale: bool = eqx.field(static=True)

    def __call__(
        self, model: BNNModel, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], Parts]:
        return weight_kl(model.function, self.prior, learn_scale=self.learn_scale), {}
